package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Secrets' values and webhooks' credentials go in and never come out: not in
// an answer, a question, a log or the digest of the arguments, whatever happens.
func TestSecretsNeverComeOut(t *testing.T) {
	const value = "hunter2hunter2"
	for tool, args := range map[string]string{
		"secrets_create":  `{"name":"TOKEN","value":"%s"}`,
		"secrets_update":  `{"id":"` + id1 + `","value":"%s"}`,
		"webhooks_create": `{"label":"ERP","url":"https://erp.example/x","auth":"basic","auth_basic_user":"%[1]s","auth_basic_password":"%[1]s"}`,
	} {
		for _, also := range [][]string{nil, {tool}} {
			for _, err := range []error{nil, errDown, inbox.Errorf(inbox.CodeConflict, "", "No. Nothing was changed.")} {
				l := newLab(t, func(o *Options) { o.ConfirmAlso = also })
				l.fault = func(int) error { return err }
				seen := []string{}
				given := fmt.Sprintf(args, value)
				r := l.call(tool, given, "")
				seen = append(seen, r.Body)
				if also != nil {
					l.wantAsked(r)
					if !strings.Contains(r.message(), "(given, not shown)") {
						t.Errorf("%s: %s", tool, r.message())
					}
					seen = append(seen, l.answer(tool, given, r.Result.RequestState, sayDecline).Body)
					seen = append(seen, l.answer(tool, given, l.ask(tool, given), sayYes).Body)
				}
				seen = append(seen, l.log.String(), fmt.Sprint(l.recorded))
				for _, s := range seen {
					if strings.Contains(s, value) {
						t.Errorf("%s: %s", tool, s)
					}
				}
				if b, err := json.Marshal(l.wrote[0].Given); err != nil || !strings.Contains(string(b), value) {
					t.Errorf("%s: the service was not given the value", tool)
				}
				other, _ := digest(audited, l.byName[tool].Input, jsontext.Value(fmt.Sprintf(args, "another")))
				if by := l.wrote[0].By; by.Arguments != other || len(other) != 64 {
					t.Errorf("%s: the digest depends on the value", tool)
				}
			}
		}
		r := newLab(t).call(tool, fmt.Sprintf(args, strings.Repeat(value, 10_000)), "")
		if !r.Result.IsError || strings.Contains(r.Body, value) {
			t.Errorf("%s, refused: %s", tool, r.Body)
		}
	}
}

// The digest of the arguments is of what they say, not how they are written,
// and takes the key.
func TestDigest(t *testing.T) {
	fs := Fields{{Name: "a"}, {Name: "s", Secret: true}}
	of := func(key, args string) string {
		d, err := digest([]byte(key), fs, jsontext.Value(args))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := of("k", `{"a":"x","b":1}`)
	for _, same := range []string{`{"b":1,"a":"x"}`, ` { "b" : 1.0, "a" : "\u0078" } `, `{"a":"x","s":"secret","b":1}`} {
		if got := of("k", same); got != want {
			t.Errorf("%s has another digest", same)
		}
	}
	for key, args := range map[string]string{"k": `{"a":"y","b":1}`, "other": `{"a":"x","b":1}`} {
		if of(key, args) == want {
			t.Errorf("%s with key %q has the same digest", args, key)
		}
	}
	// printf '{"a":"x","b":1}' | openssl dgst -sha256 -hmac k
	if want != "5fd4480841273ec8336e76e19bbeb1dd7bd9ded2c442c84cdb2786f7e030987b" {
		t.Error(want)
	}
	if of("", `{"a":"x"}`) != "" {
		t.Error("a digest without a key")
	}
}

// A webhook's signing secret is shown once, to the person, in a text that says
// who else reads it; never in structuredContent.
func TestSigningSecretIsForTheUser(t *testing.T) {
	const (
		english    = "Signing secret of the webhook \"CRM\", shown only this once:\n\n" + signing + "\n\nGive it to the system that receives the deliveries, to verify their signatures. The assistant can read this text too."
		portuguese = "Segredo de assinatura do webhook \"CRM\", exibido só desta vez:\n\n" + signing + "\n\nInforme-o ao sistema que recebe as entregas, para verificar as assinaturas. O assistente também consegue ler este texto."
	)
	for locale, want := range map[inbox.Locale]string{inbox.English: english, inbox.Portuguese: portuguese} {
		for _, v := range []mcp.Version{mcp.V20260728, mcp.V20250326} {
			l := newLab(t)
			l.things.workspace.Locale = locale
			check := func(r reply) {
				t.Helper()
				if len(r.Result.Content) != 2 || r.Result.Content[1].Text != want || !cmp.Equal(r.Result.Content[1].Annotations.Audience, []string{"user"}) {
					t.Errorf("%s", r.Body)
				}
				if strings.Contains(string(r.Result.Structured), signing) || strings.Contains(r.Result.text(), signing) || strings.Count(r.Body, signing) != 1 {
					t.Errorf("structured: %s", r.Body)
				}
			}
			check(l.at(v, "webhooks_create", `{"label":"CRM","url":"https://crm.example"}`, ""))
			if v.Modern() {
				check(l.confirmed("webhooks_rotate_secret", `{"id":"`+id1+`"}`))
			}
			if strings.Contains(l.log.String(), signing) {
				t.Errorf("logged: %s", l.log.String())
			}
		}
	}
	l := newLab(t) // not made, not shown
	l.fault = func(int) error { return errDown }
	r := l.call("webhooks_create", `{"label":"CRM","url":"https://crm.example"}`, "")
	l.wantError(r, "internal")
	if strings.Contains(r.Body, signing) {
		t.Error(r.Body)
	}
}

// Credentials are those of the kind of auth, all of them and no others.
func TestCredentialsFitTheAuth(t *testing.T) {
	for _, test := range []struct{ args, field, says string }{
		{`"auth":"basic","auth_basic_user":"u"`, "auth_basic_password", "auth basic needs auth_basic_password."},
		{`"auth":"bearer"`, "auth_bearer_token", "auth bearer needs auth_bearer_token."},
		{`"auth":"header","auth_header_key":"X-Key"`, "auth_header_value", "auth header needs auth_header_value."},
		{`"auth":"bearer","auth_bearer_token":"t","auth_basic_user":"u"`, "auth_basic_user", "auth bearer takes no auth_basic_user."},
		{`"auth_bearer_token":"t"`, "auth_bearer_token", "auth none takes no auth_bearer_token."},
		{`"auth":"digest"`, "auth", `not "digest"`},
	} {
		l := newLab(t)
		l.wantError(l.call("webhooks_create", `{"label":"x","url":"https://erp.example",`+test.args+`}`, ""), "invalid_arguments", test.says, "Nothing was changed")
		l.wantWrites()
	}
	for args, want := range map[string]inbox.Credentials{
		``:               {},
		`,"auth":"none"`: {},
		`,"auth":"bearer","auth_bearer_token":"t"`:                           {BearerToken: "t"},
		`,"auth":"header","auth_header_key":"X-Key","auth_header_value":"v"`: {HeaderKey: "X-Key", HeaderValue: "v"},
		`,"auth":"basic","auth_basic_user":"u","auth_basic_password":""`:     {BasicUser: "u"},
	} {
		l := newLab(t)
		l.call("webhooks_create", `{"label":"x","url":"https://erp.example"`+args+`}`, "")
		if diff := cmp.Diff(want, l.wrote[0].Given[1]); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

// A webhook that has credentials cannot take them to another host.
func TestWebhookWithAuthKeepsItsHost(t *testing.T) {
	for _, test := range []struct {
		auth inbox.WebhookAuth
		url  string
		ok   bool
	}{
		{inbox.AuthBearer, "https://crm.example/other?x=2", true},
		{inbox.AuthBearer, "https://CRM.example/hook", true},
		{inbox.AuthBearer, "https://crm.example:443/hook", true},
		{inbox.AuthBearer, "https://crm.example:8443/hook", false},
		{inbox.AuthBasic, "https://crm.example.evil.example/hook", false},
		{inbox.AuthHeader, "https://evil.example/crm.example", false},
		{inbox.AuthHeader, "https://crm.example@evil.example/", false},
		{inbox.AuthNone, "https://evil.example/", true},
	} {
		l := newLab(t)
		l.things.webhook.Auth = test.auth
		r := l.call("webhooks_update", `{"id":"`+id1+`","url":"`+test.url+`"}`, "")
		if test.ok {
			l.wantWrites("UpdateWebhook")
			continue
		}
		l.wantError(r, "conflict", "url: The webhook has credentials for its host", "Nothing was changed")
		l.wantWrites()
	}
}

// Where deliveries may go is judged when a URL is given, and only then.
func TestWebhookURLIsChecked(t *testing.T) {
	var checked []string
	l := newLab(t, func(o *Options) {
		o.CheckURL = func(url string) error {
			checked = append(checked, url)
			return inbox.Errorf(inbox.CodeInvalid, "url", "The webhook's URL has an address that is not public.")
		}
	})
	l.wantError(l.call("webhooks_create", `{"label":"x","url":"https://10.0.0.7/"}`, ""), "invalid_arguments", "url: The webhook's URL has an address that is not public. Nothing was changed.")
	l.wantError(l.call("webhooks_update", `{"id":"`+id1+`","url":"https://10.0.0.8/"}`, ""), "invalid_arguments", "not public")
	if r := l.call("webhooks_update", `{"id":"`+id1+`","label":"y"}`, ""); r.Result.IsError {
		t.Error(r.Body)
	}
	l.wantWrites("UpdateWebhook")
	if diff := cmp.Diff([]string{"https://10.0.0.7/", "https://10.0.0.8/"}, checked); diff != "" {
		t.Error(diff)
	}
}
