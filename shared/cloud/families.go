package cloud

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

// Router returns the handler of the router. It judges what it hands on, and
// runs none of it: each family's requests go to the function that
// TOOLS_FUNCTION, and so on, names.
func (f *Function) Router() (http.Handler, error) {
	o, err := f.reading(inboxstore.Options{})
	errs := []error{err}
	client := f.newLambdaClient()
	families := map[string]http.Handler{}
	for _, name := range server.FamilyNames() {
		function, err := f.Require(strings.ToUpper(name) + "_FUNCTION")
		errs = append(errs, err)
		families[name] = &lambdahttp.Forwarder{Invoker: client, Function: function, Log: f.Log}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return server.Router(o, families), nil
}

// newLambdaClient makes the client that families are called by. A call takes as
// long as the family does: the request's deadline bounds it.
func (f *Function) newLambdaClient() *lambda.Client {
	o := lambda.Options{
		Region:      f.Region(),
		Credentials: f.Credentials(),
		HTTPClient: &http.Client{Transport: &thawing{now: time.Now, next: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout: dialTimeout,
		}}},
	}
	if url := f.Getenv("AWS_ENDPOINT_URL_LAMBDA"); url != "" {
		o.BaseEndpoint = &url
	}
	return lambda.New(o)
}

// maxIdle is how long a connection may rest and still be used.
const maxIdle = 20 * time.Second

// thawing is a transport for calls that are made once, in a process that is
// frozen between requests. It sees to it that they are not lost for nothing.
//
// What it holds of connections may be dead after a rest without its knowing,
// since its own clock stood still meanwhile. So after a rest, by the wall
// clock, it opens a new one.
type thawing struct {
	next *http.Transport
	now  func() time.Time
	mu   sync.Mutex
	used time.Time
}

// RoundTrip implements [http.RoundTripper].
func (t *thawing) RoundTrip(r *http.Request) (*http.Response, error) {
	t.use()
	defer t.use()
	if r.Body != nil {
		r = r.WithContext(r.Context()) // a copy
		r.Body = onlyReads{r.Body}
	}
	return t.next.RoundTrip(r)
}

// use notes that connections are used now, and closes those that rested for too
// long.
func (t *thawing) use() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now().Round(0)
	if age := now.Sub(t.used); age < 0 || age > maxIdle {
		t.next.CloseIdleConnections()
	}
	t.used = now
}

// onlyReads hides the WriteTo of a body that smithy-go made. When the answer
// begins, smithy-go closes the body, and WriteTo fails from then on. net/http
// may be about to look whether there is more of the body, and where that fails
// it closes the connection, under the answer that is being read.
type onlyReads struct{ io.ReadCloser }
