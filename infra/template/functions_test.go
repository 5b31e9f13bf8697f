package template_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The limits of time stand one inside the other, or a caller hears nothing
// from who is left waiting.
func TestTimeLimitsStandOneInsideTheOther(t *testing.T) {
	const handler = 20 // shared/mcp's
	resources := load(t)
	router := at(resources["RouterFunction"].Properties, "Timeout").(int)
	for _, f := range families {
		if family := at(resources[f+"Function"].Properties, "Timeout").(int); !(router > family && family > handler) || family != 25 {
			t.Errorf("%s: router %d s > family %d s > handler %d s", f, router, family, handler)
		}
	}
	for id, integration := range find(resources, "AWS::ApiGatewayV2::Integration") {
		if ms := at(integration, "TimeoutInMillis").(int); ms != 30_000 || router != 29 {
			t.Errorf("%s: gateway %d ms > router %d s", id, ms, router)
		}
	}
}

// Case 6: the binary that Lambda starts is of the processor that it starts it on.
func TestFunctions(t *testing.T) {
	for _, architecture := range []string{"arm64", "x86_64"} {
		resources := load(t, "Architecture="+architecture)
		if got := len(find(resources, "AWS::Lambda::Function")); got != len(functions) {
			t.Errorf("%d functions", got)
		}
		for _, f := range functions {
			p := resources[f+"Function"].Properties
			memory, ok := map[string]string{"Router": "256", "Ingest": "1024", "Worker": "1024"}[f]
			if !ok {
				memory = "512"
			}
			for name, want := range (object{
				"Runtime": "provided.al2023", "Handler": "bootstrap", "Architectures": []any{architecture}, "MemorySize": memory,
				"FunctionName":  "${AWS::StackName}-" + strings.ToLower(f),
				"LoggingConfig": object{"LogFormat": "JSON", "LogGroup": "${" + f + "Logs}"},
			}) {
				if diff := cmp.Diff(want, p[name]); diff != "" {
					t.Errorf("%s of %s: %s", name, f, diff)
				}
			}
		}
	}
}

// sam build reads the processor from the template, and each function's name.
func TestBuild(t *testing.T) {
	template := document(t, "../../template.yaml")
	for _, f := range functions {
		metadata := at(template, "Resources", f+"Function", "Metadata")
		want := object{"BuildMethod": "makefile", "WorkingDirectory": ".", "ContextPath": object{"Fn::Sub": "infra/template/${Architecture}"}}
		if diff := cmp.Diff(want, metadata); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
		if got := at(template, "Resources", f+"Function", "Properties", "CodeUri"); got != "functions/"+strings.ToLower(f)+"/" {
			t.Errorf("%s: %v", f, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	// Those of every function.
	common := []string{
		"ALLOWED_ORIGINS", "CONFIRM_ALSO", "DATA_TABLE", "GOGC", "GOMAXPROCS", "METRICS_NAMESPACE", "OAUTH_AUDIENCE", "OAUTH_CLAIM_CLIENT", "OAUTH_CLAIM_ORGANIZATION",
		"OAUTH_CLAIM_SCOPE", "OAUTH_CLAIM_SUBJECT", "OAUTH_CLAIM_WORKSPACE", "OAUTH_INTROSPECTION_CLIENT_ID", "OAUTH_INTROSPECTION_SECRET",
		"OAUTH_INTROSPECTION_URL", "OAUTH_ISSUERS", "PUBLIC_URL", "RATE_LIMIT", "READ_ONLY", "SETTINGS",
	}
	own := map[string][]string{
		"Tools": {
			"CONFIRMATIONS_TABLE", "CONFIRM_TTL", "DATA_KEYS", "INBOX_DOMAIN", "MAIL_RETENTION_DAYS", "QUEUE_URL", "RAW_BUCKET", "STATE_KEYS", "WEBHOOK_ALLOW_HOSTS"},
		"Resources": {"RAW_BUCKET"},
		"Router":    {"COMPLETION_FUNCTION", "PROMPTS_FUNCTION", "RESOURCES_FUNCTION", "TOOLS_FUNCTION"},
		"Ingest":    {"MAIL_RETENTION_DAYS", "QUEUE_URL", "RAW_BUCKET"},
		"Worker": {
			"BEDROCK_PROFILES", "BEDROCK_REGION", "DATA_KEYS", "MAIL_RETENTION_DAYS", "MODEL_TIMEOUT", "OPENAI_API_KEY_SECRET", "OPENAI_BASE_URL", "OPENAI_MODEL",
			"QUEUE_URL", "RAW_BUCKET", "REPLIES", "WEBHOOK_ALLOW_HOSTS"},
	}
	resources := load(t)
	for _, f := range functions {
		want := slices.Sorted(slices.Values(append(slices.Clone(common), own[f]...)))
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(variables(resources, f)))); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
	for name, want := range map[string]string{
		"GOGC": "400", "GOMAXPROCS": "1", "READ_ONLY": "0", "RATE_LIMIT": "20/60", "CONFIRM_TTL": "5m", "ALLOWED_ORIGINS": "", "CONFIRM_ALSO": "", "MAIL_RETENTION_DAYS": "365",
		"QUEUE_URL": "${Jobs}", "DATA_TABLE": "${DataTable}", "CONFIRMATIONS_TABLE": "${ConfirmationsTable}", "RAW_BUCKET": "${RawBucket}",
		"STATE_KEYS": "${StateKeyA} ${StateKeyB}", "DATA_KEYS": "${DataKeys}",
	} {
		if got := variables(resources, "Tools")[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := variables(resources, "Router")["TOOLS_FUNCTION"]; got != "${ToolsFunction.Alias}" {
		t.Errorf("the router calls %v", got)
	}
	if got := variables(load(t, "StateKey=B"), "Tools")["STATE_KEYS"]; got != "${StateKeyB} ${StateKeyA}" {
		t.Errorf("keys in the order %v", got)
	}
}

func variables(resources map[string]resource, function string) object {
	return at(resources[function+"Function"].Properties, "Environment", "Variables").(object)
}

// PUBLIC_URL is known in the first deploy: that of the API or the distribution,
// which need no function, or what the operator says.
func TestPublicURL(t *testing.T) {
	for want, parameters := range map[string][]string{
		"${Api.ApiEndpoint}":                 nil,
		"https://${Distribution.DomainName}": {"Edge=true"},
		"https://inbox.example.com":          {"Edge=true", "PublicUrl=https://inbox.example.com"},
	} {
		resources := load(t, parameters...)
		for _, f := range functions {
			if got := variables(resources, f)["PUBLIC_URL"]; got != want {
				t.Errorf("%s with %v: %v, want %v", f, parameters, got, want)
			}
		}
		for _, id := range []string{"Api", "Distribution"} {
			for _, f := range functions {
				if mentions(resources[id].Properties, f+"Function") {
					t.Errorf("%s needs %s, which needs its address", id, f)
				}
			}
		}
	}
}

// mentions reports whether a text is anywhere in v.
func mentions(v any, what string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, what)
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return mentions(element, what) })
	case object:
		for _, member := range v {
			if mentions(member, what) {
				return true
			}
		}
	}
	return false
}

// A parameter that a function is given must publish it when it changes: SAM
// publishes when the text of the template does, not when a parameter's value
// does.
func TestEveryParameterOfAFunctionPublishesIt(t *testing.T) {
	const named = "PublicUrl=https://inbox.example.com" // CertificateArn needs it
	template := document(t, path())
	before := evaluate(t, template, []string{named})
	for name, p := range template["Parameters"].(object) {
		change := "https://changed.example.com"
		if allowed := list(at(p, "AllowedValues")); len(allowed) > 1 {
			change = text(allowed[1])
			if change == text(at(p, "Default")) {
				change = text(allowed[0])
			}
		}
		after := evaluate(t, template, []string{named, name + "=" + change})
		for _, f := range functions {
			old, new := before[f+"Function"].Properties, after[f+"Function"].Properties
			for _, unpublished := range []string{"ReservedConcurrentExecutions", "DeploymentPreference"} { // of no version
				delete(old, unpublished)
				delete(new, unpublished)
			}
			if !reflect.DeepEqual(old, new) && reflect.DeepEqual(before["Settings"], after["Settings"]) {
				t.Errorf("%s of %s: not in Settings", name, f)
			}
			if variables(before, f)["SETTINGS"] != "${Settings}" {
				t.Errorf("%s does not change with Settings", f)
			}
		}
	}
	for id, version := range versions(t) {
		if version != "Settings ${Settings}" {
			t.Errorf("the version of %s does not change with Settings", id)
		}
	}
}

// versions are the descriptions of the functions' versions, whichever form the
// template has.
func versions(t *testing.T) object {
	described := object{}
	resources := load(t)
	for _, f := range functions {
		described[f] = at(resources[f+"Function"].Properties, "VersionDescription")
	}
	for id, version := range find(resources, "AWS::Lambda::Version") {
		described[id[:strings.Index(id, "Function")]] = at(version, "Description")
	}
	return described
}

// The router runs while a family answers it, so both are counted.
func TestReservedConcurrency(t *testing.T) {
	for _, f := range web {
		name, other := "FamilyConcurrency", "RouterConcurrency"
		if f == "Router" {
			name, other = other, name
		}
		for parameter, want := range map[string]any{name + "=40": "40", other + "=40": nil} {
			if got := at(load(t, parameter)[f+"Function"].Properties, "ReservedConcurrentExecutions"); got != want {
				t.Errorf("%s with %s: %v, want %v", f, parameter, got, want)
			}
		}
	}
	for _, f := range []string{"Ingest", "Worker"} { // which share the rest
		if got := at(load(t, "FamilyConcurrency=40", "RouterConcurrency=40")[f+"Function"].Properties, "ReservedConcurrentExecutions"); got != nil {
			t.Errorf("%s has %v", f, got)
		}
	}
}

func TestTracingIsAParameter(t *testing.T) {
	for parameter, want := range map[string]string{"Tracing=false": "PassThrough", "Tracing=true": "Active"} {
		for _, f := range functions {
			p := load(t, parameter)[f+"Function"].Properties
			if got := p["Tracing"]; got != want && at(p, "TracingConfig", "Mode") != want {
				t.Errorf("%s with %s: %v", f, parameter, got)
			}
		}
	}
}

// A parameter says what it is for, and takes no nonsense where that can be told.
func TestParameters(t *testing.T) {
	guide, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	grouped := map[string]int{}
	template := document(t, "../../template.yaml")
	for _, group := range list(at(template, "Metadata", "AWS::CloudFormation::Interface", "ParameterGroups")) {
		for _, name := range list(at(group, "Parameters")) {
			grouped[name.(string)]++
		}
	}
	parameters := template["Parameters"].(object)
	for name, p := range parameters {
		description, _ := at(p, "Description").(string)
		if !strings.HasSuffix(description, ".") || grouped[name] != 1 {
			t.Errorf("%s: %q, in %d groups", name, description, grouped[name])
		}
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("%s is not in the operator's guide", name)
		}
		if _, ok := p.(object)["Default"]; !ok && name != "OAuthIssuers" {
			t.Errorf("%s has no default", name)
		}
		pattern, ok := at(p, "AllowedPattern").(string)
		if ok && !regexp.MustCompile(pattern).MatchString(text(at(p, "Default"))) {
			t.Errorf("%s does not take its default", name)
		}
	}
	for name, values := range map[string]map[string]bool{
		"MailDomain":            {"": true, "inbox.example.com": true, "example": false, "a@example.com": false, "Example.com": false},
		"ModelAccess":           {"": true, "arn:aws:bedrock:*::foundation-model/amazon.nova-*": true, "arn:a,arn:b": true, "*": false, "arn:a,*": false},
		"BedrockRegion":         {"": true, "us-east-1": true, "us-gov-west-1": true, "us-east": false, "Virginia": false, "us-east-1,eu-west-1": false},
		"PublicUrl":             {"https://inbox.example.com": true, "http://inbox.example.com": false, "https://x/": false, "https://x/mcp": false},
		"ConfirmTtl":            {"300s": true, "90s": true, "5m": true, "6m": false, "0s": false, "1h": false},
		"RateLimit":             {"20/60": true, "off": true, "20": false, "0/1": false},
		"FamilyConcurrency":     {"": true, "10": true, "0": false, "-1": false},
		"EdgeOriginResponseArn": {"arn:aws:lambda:us-east-1:1:function:f:3": true, "arn:aws:lambda:us-east-1:1:function:f": false},
	} {
		pattern := regexp.MustCompile(at(parameters[name], "AllowedPattern").(string))
		for value, want := range values {
			if pattern.MatchString(value) != want {
				t.Errorf("%s takes %q: %t", name, value, !want)
			}
		}
	}
	if len(grouped) != len(parameters) {
		t.Errorf("%d parameters, %d in groups", len(parameters), len(grouped))
	}
}
