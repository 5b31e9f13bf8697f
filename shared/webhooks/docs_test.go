package webhooks_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// documented is what docs/webhooks.md shows.
type documented struct {
	secret string
	header http.Header
	body   []byte
	now    time.Time // by the header
	blocks map[string]string
}

// docs reads the page: its code blocks by language, of which there is one each.
func docs(t *testing.T) (d documented) {
	t.Helper()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	d.blocks = map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```\n").FindAllStringSubmatch(string(page), -1) {
		d.blocks[m[1]] = m[2]
	}
	if got := slices.Sorted(maps.Keys(d.blocks)); !slices.Equal(got, []string{"go", "http", "json", "python"}) {
		t.Fatalf("code blocks in %q", got)
	}
	d.secret = regexp.MustCompile(`whsec_[A-Za-z0-9+/]+=`).FindString(string(page))
	_, fields, _ := strings.Cut(d.blocks["http"], "\n") // after the request line
	header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(fields + "\n"))).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	d.header = http.Header(header)
	seconds, err := strconv.ParseInt(d.header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	d.now = time.Unix(seconds, 0)
	body := jsontext.Value(d.blocks["json"])
	if err := body.Compact(); err != nil {
		t.Fatal(err)
	}
	d.body = body
	return d
}

// The delivery that the page shows was made by the local server: its signatures
// are true, and its body is what an envelope is.
func TestDocs_Delivery(t *testing.T) {
	d := docs(t)
	if err := webhooks.Verify(webhooks.Secret(d.secret), d.header, d.body, d.now); err != nil {
		t.Error(err)
	}
	mac := hmac.New(sha256.New, []byte(d.secret))
	mac.Write(d.body)
	if got, want := d.header.Get("X-Kobana-Signature"), "sha256="+hex.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("X-Kobana-Signature: %s, want %s", got, want)
	}
	var e webhooks.Envelope
	if err := json.Unmarshal(d.body, &e, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Email inbox.Email    `json:"email"`
		Run   inbox.AgentRun `json:"agent_run"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil || string(e.Event.ID) != d.header.Get("Webhook-Id") ||
		e.DeliveredAt.Unix() != d.now.Unix() || data.Email.ID != data.Run.EmailID || e.Event.Slug != inbox.EventEmailProcessed {
		t.Errorf("%v: %+v", err, e)
	}
}

// The page's receiver is the one that is compiled and tested here.
func TestDocs_ReceiverIsTheTestedOne(t *testing.T) {
	source, err := os.ReadFile("receiver_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(string(source), "package webhooks_test", "package receiver", 1); docs(t).blocks["go"] != want {
		t.Error("the receiver in docs/webhooks.md is not that of receiver_test.go, in a package receiver")
	}
}

func TestReceiver(t *testing.T) {
	const secret, other = "whsec_RX0lAB7JPkCCIMNjukzQ0WPISkHjMdtIWQLkKHns0Fo=", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for name, c := range map[string]struct {
		secrets []webhooks.Secret
		fail    error
		late    time.Duration
		status  int64
		kept    int
	}{
		"signed":         {[]webhooks.Secret{secret}, nil, 0, 204, 1},
		"rotated":        {[]webhooks.Secret{other, secret}, nil, 0, 204, 1},
		"another secret": {[]webhooks.Secret{other}, nil, 0, 401, 0},
		"old":            {[]webhooks.Secret{secret}, nil, 6 * time.Minute, 401, 0},
		"of the future":  {[]webhooks.Secret{secret}, nil, -6 * time.Minute, 401, 0},
		"cannot keep it": {[]webhooks.Secret{secret}, errors.New("full"), 0, 503, 0},
	} {
		t.Run(name, func(t *testing.T) {
			kept := map[string][]byte{}
			r, err := NewReceiver(secret, func(id string, body []byte) error {
				if c.fail == nil {
					kept[id] = body
				}
				return c.fail
			})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(r)
			defer server.Close()
			sender := webhooks.New(webhooks.Options{AllowLoopback: true, Now: func() time.Time { return time.Now().Add(-c.late) }})
			event := webhooks.Event{Slug: inbox.EventEmailProcessed, ID: inbox.NewID(time.Now())}
			for range 2 { // the same event again
				d, err := sender.Send(t.Context(), webhooks.Request{
					Webhook: inbox.Webhook{URL: server.URL, Auth: inbox.AuthNone}, Secrets: c.secrets,
					Body: webhooks.Envelope{Event: event, DeliveryID: inbox.NewID(time.Now())},
				})
				if err != nil || d.ResponseStatus == nil || *d.ResponseStatus != c.status {
					t.Errorf("%+v, %v, want status %d", d, err, c.status)
				}
			}
			if len(kept) != c.kept || c.kept > 0 && kept[string(event.ID)] == nil {
				t.Errorf("kept %d events, want %d", len(kept), c.kept)
			}
		})
	}
	for _, bad := range []string{"", "whsec_", "whsec_!", strings.TrimPrefix(secret, "whsec_")} {
		if _, err := NewReceiver(bad, nil); err == nil {
			t.Errorf("secret %q: no error", bad)
		}
	}
}

// spoilt are deliveries that no receiver takes, made of the one that the page
// shows, and two that each takes.
var spoilt = map[string]struct {
	change func(*documented)
	taken  bool
}{
	"as shown":       {func(*documented) {}, true},
	"two signatures": {func(d *documented) { d.header.Set("Webhook-Signature", "v1,eA== "+d.header.Get("Webhook-Signature")) }, true},
	"body changed":   {func(d *documented) { d.body = append(d.body, ' ') }, false},
	"id changed":     {func(d *documented) { d.header.Set("Webhook-Id", "x") }, false},
	"no id":          {func(d *documented) { d.header.Del("Webhook-Id") }, false},
	"no time":        {func(d *documented) { d.header.Del("Webhook-Timestamp") }, false},
	"no signature":   {func(d *documented) { d.header.Del("Webhook-Signature") }, false},
	"not ASCII":      {func(d *documented) { d.header.Set("Webhook-Signature", "v1,é") }, false},
	"old":            {func(d *documented) { d.now = d.now.Add(5*time.Minute + time.Second) }, false},
	"early":          {func(d *documented) { d.now = d.now.Add(-5*time.Minute - time.Second) }, false},
	"other secret":   {func(d *documented) { d.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, false},
}

func TestDocs_GoVerifies(t *testing.T) {
	for name, c := range spoilt {
		d := docs(t)
		c.change(&d)
		r, err := NewReceiver(d.secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(r.key, d.header, d.body, d.now); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The page's Python decides as its Go does, where there is Python.
func TestDocs_PythonVerifies(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	type delivery struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Now     int64             `json:"now"`
	}
	var all []delivery
	names := slices.Sorted(maps.Keys(spoilt))
	for _, name := range names {
		d := docs(t)
		spoilt[name].change(&d)
		header := map[string]string{}
		for field := range d.header {
			header[field] = d.header.Get(field)
		}
		all = append(all, delivery{d.secret, header, string(d.body), d.now.Unix()})
	}
	input, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", docs(t).blocks["python"]+`
import json, sys
def taken(d):
    try:
        verify(d["secret"], d["headers"], d["body"].encode(), d["now"])
        return True
    except ValueError:
        return False
print(json.dumps([taken(d) for d in json.load(sys.stdin.buffer)]))
`)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var taken []bool
	if err := json.Unmarshal(out, &taken); err != nil || len(taken) != len(names) {
		t.Fatalf("%v: %s", err, out)
	}
	for n, name := range names {
		if taken[n] != spoilt[name].taken {
			t.Errorf("%s: taken %v", name, taken[n])
		}
	}
}
