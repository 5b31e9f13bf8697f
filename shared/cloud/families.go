package cloud

import (
	"errors"
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

// thawing is a transport for a process that is frozen between requests. What
// it holds of connections may be dead after that without its knowing: its own
// clock stood still, and a call over one of them would be lost, which must not
// be repeated. So after a rest, by the wall clock, it opens a new one.
type thawing struct {
	next *http.Transport
	now  func() time.Time
	mu   sync.Mutex
	used time.Time
}

// RoundTrip implements [http.RoundTripper].
func (t *thawing) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.rested() {
		t.next.CloseIdleConnections()
	}
	defer t.rested()
	return t.next.RoundTrip(r)
}

// rested notes that connections are used now, and reports whether that is the
// first time for too long.
func (t *thawing) rested() bool {
	now := t.now().Round(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	age := now.Sub(t.used)
	t.used = now
	return age < 0 || age > maxIdle
}
