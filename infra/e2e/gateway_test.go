package e2e

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// gateway is an HTTP API: it makes a request an event (payload format 2.0),
// has the function of its route answer, and makes that an answer again.
//
//   - ANY /mcp/{family} is the family's
//   - ANY /mcp and $default are the router's
type gateway struct {
	invoke func(ctx context.Context, function string, event []byte) ([]byte, error)
}

// route is the name of the route of a path, and the function that answers it.
func route(path string) (name, function string) {
	family, ok := strings.CutPrefix(path, "/mcp/")
	switch {
	case ok && families[family]:
		return "ANY " + path, family
	case path == "/mcp":
		return "ANY /mcp", "router"
	}
	return "$default", "router"
}

// ServeHTTP implements [http.Handler].
func (g gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, `{"message":"Bad Request"}`, http.StatusBadRequest)
		return
	}
	name, function := route(r.URL.Path)
	event, err := json.Marshal(eventOf(r, body, name))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	out, err := g.invoke(ctx, function, event)
	var answer struct {
		StatusCode      int               `json:"statusCode"`
		Headers         map[string]string `json:"headers"`
		Cookies         []string          `json:"cookies"`
		Body            []byte            `json:"-"`
		Text            string            `json:"body"`
		IsBase64Encoded bool              `json:"isBase64Encoded"`
	}
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil || answer.StatusCode == 0 {
		http.Error(w, `{"message":"Internal Server Error"}`, http.StatusInternalServerError)
		return
	}
	for name, value := range answer.Headers {
		if strings.EqualFold(name, "WWW-Authenticate") {
			name = "X-Amzn-Remapped-Www-Authenticate" // as some stages do (field case 1)
		}
		w.Header().Set(name, value)
	}
	for _, cookie := range answer.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	answer.Body = []byte(answer.Text)
	if answer.IsBase64Encoded {
		if answer.Body, err = base64.StdEncoding.DecodeString(answer.Text); err != nil {
			http.Error(w, `{"message":"Internal Server Error"}`, http.StatusInternalServerError)
			return
		}
	}
	w.WriteHeader(answer.StatusCode)
	w.Write(answer.Body)
}

// eventOf is the event of a request.
func eventOf(r *http.Request, body []byte, routeKey string) object {
	headers := object{"host": r.Host, "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "https", "x-forwarded-port": "443"}
	for name, values := range r.Header {
		if name != "Connection" && name != "Cookie" {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	event := object{
		"version": "2.0", "routeKey": routeKey, "rawPath": r.URL.Path, "rawQueryString": r.URL.RawQuery, "headers": headers,
		"requestContext": object{
			"accountId": "123456789012", "apiId": "e2e", "domainName": r.Host, "domainPrefix": "e2e", "stage": "$default",
			"requestId": uuid.NewString(), "routeKey": routeKey,
			"http": object{"method": r.Method, "path": r.URL.Path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": r.UserAgent()},
			"time": time.Now().Format("02/Jan/2006:15:04:05 -0700"), "timeEpoch": time.Now().UnixMilli(),
		},
		"isBase64Encoded": false,
	}
	if cookies := r.Header.Values("Cookie"); cookies != nil {
		event["cookies"] = cookies
	}
	switch {
	case len(body) == 0:
	case utf8.Valid(body):
		event["body"] = string(body)
	default:
		event["body"], event["isBase64Encoded"] = base64.StdEncoding.EncodeToString(body), true
	}
	return event
}
