package lambdahttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// event is what the gateway sends for a request. The two payload formats tell
// the same in different places; where their names differ there is one field.
type event struct {
	content
	version   string // "2.0", or else the first format
	method    string // requestContext.http.method, httpMethod
	path      string // rawPath, path
	query     string // rawQueryString
	stage     string
	requestID string
	host      string // domainName, for want of a Host header
	sourceIP  string // of http, identity

	values, multiValues url.Values // the first format's query, decoded
}

var errNoRequest = errors.New("the event is not that of a request: no method or path")

// parseEvent reads an event. Beside an error it returns what was read so far.
func parseEvent(payload []byte) (*event, error) {
	e := &event{}
	err := json.Unmarshal(payload, e) // for its pooled decoder
	if err == nil {
		err = e.finish()
	}
	if err == nil && (e.method == "" || e.path == "" || e.path[0] != '/') {
		err = errNoRequest
	}
	return e, err
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (e *event) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	r := reader{d}
	return r.object(func(name []byte) (err error) {
		switch string(name) {
		case "version":
			e.version, err = r.text()
		case "rawPath", "path":
			e.path, err = r.text()
		case "rawQueryString":
			e.query, err = r.text()
		case "httpMethod":
			e.method, err = r.text()
		case "queryStringParameters":
			e.values, err = r.values(false)
		case "multiValueQueryStringParameters":
			e.multiValues, err = r.values(true)
		case "requestContext":
			err = e.readContext(r)
		default:
			err = e.content.read(r, name)
		}
		return err
	})
}

func (e *event) readContext(r reader) error {
	return r.object(func(name []byte) (err error) {
		switch string(name) {
		case "stage":
			e.stage, err = r.text()
		case "requestId":
			e.requestID, err = r.text()
		case "domainName":
			e.host, err = r.text()
		case "http", "identity":
			err = r.object(func(name []byte) (err error) {
				switch string(name) {
				case "method":
					e.method, err = r.text()
				case "sourceIp":
					e.sourceIP, err = r.text()
				default:
					err = r.SkipValue()
				}
				return err
			})
		default:
			err = r.SkipValue()
		}
		return err
	})
}

// values reads query parameters, with one value each or several.
func (r reader) values(several bool) (url.Values, error) {
	values := make(url.Values)
	err := r.object(func(name []byte) error {
		key := string(name)
		read := func() error {
			value, err := r.text()
			values.Add(key, value)
			return err
		}
		if several {
			return r.array(read)
		}
		return read()
	})
	return values, err
}

// request makes the request that the event stands for.
func (e *event) request(ctx context.Context) *http.Request {
	u := e.url()
	r := (&http.Request{
		Method: e.method, URL: u, RequestURI: u.RequestURI(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.header, Host: e.host, RemoteAddr: net.JoinHostPort(e.sourceIP, "0"),
		Body: http.NoBody, ContentLength: int64(len(e.body)),
	}).WithContext(ctx)
	if host := e.header.Get("Host"); host != "" {
		r.Host = host
	}
	delete(e.header, "Host") // as in a request that net/http read
	if len(e.cookies) > 0 {
		e.header["Cookie"] = []string{strings.Join(e.cookies, "; ")}
	}
	if len(e.body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(e.body))
	}
	return r
}

// url is the address within the stage: that of a stage other than $default
// begins with its name. Such a stage must not be called like the beginning of
// a path, "mcp": behind a domain of one's own its name is not in front.
func (e *event) url() *url.URL {
	u := &url.URL{Path: e.path, RawQuery: e.query}
	if e.stage != "" {
		if rest, ok := strings.CutPrefix(u.Path, "/"+e.stage); ok && (rest == "" || rest[0] == '/') {
			u.Path = "/" + strings.TrimPrefix(rest, "/")
		}
	}
	if decoded, err := url.PathUnescape(u.Path); err == nil && decoded != u.Path {
		u.Path, u.RawPath = decoded, u.Path
	}
	if len(e.multiValues) > 0 {
		e.values = e.multiValues
	}
	if e.version != version2 {
		u.RawQuery = e.values.Encode()
	}
	return u
}
