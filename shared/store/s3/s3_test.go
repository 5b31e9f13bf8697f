package s3_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3/s3test"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// open returns a bucket in a server of its own, changed before it is used.
func open(t *testing.T, change func(*s3test.Server, *s3.Options)) *s3.Bucket {
	t.Helper()
	server := s3test.New()
	t.Cleanup(server.Close)
	o := s3.Options{Bucket: s3test.Bucket, Region: s3test.Region, Credentials: s3test.Credentials, Endpoint: server.URL}
	if change != nil {
		change(server, &o)
	}
	return s3.New(o)
}

func TestContract(t *testing.T) {
	storetest.RunBlobs(t, func(t *testing.T) store.Blobs { return open(t, nil) })
}

// get downloads, and returns status and body.
func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestLink: R1, emails/{id}/eml is a short-lived signed URL. It downloads this
// message, as a file, and nothing else.
func TestLink(t *testing.T) {
	b := open(t, nil)
	for _, key := range []string{"raw/a/b.eml", "raw/a/other.eml"} {
		if err := b.Put(t.Context(), key, []byte("From: "+key)); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now()
	link, expires, err := b.Link(t.Context(), "raw/a/b.eml")
	if err != nil {
		t.Fatal(err)
	}
	if at := expires.Sub(before); at <= s3.LinkTTL-2*time.Second || at > s3.LinkTTL+time.Minute {
		t.Errorf("it expires after %v", at)
	}
	resp, body := get(t, link)
	if resp.StatusCode != http.StatusOK || body != "From: raw/a/b.eml" {
		t.Errorf("HTTP %d %s", resp.StatusCode, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "message/rfc822", "Content-Disposition": `attachment; filename="message.eml"`, "Cache-Control": "no-store",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for what, changed := range map[string]string{
		"another message":   strings.Replace(link, "b.eml", "other.eml", 1),
		"a longer life":     strings.Replace(link, "Expires=300", "Expires=3000", 1),
		"another type":      strings.Replace(link, "rfc822", "html", 1),
		"another signature": strings.Replace(link, "Signature=", "Signature=0", 1),
		"no signature":      link[:strings.Index(link, "?")],
	} {
		if changed == link {
			t.Fatalf("%s: nothing was changed in %s", what, link)
		}
		if resp, _ := get(t, changed); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: HTTP %d", what, resp.StatusCode)
		}
	}
	if _, _, err := b.Link(t.Context(), "../a"); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
}

// TestLinkExpires: five minutes later the link is worth nothing. It is signed
// in a bubble, where it is the year 2000.
func TestLinkExpires(t *testing.T) {
	server := s3test.New()
	defer server.Close()
	var link string
	synctest.Test(t, func(t *testing.T) {
		b := s3.New(s3.Options{Bucket: s3test.Bucket, Region: s3test.Region, Credentials: s3test.Credentials, Endpoint: server.URL})
		var expires time.Time
		var err error
		if link, expires, err = b.Link(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := time.Until(expires); got != s3.LinkTTL || !strings.Contains(link, "X-Amz-Expires=300&") {
			t.Errorf("%s works for %v", link, got)
		}
	})
	if resp, _ := get(t, link); resp.StatusCode != http.StatusForbidden {
		t.Errorf("HTTP %d", resp.StatusCode)
	}
}

// TestFaults: what S3 refuses, or does not answer, is unavailable; what it
// answers on a second attempt is not.
func TestFaults(t *testing.T) {
	refuse := func(status int, code string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(status)
			io.WriteString(w, "<Error><Code>"+code+"</Code></Error>")
			return true
		}
	}
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"no permission":   refuse(http.StatusForbidden, "AccessDenied"),
		"no such bucket":  refuse(http.StatusNotFound, "NoSuchBucket"),
		"always busy":     refuse(http.StatusServiceUnavailable, "SlowDown"),
		"no answer":       func(w http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
		"a dropped call":  func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"a broken answer": refuse(http.StatusInternalServerError, "</"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, func(s *s3test.Server, o *s3.Options) {
				s.Fault = fault
				o.AnswerTimeout = 50 * time.Millisecond
			})
			_, err := b.Get(t.Context(), "a")
			for op, err := range map[string]error{"Get": err, "Put": b.Put(t.Context(), "a", nil), "Delete": b.Delete(t.Context(), "a")} {
				if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: %v", op, err)
				}
			}
		})
	}
	t.Run("busy once", func(t *testing.T) {
		var calls atomic.Int64
		b := open(t, func(s *s3test.Server, _ *s3.Options) {
			s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				return calls.Add(1) == 1 && refuse(http.StatusServiceUnavailable, "SlowDown")(w, r)
			}
		})
		if err := b.Put(t.Context(), "a", []byte("1")); err != nil || calls.Load() != 2 {
			t.Errorf("%v after %d calls", err, calls.Load())
		}
	})
	t.Run("a truncated blob", func(t *testing.T) {
		b := open(t, func(s *s3test.Server, _ *s3.Options) {
			s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("Content-Length", "100")
				io.WriteString(w, "only this")
				return true
			}
		})
		if data, err := b.Get(t.Context(), "a"); !errors.Is(err, store.ErrUnavailable) || data != nil {
			t.Errorf("%q, %v", data, err)
		}
	})
}

// A body of more than net/http's buffer does not cost the connection, and with
// it perhaps the answer (package awshttp says how it could).
func TestLargeBlobsKeepTheConnection(t *testing.T) {
	from := map[string]bool{}
	b := open(t, func(s *s3test.Server, _ *s3.Options) {
		s.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
			from[r.RemoteAddr] = true // one call after the other
			return false
		}
	})
	for range 300 {
		if err := b.Put(t.Context(), "a", make([]byte, 9000)); err != nil {
			t.Fatal(err)
		}
	}
	if len(from) != 1 {
		t.Errorf("%d connections", len(from))
	}
}
