package template_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The functions answer preflight and verify tokens by themselves: a gateway
// that did would know too little of the headers (case 15), and remember a
// token's verdict across paths (case 4).
func TestTheAPIHasNoCORSAndNoAuthorizer(t *testing.T) {
	resources := load(t)
	for id, api := range find(resources, "AWS::ApiGatewayV2::Api") {
		if diff := cmp.Diff([]string{"Description", "Name", "ProtocolType", "Tags"}, slices.Sorted(maps.Keys(api))); diff != "" {
			t.Error(id, diff)
		}
	}
	for id, route := range find(resources, "AWS::ApiGatewayV2::Route") {
		if diff := cmp.Diff([]string{"ApiId", "RouteKey", "Target"}, slices.Sorted(maps.Keys(route))); diff != "" {
			t.Error(id, diff)
		}
	}
	if got := find(resources, "AWS::ApiGatewayV2::Authorizer"); len(got) > 0 {
		t.Error(got)
	}
}

// Each family has its address, and the router everything else.
func TestRoutes(t *testing.T) {
	resources := load(t)
	got := map[string]string{}
	for _, route := range find(resources, "AWS::ApiGatewayV2::Route") {
		id := strings.TrimSuffix(strings.TrimPrefix(at(route, "Target").(string), "integrations/${"), "}")
		integration := resources[id].Properties
		got[at(route, "RouteKey").(string)] = at(integration, "IntegrationUri").(string)
		if at(integration, "IntegrationType") != "AWS_PROXY" || at(integration, "PayloadFormatVersion") != "2.0" {
			t.Error(id, integration)
		}
	}
	want := map[string]string{
		"ANY /mcp": alias("Router"), "$default": alias("Router"), "ANY /mcp/tools": alias("Tools"), "ANY /mcp/resources": alias("Resources"),
		"ANY /mcp/prompts": alias("Prompts"), "ANY /mcp/completion": alias("Completion"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// alias is the one that deployments move, as integrations name it.
func alias(function string) string {
	return "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${" + function + "Function}:live"
}

// The API, and no other, may call what it calls.
func TestPermissions(t *testing.T) {
	got := []string{}
	for id, p := range find(load(t), "AWS::Lambda::Permission") {
		if id == "WorkerRoundsPermission" {
			continue // mail_test.go
		}
		got = append(got, at(p, "FunctionName").(string))
		want := "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*"
		if at(p, "Principal") != "apigateway.amazonaws.com" || at(p, "SourceArn") != want {
			t.Error(id, p)
		}
	}
	slices.Sort(got)
	want := []string{}
	for _, f := range slices.Sorted(slices.Values(web)) {
		want = append(want, "${"+f+"Function.Alias}")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStage(t *testing.T) {
	stage := load(t)["ApiStage"].Properties
	if at(stage, "StageName") != "$default" || at(stage, "AutoDeploy") != true || at(stage, "AccessLogSettings", "DestinationArn") != "${ApiLogs.Arn}" {
		t.Error(stage)
	}
	want := object{"ThrottlingRateLimit": "100", "ThrottlingBurstLimit": "200"}
	if diff := cmp.Diff(want, at(stage, "DefaultRouteSettings")); diff != "" {
		t.Error(diff)
	}
	for _, secret := range []string{"authorization", "requestOverride", "header", "querystring", "body"} {
		if format := at(stage, "AccessLogSettings", "Format").(string); strings.Contains(strings.ToLower(format), secret) {
			t.Errorf("the access log may hold %s", secret)
		}
	}
}

func TestDomain(t *testing.T) {
	named := []string{"PublicUrl=https://inbox.example.com", "CertificateArn=arn:c"}
	resources := load(t, named...)
	if got := at(resources["ApiDomain"].Properties, "DomainName"); got != "inbox.example.com" {
		t.Errorf("the API has the name %v", got)
	}
	resources = load(t, append(named, "Edge=true")...)
	if got := at(resources["Distribution"].Properties, "DistributionConfig", "Aliases", 0); got != "inbox.example.com" {
		t.Errorf("the distribution has the name %v", got)
	}
	if _, both := resources["ApiDomain"]; both {
		t.Error("both have the name")
	}
	if _, unasked := load(t)["ApiDomain"]; unasked {
		t.Error("a domain without a certificate")
	}
}

// Case 1: the edge caches nothing, forwards what the functions need,
// and has both scripts.
func TestEdge(t *testing.T) {
	for _, id := range []string{"Distribution", "ViewerRequest"} {
		if _, unasked := load(t)[id]; unasked {
			t.Errorf("%s without being asked for", id)
		}
	}
	resources := load(t, "Edge=true", "EdgeOriginResponseArn=arn:f:1")
	behavior := at(resources["Distribution"].Properties, "DistributionConfig", "DefaultCacheBehavior")
	want := object{
		"TargetOriginId":        "api",
		"ViewerProtocolPolicy":  "https-only",
		"AllowedMethods":        []any{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"},
		"CachePolicyId":         "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", // Managed-CachingDisabled
		"OriginRequestPolicyId": "b689b0a8-53d0-40ab-baf2-68738e2966ac", // Managed-AllViewerExceptHostHeader
		"FunctionAssociations":  []any{object{"EventType": "viewer-request", "FunctionARN": "${ViewerRequest.FunctionARN}"}},
		"LambdaFunctionAssociations": []any{
			object{"EventType": "origin-response", "LambdaFunctionARN": "arn:f:1"}},
	}
	if diff := cmp.Diff(want, behavior); diff != "" {
		t.Error(diff)
	}
	origin := at(resources["Distribution"].Properties, "DistributionConfig", "Origins", 0)
	if at(origin, "CustomOriginConfig", "OriginProtocolPolicy") != "https-only" || at(origin, "CustomOriginConfig", "OriginReadTimeout").(int) <= 30 ||
		at(origin, "ConnectionAttempts") != 1 {
		t.Error(origin)
	}
}

// The templates hold the scripts themselves, which is how CloudFormation takes
// them; infra/edge is where they are tested.
func TestScriptsAreThoseOfInfraEdge(t *testing.T) {
	edge := document(t, "edge.yaml")
	for file, got := range map[string]any{
		"viewer-request.js":  at(load(t, "Edge=true")["ViewerRequest"].Properties, "FunctionCode"),
		"origin-response.js": at(edge, "Resources", "OriginResponse", "Properties", "InlineCode"),
	} {
		want, err := os.ReadFile("../edge/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
