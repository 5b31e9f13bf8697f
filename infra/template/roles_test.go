package template_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// permissions are the actions that a function may take, by what it may take
// them on.
type permissions map[string][]string

// permissionsOf reads those of a function from its role, and from its role
// alone: a role has no policy that is not in the template.
func permissionsOf(t *testing.T, resources map[string]resource, function string) permissions {
	t.Helper()
	role := resources[function+"Role"].Properties
	if got, want := at(resources[function+"Function"].Properties, "Role"), "${"+function+"Role.Arn}"; got != want {
		t.Fatalf("%s runs as %v, not in a role of its own", function, got)
	}
	policies := list(at(role, "Policies"))
	for _, managed := range list(at(role, "ManagedPolicyArns")) {
		policy, ok := resources[strings.Trim(managed.(string), "${}")]
		if !ok || policy.Type != "AWS::IAM::ManagedPolicy" {
			t.Fatalf("%s has the policy %v, which is not in the template", function, managed)
		}
		policies = append(policies, policy.Properties)
	}
	all := permissions{}
	for _, policy := range policies {
		for _, statement := range list(at(policy, "PolicyDocument", "Statement")) {
			if at(statement, "Effect") != "Allow" {
				t.Fatalf("%s: %v", function, statement)
			}
			for _, on := range list(at(statement, "Resource")) {
				for _, action := range list(at(statement, "Action")) {
					all[on.(string)] = append(all[on.(string)], action.(string))
				}
			}
		}
	}
	for on := range all {
		slices.Sort(all[on])
	}
	return all
}

// inboxesMail are the raw messages that inboxes keep. SES's copies, which nobody
// but ingest reaches, are none of them.
const inboxesMail = "${RawBucket.Arn}/*.eml"

// noBlobs takes blobs and forgets them.
type noBlobs struct{ store.Blobs }

func (noBlobs) Put(context.Context, string, []byte) error { return nil }

func TestInboxesMail_is_apart_from_what_SES_brings(t *testing.T) {
	db := inboxstore.New(inboxstore.Options{Blobs: noBlobs{}})
	key, err := db.KeepRaw(t.Context(), access.WorkspaceID(inbox.NewID(time.Now())), inbox.NewID(time.Now()), nil)
	if err != nil || !strings.HasSuffix(key, ".eml") || strings.HasPrefix(key, arriving.Prefix) {
		t.Error(key, err)
	}
}

// The roles hold what follows, and nothing else.
func TestRolesAreOfLeastPrivilege(t *testing.T) {
	for name, c := range map[string]struct {
		parameters []string
		every      permissions            // of every function that clients reach
		own        map[string]permissions // of one, beside
	}{
		"as it comes": {nil,
			permissions{"${DataTable.Arn}": {"dynamodb:GetItem", "dynamodb:Query"}},
			map[string]permissions{
				"Tools": {
					"${DataTable.Arn}": {
						"dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"},
					"${ConfirmationsTable.Arn}": {"dynamodb:PutItem"},
					"${StateKeyA}":              {"secretsmanager:GetSecretValue"},
					"${StateKeyB}":              {"secretsmanager:GetSecretValue"},
					"${DataKeys}":               {"secretsmanager:GetSecretValue"},
					"${RawBucket.Arn}":          {"s3:ListBucket"},
					inboxesMail:                 {"s3:DeleteObject", "s3:GetObject"},
					"${Jobs.Arn}":               {"sqs:SendMessage"},
				},
				"Resources": {inboxesMail: {"s3:GetObject"}},
				"Router":    invokesFamilies,
			}},
		"read only": {[]string{"ReadOnly=1"},
			permissions{"${DataTable.Arn}": {"dynamodb:GetItem", "dynamodb:Query"}},
			map[string]permissions{
				"Tools":     {inboxesMail: {"s3:GetObject"}},
				"Resources": {inboxesMail: {"s3:GetObject"}},
				"Router":    invokesFamilies,
			}},
		"introspection and tracing": {[]string{"ReadOnly=1", "OAuthIntrospectionSecretArn=arn:secret", "Tracing=true"},
			permissions{
				"${DataTable.Arn}": {"dynamodb:GetItem", "dynamodb:Query"}, "arn:secret": {"secretsmanager:GetSecretValue"},
				"*": {"xray:PutTelemetryRecords", "xray:PutTraceSegments"},
			},
			map[string]permissions{
				"Tools":     {inboxesMail: {"s3:GetObject"}},
				"Resources": {inboxesMail: {"s3:GetObject"}},
				"Router":    invokesFamilies,
			}},
	} {
		resources := load(t, c.parameters...)
		for _, f := range web {
			t.Run(name+"/"+f, func(t *testing.T) {
				want := maps.Clone(c.every)
				maps.Copy(want, c.own[f])
				want["${"+f+"Logs.Arn}"] = []string{"logs:CreateLogStream", "logs:PutLogEvents"}
				if diff := cmp.Diff(want, permissionsOf(t, resources, f)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

var invokesFamilies = permissions{
	"${ToolsFunction.Alias}":      {"lambda:InvokeFunction"},
	"${ResourcesFunction.Alias}":  {"lambda:InvokeFunction"},
	"${PromptsFunction.Alias}":    {"lambda:InvokeFunction"},
	"${CompletionFunction.Alias}": {"lambda:InvokeFunction"},
}

// Whatever the table above says: of the functions that clients reach, one writes.
func TestOnlyToolsWrites(t *testing.T) {
	resources := load(t)
	reads := []string{
		"dynamodb:GetItem", "dynamodb:Query", "s3:GetObject", "logs:CreateLogStream", "logs:PutLogEvents",
		"lambda:InvokeFunction", // of the router, and of nobody else
	}
	for _, f := range web {
		for on, actions := range permissionsOf(t, resources, f) {
			for _, action := range actions {
				switch {
				case f == "Tools":
				case !slices.Contains(reads, action):
					t.Errorf("%s may %s on %s", f, action, on)
				case strings.Contains(on, "Confirmations"), strings.Contains(on, "Key"):
					t.Errorf("%s reaches %s", f, on)
				case action == "lambda:InvokeFunction" && f != "Router":
					t.Errorf("%s may invoke %s", f, on)
				}
			}
		}
	}
}

func TestOnlyLambdaAssumesARole(t *testing.T) {
	for id, role := range find(load(t), "AWS::IAM::Role") {
		if id == "CodeDeployServiceRole" { // SAM makes it
			continue
		}
		want := []any{object{"Effect": "Allow", "Principal": object{"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}}
		if diff := cmp.Diff(want, at(role, "AssumeRolePolicyDocument", "Statement")); diff != "" {
			t.Error(id, diff)
		}
	}
}
