package local

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
)

// put lets a message arrive at an inbox, as the import does.
func put(t *testing.T, s *Server, to string, raw []byte) inbox.ID {
	t.Helper()
	in, err := s.data.inboxes.InboxByAddress(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	email, err := s.data.intake.Receive(t.Context(), intake.Delivery{Inbox: in, Raw: raw})
	if err != nil {
		t.Fatal(err)
	}
	return email.ID
}

// TestR1_EML_DownloadsTheExactBytes: the link needs no token, and gives what
// arrived, be it text or not.
func TestR1_EML_DownloadsTheExactBytes(t *testing.T) {
	s := serve(t)
	for name, raw := range map[string][]byte{
		"a message": []byte("From: a@example.com\r\nSubject: =?utf-8?q?=C3=A9?=\r\n\r\nline\r\n.\r\n\xff\x00\xfe bytes\n\r\r"),
		"bytes":     bytes.Repeat([]byte{0, 1, 0x80, 0xff, '\n'}, 1000),
		"nothing":   {},
	} {
		id := put(t, s, "aurora-support@inbox.kobana.com.br", raw)
		c := as("demo-readonly").at(s)
		link := get[inbox.Link](t, c, "emails_get_eml", object{"id": id})
		if left := time.Until(link.ExpiresAt); left <= 0 || left > linkTTL || !strings.HasPrefix(link.URL, s.URL+"/eml?") {
			t.Errorf("%s: %+v", name, link)
		}
		resp, got := exchange(t, http.MethodGet, link.URL, "")
		if resp.StatusCode != http.StatusOK || !bytes.Equal(got, raw) {
			t.Errorf("%s: HTTP %d, %d bytes of %d", name, resp.StatusCode, len(got), len(raw))
		}
		for header, want := range map[string]string{
			"Content-Type": "message/rfc822", "Content-Disposition": `attachment; filename="message.eml"`,
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%s is %q", header, got)
			}
		}
	}
}

// TestLinks judges each way to tamper with a link, and its time.
func TestLinks(t *testing.T) {
	blobs, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 2, 10, 0, 0, 500e6, time.UTC)
	l := &links{base: "http://127.0.0.1:1", key: []byte("a key"), blobs: blobs, now: func() time.Time { return now }}
	for _, key := range []string{"ws/one.eml", "ws/two.eml"} {
		if err := blobs.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	link, err := l.Link(t.Context(), "ws/one.eml")
	if err != nil {
		t.Fatal(err)
	}
	if want := now.Add(linkTTL).Truncate(time.Second); !link.ExpiresAt.Equal(want) {
		t.Errorf("it expires at %v", link.ExpiresAt)
	}
	signed, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	with := func(name, value string) string {
		q := signed.Query()
		if q.Del(name); value != "" {
			q.Set(name, value)
		}
		return "/eml?" + q.Encode()
	}
	stranger := *l
	stranger.key = []byte("another key")
	forged, _ := stranger.Link(t.Context(), "ws/one.eml")
	for _, c := range []struct {
		name, target string
		after        time.Duration
		want         int
	}{
		{"at once", signed.RequestURI(), 0, http.StatusOK},
		{"in time", signed.RequestURI(), link.ExpiresAt.Sub(now) - time.Nanosecond, http.StatusOK},
		{"exactly then", signed.RequestURI(), link.ExpiresAt.Sub(now), http.StatusForbidden},
		{"later", signed.RequestURI(), time.Hour, http.StatusForbidden},
		{"another message", with("key", "ws/two.eml"), 0, http.StatusForbidden},
		{"a path", with("key", "../link.key"), 0, http.StatusForbidden},
		{"a later end", with("expires", "99999999999"), 0, http.StatusForbidden},
		{"another spelling of the end", with("expires", "0"+signed.Query().Get("expires")), 0, http.StatusForbidden},
		{"no signature", with("signature", ""), 0, http.StatusForbidden},
		{"half a signature", with("signature", signed.Query().Get("signature")[:20]), 0, http.StatusForbidden},
		{"padded signature", with("signature", signed.Query().Get("signature")+"="), 0, http.StatusForbidden},
		{"no key", with("key", ""), 0, http.StatusForbidden},
		{"no end", with("expires", ""), 0, http.StatusForbidden},
		{"nothing", "/eml", 0, http.StatusForbidden},
		{"another server's", strings.TrimPrefix(forged.URL, l.base), 0, http.StatusForbidden},
		{"two keys, the signed one first", signed.RequestURI() + "&key=ws/two.eml", 0, http.StatusOK},
	} {
		at := now
		l.now = func() time.Time { return at.Add(c.after) }
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.target, nil))
		if w.Code != c.want || w.Code == http.StatusOK && w.Body.String() != "ws/one.eml" || strings.Contains(w.Body.String(), "two") {
			t.Errorf("%s: HTTP %d %s", c.name, w.Code, w.Body)
		}
	}
}

// TestLinks_Deleted: a link to what is gone is 404, and of a deleted e-mail no
// new one is made.
func TestLinks_Deleted(t *testing.T) {
	s := serve(t)
	c := as("demo-owner").at(s)
	email := c.list(t, "emails_list", nil)[0]
	link := get[inbox.Link](t, c, "emails_get_eml", object{"id": email["id"]})
	if err := s.data.links.blobs.Delete(t.Context(), email["raw_s3_key"].(string)); err != nil {
		t.Fatal(err)
	}
	if resp, _ := exchange(t, http.MethodGet, link.URL, ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("HTTP %d", resp.StatusCode)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		if resp, body := exchange(t, method, link.URL, ""); resp.StatusCode/100 != 4 {
			t.Errorf("%s: HTTP %d %s", method, resp.StatusCode, body)
		}
	}
}

// failing blobs cannot be read now.
type failing struct{ store.Blobs }

func (failing) Get(context.Context, string) ([]byte, error) { return nil, store.ErrUnavailable }

func TestLinks_Unavailable(t *testing.T) {
	blobs, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &links{key: []byte("k"), blobs: failing{blobs}, now: time.Now}
	link, err := l.Link(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, link.URL, nil))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "store:") {
		t.Errorf("HTTP %d %s", w.Code, w.Body)
	}
}
