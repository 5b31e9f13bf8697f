// Package s3test is a stand-in for S3 in tests: a [Server] keeps one bucket in
// memory, and judges signed links as S3 does. It imports the AWS SDK, nothing
// of this module.
package s3test

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// What the server believes: requests to other buckets, regions or by others
// are refused.
const (
	Bucket = "raw"
	Region = "us-east-1"
)

// Credentials are those of the one who may use the bucket.
var Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
})

// Server is a server that is running.
type Server struct {
	*httptest.Server
	// Fault, unless nil, may answer a request in the server's place; then it
	// returns true. Set it before the server is used.
	Fault func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	objects map[string][]byte
}

// New starts a server. Close ends it.
func New() *Server {
	s := &Server{objects: map[string][]byte{}}
	s.Server = httptest.NewServer(s)
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	key, ok := strings.CutPrefix(r.URL.Path, "/"+Bucket+"/")
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	case !allowed(r):
		fail(w, http.StatusForbidden, "AccessDenied")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err != nil {
			fail(w, http.StatusBadRequest, "IncompleteBody")
			return
		}
		s.objects[key] = data
	case http.MethodGet:
		data, ok := s.objects[key]
		if !ok {
			fail(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		for name, header := range map[string]string{"content-type": "Content-Type", "content-disposition": "Content-Disposition", "cache-control": "Cache-Control"} {
			if v := r.URL.Query().Get("response-" + name); v != "" {
				w.Header().Set(header, v)
			}
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		io.Copy(w, bytes.NewReader(data))
	case http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
	}{Code: code})
}

// allowed judges who asks: a link by its whole signature and its time, a
// request with a signature of its own by the key that it names.
func allowed(r *http.Request) bool {
	q := r.URL.Query()
	if !q.Has("X-Amz-Signature") {
		return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=test/")
	}
	signed, err1 := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	seconds, err2 := strconv.Atoi(q.Get("X-Amz-Expires"))
	if err1 != nil || err2 != nil || !time.Now().Before(signed.Add(time.Duration(seconds)*time.Second)) {
		return false
	}
	again := &http.Request{Method: r.Method, Host: r.Host, Header: http.Header{}}
	again.URL = &url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	signature := q.Get("X-Amz-Signature")
	for _, name := range []string{"Algorithm", "Credential", "Date", "SignedHeaders", "Signature"} {
		q.Del("X-Amz-" + name)
	}
	again.URL.RawQuery = q.Encode()
	c, _ := Credentials(r.Context())
	uri, _, err := v4.NewSigner().PresignHTTP(r.Context(), c, again, "UNSIGNED-PAYLOAD", "s3", Region, signed,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return false
	}
	u, err := url.Parse(uri)
	return err == nil && u.Query().Get("X-Amz-Signature") == signature
}
