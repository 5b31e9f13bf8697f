package oauth

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func secret(context.Context) (string, error) { panic("the secret was fetched at start") }

func TestFromEnv(t *testing.T) {
	usual := ClaimNames{}.withDefaults()
	for _, c := range []struct {
		name string
		env  environment
		want Options
	}{
		{"one issuer", environment{"OAUTH_ISSUERS": "https://login.example"},
			Options{Issuers: []Issuer{{URL: "https://login.example"}}, Audience: audience, Claims: usual}},
		{"several", environment{"OAUTH_ISSUERS": "https://a.example/, https://b.example/realm http://localhost:9000"},
			Options{Issuers: []Issuer{{URL: "https://a.example/"}, {URL: "https://b.example/realm"}, {URL: "http://localhost:9000"}}, Audience: audience, Claims: usual}},
		{"all that can be said", environment{
			"OAUTH_ISSUERS":            ` [{"issuer":"https://a.example","jwks_uri":"https://keys.example/a?x=1","algorithms":["ES256"]}, {"issuer":"https://b.example"}]`,
			"OAUTH_AUDIENCE":           "api://inbox",
			"OAUTH_CLAIM_SUBJECT":      "oid",
			"OAUTH_CLAIM_ORGANIZATION": "https://kobana.example/org, org_id",
			"OAUTH_CLAIM_WORKSPACE":    "ws",
			"OAUTH_CLAIM_SCOPE":        "permissions scope",
			"OAUTH_CLAIM_CLIENT":       "appid",
		}, Options{
			Issuers:  []Issuer{{"https://a.example", "https://keys.example/a?x=1", []string{"ES256"}}, {URL: "https://b.example"}},
			Audience: "api://inbox",
			Claims: ClaimNames{[]string{"oid"}, []string{"https://kobana.example/org", "org_id"}, []string{"ws"},
				[]string{"permissions", "scope"}, []string{"appid"}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, issuers, err := FromEnv(c.env.get, "https://Inbox.example.com/", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var urls []string
			for _, i := range c.want.Issuers {
				urls = append(urls, i.URL)
			}
			if diff := cmp.Diff(urls, issuers); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, v.(*JWT).opts, cmpopts.IgnoreFields(Options{}, "Transport", "Log", "Now")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFromEnvIntrospection(t *testing.T) {
	v, issuers, err := FromEnv(environment{
		"OAUTH_ISSUERS":                 "https://login.example",
		"OAUTH_INTROSPECTION_URL":       "https://login.example/introspect",
		"OAUTH_INTROSPECTION_CLIENT_ID": "inbox",
	}.get, "https://inbox.example.com", secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := v.(access.FreshVerifier); !ok || len(issuers) != 1 {
		t.Errorf("got %T of %v", v, issuers)
	}
	e := v.(*Introspection).endpoint
	if e.URL != "https://login.example/introspect" || e.ClientID != "inbox" {
		t.Errorf("endpoint %+v", e)
	}
}

// An error names the variable, and says what is wrong with it.
func TestFromEnvErrors(t *testing.T) {
	const good = "https://login.example"
	for _, c := range []struct {
		env  environment
		want string
	}{
		{environment{}, "OAUTH_ISSUERS: no issuer"},
		{environment{"OAUTH_ISSUERS": " , "}, "OAUTH_ISSUERS: no issuer"},
		{environment{"OAUTH_ISSUERS": "[]"}, "OAUTH_ISSUERS: no issuer"},
		{environment{"OAUTH_ISSUERS": "login.example"}, `OAUTH_ISSUERS: issuer "login.example": not a URL`},
		{environment{"OAUTH_ISSUERS": "http://login.example"}, `OAUTH_ISSUERS: issuer "http://login.example": https is needed`},
		{environment{"OAUTH_ISSUERS": "http://127.0.0.1.example"}, "https is needed"},
		{environment{"OAUTH_ISSUERS": "ftp://localhost"}, "https is needed"},
		{environment{"OAUTH_ISSUERS": "https://u:p@login.example"}, "without user"},
		{environment{"OAUTH_ISSUERS": "https://login.example#x"}, "without user and fragment"},
		{environment{"OAUTH_ISSUERS": "https://login.example?x=1"}, "no query"},
		{environment{"OAUTH_ISSUERS": good + "," + good}, "twice"},
		{environment{"OAUTH_ISSUERS": "[x"}, "OAUTH_ISSUERS: not a JSON list"},
		{environment{"OAUTH_ISSUERS": `[{"issuer":"https://login.example","jwks_url":"x"}]`}, "OAUTH_ISSUERS: not a JSON list"},
		{environment{"OAUTH_ISSUERS": `[{"issuer":"https://login.example","jwks_uri":"http://keys.example"}]`}, "OAUTH_ISSUERS: issuer \"https://login.example\": jwks_uri"},
		{environment{"OAUTH_ISSUERS": `[{"issuer":"https://login.example","algorithms":["HS256"]}]`}, `OAUTH_ISSUERS: issuer "https://login.example": algorithm "HS256"`},
		{environment{"OAUTH_ISSUERS": good, "OAUTH_INTROSPECTION_URL": good}, "OAUTH_INTROSPECTION_CLIENT_ID: needed"},
		{environment{"OAUTH_ISSUERS": good, "OAUTH_INTROSPECTION_CLIENT_ID": "x"}, "OAUTH_INTROSPECTION_URL: needed"},
		{environment{"OAUTH_ISSUERS": good, "OAUTH_INTROSPECTION_CLIENT_ID": "x", "OAUTH_INTROSPECTION_URL": "http://login.example"}, "OAUTH_INTROSPECTION_URL: introspection endpoint"},
	} {
		v, _, err := FromEnv(c.env.get, "https://inbox.example.com", secret, nil)
		if v != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.env, err, c.want)
		}
	}
	if _, err := NewJWT(Options{Issuers: []Issuer{{URL: good}}}); err == nil {
		t.Error("no audience is no error")
	}
	// Ages are taken by the wall clock: a frozen instance's other one stands still.
	if o, _ := (Options{Audience: audience}).withDefaults(); strings.Contains(o.Now().String(), "m=") {
		t.Error("the clock is monotonic")
	}
	if _, err := NewIntrospection(Options{Issuers: []Issuer{{URL: good}}, Audience: audience}, Endpoint{URL: good, ClientID: "x"}); err == nil {
		t.Error("no secret is no error")
	}
}
