package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
)

func TestTables(t *testing.T) {
	resources := load(t)
	tables := find(resources, "AWS::DynamoDB::Table")
	if len(tables) != 2 {
		t.Errorf("%d tables", len(tables))
	}
	for id, table := range tables {
		for name, want := range (object{ // as shared/store/dynamo has them
			"KeySchema": []any{object{"AttributeName": "pk", "KeyType": "HASH"}, object{"AttributeName": "sk", "KeyType": "RANGE"}},
			"AttributeDefinitions": []any{
				object{"AttributeName": "pk", "AttributeType": "S"}, object{"AttributeName": "sk", "AttributeType": "S"}},
			"TimeToLiveSpecification":   object{"AttributeName": "exp", "Enabled": true},
			"BillingMode":               "PAY_PER_REQUEST",
			"DeletionProtectionEnabled": "true",
		}) {
			if diff := cmp.Diff(want, table[name]); diff != "" {
				t.Errorf("%s of %s: %s", name, id, diff)
			}
		}
		if got := at(load(t, "DeletionProtection=false")[id].Properties, "DeletionProtectionEnabled"); got != "false" {
			t.Errorf("%s cannot be torn down", id)
		}
	}
	if at(tables["DataTable"], "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
		t.Error("the data cannot be recovered")
	}
}

// What cannot be had again outlives the stack, what would only cost does not.
func TestDeletionPolicies(t *testing.T) {
	want := map[string]string{
		"DataTable": "Retain", "RawBucket": "Retain", "DataKeys": "Retain",
		"ConfirmationsTable": "Delete", "StateKeyA": "Delete", "StateKeyB": "Delete", "ApiLogs": "Delete",
	}
	for _, f := range functions {
		want[f+"Logs"] = "Delete"
	}
	got := map[string]string{}
	for id, r := range load(t) {
		if r.DeletionPolicy != r.UpdateReplacePolicy && r.Type != "AWS::Lambda::Version" { // that SAM makes
			t.Errorf("%s: %s when deleted, %s when replaced", id, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if r.UpdateReplacePolicy != "" {
			got[id] = r.DeletionPolicy
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRawMail(t *testing.T) {
	bucket := load(t, "MailRetentionDays=90")["RawBucket"].Properties
	for _, block := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
		if at(bucket, "PublicAccessBlockConfiguration", block) != true {
			t.Errorf("%s is not set", block)
		}
	}
	encryption := at(bucket, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm")
	if encryption != "AES256" || bucket["VersioningConfiguration"] != nil {
		t.Error(bucket)
	}
	unfinished := object{"Id": "unfinished", "Status": "Enabled", "AbortIncompleteMultipartUpload": object{"DaysAfterInitiation": 1}}
	incoming := object{"Id": "incoming", "Status": "Enabled", "Prefix": arriving.Prefix, "ExpirationInDays": 15}
	rules := []any{unfinished, incoming, object{"Id": "retention", "Status": "Enabled", "ExpirationInDays": "90"}}
	if diff := cmp.Diff(rules, at(bucket, "LifecycleConfiguration", "Rules")); diff != "" {
		t.Error(diff)
	}
	forever := load(t, "MailRetentionDays=0")["RawBucket"].Properties
	if diff := cmp.Diff([]any{unfinished, incoming}, at(forever, "LifecycleConfiguration", "Rules")); diff != "" {
		t.Error(diff)
	}
	policy := load(t)["RawBucketPolicy"].Properties
	want := []any{object{
		"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": []any{"${RawBucket.Arn}", "${RawBucket.Arn}/*"},
		"Condition": object{"Bool": object{"aws:SecureTransport": "false"}},
	}}
	if diff := cmp.Diff(want, at(policy, "PolicyDocument", "Statement")); diff != "" {
		t.Error(diff)
	}
}

// Keys are made by Secrets Manager and are in no template, log or parameter.
func TestSecrets(t *testing.T) {
	secrets := find(load(t), "AWS::SecretsManager::Secret")
	if len(secrets) != 3 {
		t.Errorf("%d secrets", len(secrets))
	}
	for id, secret := range secrets {
		want := object{"PasswordLength": 64, "ExcludePunctuation": true}
		if diff := cmp.Diff(want, secret["GenerateSecretString"]); diff != "" || secret["SecretString"] != nil {
			t.Error(id, diff)
		}
	}
}

func TestLogsEnd(t *testing.T) {
	groups := find(load(t, "LogRetentionDays=7"), "AWS::Logs::LogGroup")
	if len(groups) != len(functions)+1 {
		t.Errorf("%d log groups", len(groups))
	}
	for id, group := range groups {
		if group["RetentionInDays"] != "7" {
			t.Errorf("%s is kept for %v days", id, group["RetentionInDays"])
		}
	}
}

// What costs by use is tagged, so that a bill can be read.
func TestTags(t *testing.T) {
	for id, r := range load(t, "Environment=staging", "Edge=true") {
		switch r.Type {
		case "AWS::Lambda::Function", "AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::ApiGatewayV2::Api",
			"AWS::CloudFront::Distribution":
		default:
			continue
		}
		if strings.HasPrefix(id, "Serverless") || at(r.Properties, "Tags", "environment") == "staging" {
			continue
		}
		tagged := false
		for _, tag := range list(r.Properties["Tags"]) {
			tagged = tagged || at(tag, "Key") == "environment" && at(tag, "Value") == "staging"
		}
		if !tagged {
			t.Errorf("%s has no tag", id)
		}
	}
}
