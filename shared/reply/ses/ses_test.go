package ses_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/reply"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply/ses"
)

var message = reply.Message{
	ID: "0193864c-1e00-7abc-8def-0123456789ab", From: "aurora-support@inbox.example", To: "ana@b.example",
	Raw: []byte("From: aurora-support@inbox.example\r\nTo: ana@b.example\r\n\r\nHello.\r\n"),
}

func keys(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "a-secret-key", SessionToken: "a-session"}, nil
}

func open(url string, change ...func(*ses.Options)) *ses.Sender {
	o := ses.Options{Region: "sa-east-1", Credentials: aws.CredentialsProviderFunc(keys), Endpoint: url}
	for _, f := range change {
		f(&o)
	}
	return ses.New(o)
}

// request is what SES's API takes, all of it (API reference, SendEmail).
type request struct {
	Content struct {
		Raw struct{ Data []byte }
	}
	Destination          struct{ ToAddresses []string }
	FromEmailAddress     string
	ConfigurationSetName string
}

func TestSend(t *testing.T) {
	for _, set := range []string{"", "answers"} {
		var got request
		fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = json.Unmarshal(body, &got, json.RejectUnknownMembers(true))
			}
			if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v2/email/outbound-emails" || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s %s: %v", r.Method, r.URL, body, err)
			}
			if a := r.Header.Get("Authorization"); !strings.HasPrefix(a, "AWS4-HMAC-SHA256 Credential=AKIDTEST/") || !strings.Contains(a, "/sa-east-1/ses/aws4_request") ||
				r.Header.Get("X-Amz-Security-Token") != "a-session" {
				t.Errorf("signed as %q", a)
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"MessageId":"0100018f-1"}`)
		}))
		defer fake.Close()
		if err := open(fake.URL, func(o *ses.Options) { o.ConfigurationSet = set }).Send(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		want := request{FromEmailAddress: message.From, ConfigurationSetName: set}
		want.Content.Raw.Data, want.Destination.ToAddresses = message.Raw, []string{message.To}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// errUnknown is that a message may have been sent.
var errUnknown = errors.New("unknown")

func kind(err error) error {
	for _, known := range []error{reply.ErrRefused, reply.ErrNotSent} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errUnknown
}

// Whatever becomes of it, a message goes to SES once.
func TestSend_Failures(t *testing.T) {
	say := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Amzn-Requestid", "req-1")
			w.Header().Set("X-Amzn-Errortype", code)
			w.WriteHeader(status)
			io.WriteString(w, `{"message":"ana@b.example is not to be in a log"}`)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"message rejected":      {say(400, "MessageRejected"), reply.ErrRefused},
		"identity not verified": {say(400, "MailFromDomainNotVerifiedException"), reply.ErrRefused},
		"bad request":           {say(400, "BadRequestException"), reply.ErrRefused},
		"no permission":         {say(403, "AccessDeniedException"), reply.ErrRefused},
		"no configuration set":  {say(404, "NotFoundException"), reply.ErrRefused},
		"account suspended":     {say(400, "AccountSuspendedException"), reply.ErrRefused},
		"a code of the future":  {say(418, "TeapotException"), reply.ErrRefused},
		"sending paused":        {say(400, "SendingPausedException"), reply.ErrNotSent},
		"quota":                 {say(400, "LimitExceededException"), reply.ErrNotSent},
		"throttled":             {say(429, "TooManyRequestsException"), reply.ErrNotSent},
		"throttled on the way":  {say(400, "ThrottlingException"), reply.ErrNotSent},
		"fault":                 {say(500, "InternalServiceErrorException"), errUnknown},
		"fault with a code":     {say(503, "ThrottlingException"), errUnknown},
		"gateway":               {say(502, ""), errUnknown},
		"redirect":              {say(302, ""), errUnknown},
		"no answer":             {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, errUnknown},
		"unreadable answer": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "{")
		}, errUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				io.Copy(io.Discard, r.Body)
				c.answer(w, r)
			}))
			defer fake.Close()
			err := open(fake.URL).Send(t.Context(), message)
			if err == nil || kind(err) != c.want || asked.Load() != 1 {
				t.Errorf("%v, asked %d times", err, asked.Load())
			}
			if err != nil && strings.Contains(err.Error(), "ana@") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSend_NothingSent(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	if err := open(gone.URL).Send(t.Context(), message); kind(err) != reply.ErrNotSent {
		t.Errorf("nobody there: %v", err)
	}
	none := func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("none") }
	err := open(gone.URL, func(o *ses.Options) { o.Credentials = aws.CredentialsProviderFunc(none) }).Send(t.Context(), message)
	if kind(err) != reply.ErrNotSent || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("no credentials: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(gone.URL).Send(ctx, message); err == nil || kind(err) == reply.ErrRefused {
		t.Errorf("the time is over: %v", err)
	}
}
