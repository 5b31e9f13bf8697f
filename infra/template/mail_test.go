package template_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
)

const mailDomain = "MailDomain=inbox.example.com"

// rule is SES's own name of the receipt rule.
const rule = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:receipt-rule-set/${AWS::StackName}:receipt-rule/mail"

// SES scans a message, puts it where ingest reads it, and then calls ingest,
// for the domain that the stack has.
func TestReceiptRule(t *testing.T) {
	resources := load(t, mailDomain, "MailTls=Require")
	want := object{
		"RuleSetName": "${ReceiptRules}",
		"Rule": object{
			"Name": "mail", "Enabled": true, "ScanEnabled": true, "TlsPolicy": "Require", "Recipients": []any{"inbox.example.com"},
			"Actions": []any{
				object{"S3Action": object{"BucketName": "${RawBucket}", "ObjectKeyPrefix": arriving.Prefix}},
				object{"LambdaAction": object{"FunctionArn": "${IngestFunction.Alias}", "InvocationType": "Event"}},
			},
		},
	}
	if diff := cmp.Diff(want, resources["ReceiptRule"].Properties); diff != "" {
		t.Error(diff)
	}
	if got := at(resources["ReceiptRules"].Properties, "RuleSetName"); got != "${AWS::StackName}" {
		t.Errorf("the rule set is %v, which is not the one that may put messages", got)
	}
	without := load(t)
	for _, id := range []string{"ReceiptRules", "ReceiptRule", "ReceiptPermission"} {
		if _, there := without[id]; there {
			t.Errorf("%s without a domain", id)
		}
	}
}

// The rule, and nobody else in SES's name, puts messages and calls ingest.
func TestOnlyTheRuleBringsMail(t *testing.T) {
	resources := load(t, mailDomain)
	statements := list(at(resources["RawBucketPolicy"].Properties, "PolicyDocument", "Statement"))
	want := object{
		"Effect": "Allow", "Principal": object{"Service": "ses.amazonaws.com"}, "Action": "s3:PutObject", "Resource": "${RawBucket.Arn}/" + arriving.Prefix + "*",
		"Condition": object{"StringEquals": object{"aws:SourceAccount": "${AWS::AccountId}", "aws:SourceArn": rule}},
	}
	if len(statements) != 2 {
		t.Fatal(statements)
	}
	if diff := cmp.Diff(want, statements[1]); diff != "" {
		t.Error(diff)
	}
	want = object{
		"FunctionName": "${IngestFunction.Alias}", "Action": "lambda:InvokeFunction", "Principal": "ses.amazonaws.com",
		"SourceAccount": "${AWS::AccountId}", "SourceArn": rule,
	}
	if diff := cmp.Diff(want, resources["ReceiptPermission"].Properties); diff != "" {
		t.Error(diff)
	}
}

// What ingest cannot deal with is tried again and then kept, and the message as
// long as the call for it.
func TestMailIsNotLost(t *testing.T) {
	resources := load(t)
	config := at(resources["IngestFunction"].Properties, "EventInvokeConfig")
	if config == nil { // SAM has made a resource of it
		config = resources["IngestFunctionEventInvokeConfig"].Properties
	}
	destination := at(config, "DestinationConfig", "OnFailure", "Destination")
	if at(config, "MaximumRetryAttempts") != 2 || destination != "${MailFailures.Arn}" {
		t.Error(config)
	}
	const day = 24 * 60 * 60
	kept := at(resources["MailFailures"].Properties, "MessageRetentionPeriod").(int) / day
	if there := at(resources["RawBucket"].Properties, "LifecycleConfiguration", "Rules", 1, "ExpirationInDays").(int); kept != 14 || there <= kept {
		t.Errorf("calls are kept for %d days, and messages for %d", kept, there)
	}
}

// A message is invisible for as long as Lambda asks for, comes five times, and
// is kept then; only what failed comes again.
func TestJobs(t *testing.T) {
	resources := load(t, "WorkerConcurrency=7")
	jobs := resources["Jobs"].Properties
	timeout := at(resources["WorkerFunction"].Properties, "Timeout").(int)
	if invisible := at(jobs, "VisibilityTimeout").(int); timeout != 300 || invisible < 6*timeout {
		t.Errorf("messages are invisible for %d s, and the worker takes %d", invisible, timeout)
	}
	if diff := cmp.Diff(object{"deadLetterTargetArn": "${JobFailures.Arn}", "maxReceiveCount": 5}, at(jobs, "RedrivePolicy")); diff != "" {
		t.Error(diff)
	}
	for id, queue := range find(resources, "AWS::SQS::Queue") {
		if at(queue, "SqsManagedSseEnabled") != true {
			t.Errorf("%s is not encrypted", id)
		}
	}
	want := object{
		"EventSourceArn": "${Jobs.Arn}", "FunctionName": "${WorkerFunction.Alias}", "BatchSize": 10,
		"FunctionResponseTypes": []any{"ReportBatchItemFailures"}, "ScalingConfig": object{"MaximumConcurrency": "7"},
	}
	if diff := cmp.Diff(want, resources["WorkerJobs"].Properties); diff != "" {
		t.Error(diff)
	}
}

func TestRounds(t *testing.T) {
	resources := load(t)
	rounds := resources["WorkerRounds"].Properties
	if at(rounds, "ScheduleExpression") != "rate(1 minute)" || at(rounds, "Targets", 0, "Arn") != "${WorkerFunction.Alias}" {
		t.Error(rounds)
	}
	want := object{
		"FunctionName": "${WorkerFunction.Alias}", "Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com", "SourceArn": "${WorkerRounds.Arn}",
	}
	if diff := cmp.Diff(want, resources["WorkerRoundsPermission"].Properties); diff != "" {
		t.Error(diff)
	}
}

// The roles of the two that no client calls hold what follows, and nothing
// else: neither reaches confirmations or what seals them, and ingest nothing
// confidential.
func TestMailRoles(t *testing.T) {
	ingest := permissions{
		"${IngestLogs.Arn}":                         {"logs:CreateLogStream", "logs:PutLogEvents"},
		"${DataTable.Arn}":                          {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
		"${RawBucket.Arn}":                          {"s3:ListBucket"},
		"${RawBucket.Arn}/" + arriving.Prefix + "*": {"s3:DeleteObject", "s3:GetObject"},
		inboxesMail:                                 {"s3:DeleteObject", "s3:PutObject"},
		"${Jobs.Arn}":                               {"sqs:SendMessage"},
		"${MailFailures.Arn}":                       {"sqs:SendMessage"},
	}
	worker := permissions{
		"${WorkerLogs.Arn}": {"logs:CreateLogStream", "logs:PutLogEvents"},
		"${DataTable.Arn}":  {"dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"},
		"${DataKeys}":       {"secretsmanager:GetSecretValue"},
		inboxesMail:         {"s3:DeleteObject"},
		"${Jobs.Arn}":       {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage", "sqs:SendMessage"},
	}
	const identity = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/inbox.example.com"
	for name, c := range map[string]struct {
		parameters []string
		also       permissions // of the worker
	}{
		"as it comes":           {nil, nil},
		"read only for clients": {[]string{"ReadOnly=1"}, nil},
		"everything": {
			[]string{mailDomain, "Replies=true", "ModelAccess=arn:one,arn:two", "OpenAIKeySecretArn=arn:key", "OAuthIntrospectionSecretArn=arn:secret"},
			permissions{
				"arn:one": {"bedrock:InvokeModel"}, "arn:two": {"bedrock:InvokeModel"}, "arn:key": {"secretsmanager:GetSecretValue"},
				identity: {"ses:SendEmail", "ses:SendRawEmail"},
			}},
	} {
		t.Run(name, func(t *testing.T) {
			resources := load(t, c.parameters...)
			all := maps.Clone(worker)
			maps.Copy(all, c.also)
			if diff := cmp.Diff(ingest, permissionsOf(t, resources, "Ingest")); diff != "" {
				t.Error("ingest", diff)
			}
			if diff := cmp.Diff(all, permissionsOf(t, resources, "Worker")); diff != "" {
				t.Error("worker", diff)
			}
		})
	}
}

// Answers go out from addresses of the domain alone.
func TestReplies(t *testing.T) {
	role := load(t, mailDomain, "Replies=true")["WorkerRole"].Properties
	for _, statement := range list(at(role, "Policies", 0, "PolicyDocument", "Statement")) {
		if mentions(statement, "ses:") {
			want := object{"StringLike": object{"ses:FromAddress": "*@inbox.example.com"}}
			if diff := cmp.Diff(want, at(statement, "Condition")); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Error("nobody may send")
}
