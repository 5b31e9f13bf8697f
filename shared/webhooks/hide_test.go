package webhooks

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// each writes every character of s by format.
func each(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
}

// between puts a text between the characters of s.
func between(text string) func(string) string {
	return func(s string) string { return strings.Join(strings.Split(s, ""), text) }
}

// spellings are the ways in which a receiver may repeat a text.
var spellings = map[string]func(string) string{
	"as it is":           func(s string) string { return s },
	"JSON":               func(s string) string { return show(s) },
	"JSON in JSON":       func(s string) string { return show(show(s)) },
	"JSON, escaped":      each(`\u%04X`),
	"JavaScript":         each(`\x%02x`),
	"JSON, slashes":      func(s string) string { return strings.ReplaceAll(show(s), "/", `\/`) },
	"path":               url.PathEscape,
	"query":              url.QueryEscape,
	"query, twice":       func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"every byte escaped": func(s string) string { return strings.ToLower(percent(s)) },
	"HTML":               html.EscapeString,
	"HTML in JSON":       func(s string) string { return show(html.EscapeString(s)) },
	"HTML, decimal":      each("&#%d;"),
	"HTML, hex":          each("&#x%x;"),
	"XML": func(s string) string {
		return strings.NewReplacer(`"`, "&quot;", "&", "&amp;", "'", "&apos;", "+", "&#43;").Replace(s)
	},
	"zero width":    between("\u200b"),
	"soft hyphens":  between("\u00ad"),
	"tags":          between("\U000e0041"),
	"base64":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, later": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "yz")) },
	"base64, URL":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("xy" + s + "z")) },
	"hex":           func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":           func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"upper case":    strings.ToUpper,
	"lower case":    strings.ToLower,
}

func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// Whatever a receiver repeats of what it was sent, in the body or in a header,
// is cut out as it is, and takes the whole answer with it in other spellings.
func TestRepeatedCredentialsAreNotStored(t *testing.T) {
	const awkward = `p/a"s\s+w <&> %2F 'w0rd'`
	for name, c := range map[string]struct {
		auth        inbox.WebhookAuth
		credentials inbox.Credentials
		sent        func(http.Header) string
	}{
		"password": {inbox.AuthBasic, inbox.Credentials{BasicUser: "kate", BasicPassword: awkward}, func(http.Header) string { return awkward }},
		"Basic": {inbox.AuthBasic, inbox.Credentials{BasicUser: "kate", BasicPassword: awkward}, func(h http.Header) string {
			return strings.TrimPrefix(h.Get("Authorization"), "Basic ")
		}},
		"Bearer": {inbox.AuthBearer, inbox.Credentials{BearerToken: `t0k/en+"\&x`}, func(h http.Header) string {
			return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
		}},
		"header": {inbox.AuthHeader, inbox.Credentials{HeaderKey: "X-Api-Key", HeaderValue: awkward}, func(h http.Header) string { return h.Get("X-Api-Key") }},
		"header with a scheme": {inbox.AuthHeader, inbox.Credentials{HeaderKey: "X-Api-Key", HeaderValue: "Token abc/def+123"}, func(h http.Header) string {
			return strings.TrimPrefix(h.Get("X-Api-Key"), "Token ")
		}},
		"signature": {inbox.AuthNone, inbox.Credentials{}, func(h http.Header) string { return h.Get(headerSignature) }},
		"second signature": {inbox.AuthNone, inbox.Credentials{}, func(h http.Header) string {
			return strings.TrimPrefix(strings.Fields(h.Get(headerSignature))[1], "v1,")
		}},
		"Kobana signature": {inbox.AuthNone, inbox.Credentials{}, func(h http.Header) string { return strings.TrimPrefix(h.Get(headerKobana), "sha256=") }},
	} {
		var spell func(string) string
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			text := "You sent [" + spell(c.sent(req.Header)) + "], thanks."
			w.Header().Set("X-Echo", text)
			io.WriteString(w, text)
		})
		s := r.sender(Options{})
		for how, f := range spellings {
			spell = f
			req := request(r.URL)
			req.Webhook.Auth, req.Credentials, req.Secrets = c.auth, c.credentials, append(req.Secrets, NewSecret())
			d := send(t, s, req)
			// In headers, Go's server writes nothing that is no field value.
			headers := string(*d.ResponseHeaders)
			if body := *d.ResponseBody; body != repeated && !strings.Contains(body, "[removed]") || !strings.Contains(headers, "[removed") {
				t.Errorf("%s, %s: %s with %s", name, how, body, headers)
			}
			if !strings.Contains(headers, "X-Echo") || d.Status != inbox.DeliverySuccess {
				t.Errorf("%s, %s: %s", name, how, show(d))
			}
		}
	}
}

// What repeats nothing stays as it is, and short credentials do not make
// every answer one that repeats them.
func TestOtherAnswersAreStored(t *testing.T) {
	const answer = `{"ok":true,"next":"https:\/\/x.example\/a%20b?c=d+e","note":"&quot;1 < 2&quot; \u00e9","id":"dGhhbmtz"}`
	for _, values := range [][]string{
		nil, {"", "===", ""}, {"t0ken-of-some-length"}, {"Zq"}, {"!?"}, {"\u3164"}, {"\u200b", strings.Repeat("\u200b", 20)},
	} {
		if got := newHider(values).hide(answer); got != answer {
			t.Errorf("%q: %s", values, got)
		}
	}
}

// A spelling that ends behind what is kept is seen all the same.
func TestSpellingAtTheEndOfWhatIsKept(t *testing.T) {
	const token = "t0ken-of-some-length"
	for before := maxBody - 6*len(token); before <= maxBody-len(`\u0000`); before++ {
		body := strings.NewReader(strings.Repeat("x", before) + each(`\u%04x`)(token))
		if kept := newHider([]string{token}).body(&http.Response{Body: io.NopCloser(body)}); kept != repeated {
			t.Fatalf("after %d bytes: %d bytes kept, ending %q", before, len(kept), kept[len(kept)-30:])
		}
	}
}

func FuzzHide(f *testing.F) {
	f.Add("t0k/en+x", `a \u0074 %74 &#116; \ud800\x7`)
	f.Add(`a"b\c`, `\`)
	f.Add("\x00\x00\x00\x00\r\r", "000011K11111100+01") // a secret of which nothing shows
	f.Fuzz(func(t *testing.T, secret, text string) {
		h := newHider([]string{secret})
		kept := h.hide(text)
		shown := fold(strings.TrimRight(secret, "="))
		if kept != repeated && (h.repeats(kept) || shown != "" && strings.Contains(fold(kept), shown)) {
			t.Errorf("%q is in %q", secret, kept)
		}
	})
}
