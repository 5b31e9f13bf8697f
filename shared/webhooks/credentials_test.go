package webhooks

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// credentialCases are credentials of each kind: the header that carries them,
// and what no record may hold.
func credentialCases() map[inbox.WebhookAuth]struct {
	credentials   inbox.Credentials
	header, value string
	secrets       []string
} {
	type c = struct {
		credentials   inbox.Credentials
		header, value string
		secrets       []string
	}
	return map[inbox.WebhookAuth]c{
		inbox.AuthNone:   {header: "Authorization"},
		inbox.AuthBasic:  {inbox.Credentials{BasicUser: "kate", BasicPassword: "pá/ss=="}, "Authorization", "Basic a2F0ZTpww6Evc3M9PQ==", []string{"pá/ss", "a2F0ZTpww6Evc3M9PQ"}},
		inbox.AuthBearer: {inbox.Credentials{BearerToken: "t0k/en+="}, "Authorization", "Bearer t0k/en+=", []string{"t0k/en", `t0k\/en`}},
		inbox.AuthHeader: {inbox.Credentials{HeaderKey: "X-Api-Key", HeaderValue: "v4l ue"}, "X-Api-Key", "v4l ue", []string{"v4l ue"}},
	}
}

// The receiver gets them, and the record does not, though the receiver echoes
// all that it got, and in more than one spelling.
func TestCredentialsAndSignaturesStayOutOfTheRecord(t *testing.T) {
	for auth, c := range credentialCases() {
		t.Run(string(auth), func(t *testing.T) {
			r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
				for name := range req.Header {
					w.Header().Set("Echo-"+name, req.Header.Get(name))
				}
				echo := show(req.Header)
				io.WriteString(w, echo+strings.ReplaceAll(echo, "/", `\/`)+strings.ReplaceAll(echo, "=", `\u003d`)+c.credentials.BasicPassword)
			})
			req := request(r.URL)
			req.Webhook.Auth, req.Credentials = auth, c.credentials
			req.Secrets = append(req.Secrets, NewSecret())
			d := send(t, r.sender(Options{}), req)
			got := r.only(t)
			if got.header.Get(c.header) != c.value {
				t.Errorf("received %s: %q, want %q", c.header, got.header.Get(c.header), c.value)
			}
			record := show(d)
			hidden := append(c.secrets, strings.TrimPrefix(got.header.Get("X-Kobana-Signature"), "sha256="))
			for sig := range strings.FieldsSeq(got.header.Get("webhook-signature")) {
				hidden = append(hidden, strings.TrimSuffix(sig, "="))
			}
			for _, text := range hidden {
				if strings.Contains(record, text) || strings.Contains(*d.ResponseBody, text) {
					t.Errorf("%q is in %s", text, record)
				}
			}
			if !strings.Contains(*d.ResponseBody, "[removed") {
				t.Errorf("nothing was removed from %s", *d.ResponseBody)
			}
			if names := strings.Join(fieldNames(t, d.RequestHeaders), " "); names != "Content-Type User-Agent Webhook-Id Webhook-Timestamp" {
				t.Errorf("the record shows %s", names)
			}
		})
	}
}

func TestCredentialAtTheEndOfWhatIsKept(t *testing.T) {
	const token = "t0ken-of-some-length"
	for before := maxBody - 2*len(token); before < maxBody+len(token); before++ {
		body := strings.NewReader(strings.Repeat("x", before) + strings.Repeat(token, 300))
		kept := newHider([]string{token, ""}).body(&http.Response{Body: io.NopCloser(body)})
		if strings.Contains(kept, "t0k") || len(kept) < min(before, maxBody)-6*len(token) || len(kept) > maxBody {
			t.Fatalf("after %d bytes: %d bytes kept, ending %q", before, len(kept), kept[len(kept)-30:])
		}
	}
}

func TestStoredCredentialsThatCannotBeSent(t *testing.T) {
	r := newReceiver(t, nil)
	req := request(r.URL)
	req.Webhook.Auth, req.Credentials = inbox.AuthBearer, inbox.Credentials{BearerToken: "t0ken\n"}
	d := send(t, r.sender(Options{}), req)
	wantFailed(t, d, "auth_bearer_token must be ASCII without spaces and control characters. Nothing was sent.")
	if strings.Contains(show(d), "t0ken") || len(r.seen) != 0 {
		t.Errorf("%d requests, %s", len(r.seen), show(d))
	}
}

// What is kept of a body is bounded and valid, and never holds the token.
func FuzzAnswerBody(f *testing.F) {
	const token = "t0k/en=="
	for _, seed := range []string{"", "ok", token, strings.Repeat(token, 2000), strings.Repeat("é", 3000), "\xff\xfe" + token + "\xed\xa0\x80", `t0k\/en`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		kept := newHider([]string{token}).body(&http.Response{Body: io.NopCloser(strings.NewReader(string(body)))})
		if len(kept) > maxBody || !utf8.ValidString(kept) || strings.Contains(kept, "t0k/en") || strings.Contains(kept, `t0k\/en`) {
			t.Fatalf("%q is kept as %q", body, kept)
		}
	})
}
