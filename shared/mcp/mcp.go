// Package mcp is the protocol: the Model Context Protocol over stateless
// Streamable HTTP with JSON answers, in both eras (2026-07-28 and the 2025
// revisions) on one endpoint. It reads the envelope, decides the era, checks
// headers, calls the method and writes the answer.
//
// It knows nothing of e-mail, people or stores, and imports nothing else of
// this module: whoever speaks MCP imports it.
package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Version names a protocol revision. Revisions are compared by membership,
// never by order (checklist §0).
type Version string

// The revisions served, newest first; see [Versions].
const (
	V20260728 Version = "2026-07-28"
	V20251125 Version = "2025-11-25"
	V20250618 Version = "2025-06-18"
	V20250326 Version = "2025-03-26"
)

// Versions lists the revisions served, newest first, as server/discover and
// UnsupportedProtocolVersion errors show them (checklist 2.03).
func Versions() []Version {
	return []Version{V20260728, V20251125, V20250618, V20250326}
}

// Modern reports whether v belongs to the era in which every request carries
// its own version and capabilities.
func (v Version) Modern() bool { return v == V20260728 }

// Titles reports whether v has titles: a name to show, on the server, tools,
// resources, prompts and their arguments. Before 2025-06-18 only a tool has
// one, among its annotations (checklist 5.07).
func (v Version) Titles() bool { return v != V20250326 }

// Request is one JSON-RPC request whose envelope was checked and whose era is
// decided.
type Request struct {
	Method  string
	Params  jsontext.Value // the params object with its _meta; "{}" when absent
	Version Version
	// ElicitForm reports whether this very request declares a client that can
	// show a form (checklist 6.05). It is always false in the 2025 era.
	ElicitForm bool
	// Client is the clientInfo as "name/version", for logs only: it is the
	// client's own claim and decides nothing (checklist 2.19).
	Client string
	// Trace is the traceparent of _meta when it is well-formed, else "".
	Trace string
}

// Method answers one JSON-RPC method. It decides first, before anything runs,
// whether this request may be served: it decodes the params, judges
// permission and scope, and returns what to run. A batch judges all its items
// before it runs any.
//
// Errors are an [*Error] (a JSON-RPC error), a [*Refusal] (an HTTP status and
// headers) or anything else, which is logged and shown as -32603.
type Method func(ctx context.Context, r *Request) (Run, error)

// Run does what a [Method] decided may be done. Its errors are those of Method.
type Run func(ctx context.Context) (*Result, error)

// Result is what a method answers: the members that the result has in every
// era. The server adds resultType, serverInfo and caching hints where the
// era has them (checklist 3.04, 3.05, 3.08, 11.01).
type Result struct {
	// Fields is a JSON object without _meta; "{}" and nil are the same. It must
	// be valid JSON: it is sent as it is.
	Fields jsontext.Value
	// Meta is a JSON object merged into the result's _meta, or nil.
	Meta jsontext.Value
	// Cache is the caching hint of the six cacheable methods, where nil means
	// private and stale at once. It is ignored elsewhere.
	Cache *Cache
	// Outcome says in a word how it ended where that is not plain success, such
	// as the code of a tool error. It is for [Observation], and is not sent.
	Outcome string
	// InputRequired marks an interim result of 2026-07-28 that asks the client
	// for input (checklist 6.02). It never carries caching hints.
	InputRequired bool
}

// Cache says how long, and for whom, a client may keep a result (checklist §11).
type Cache struct {
	TTL    time.Duration
	Public bool // false: "private", this caller only
}

// Implementation names this server to clients.
type Implementation struct{ Name, Title, Version string }

func (i Implementation) json() jsontext.Value {
	o := NewObject().Text("name", i.Name)
	if i.Title != "" {
		o.Text("title", i.Title)
	}
	return o.Text("version", i.Version).Close()
}

// Options configure a [Server]. The zero value of each field but Info and
// Methods has a working default.
type Options struct {
	Info         Implementation
	Instructions string
	// Core makes the server answer the protocol's own methods: initialize, ping
	// and server/discover, which announce every family in Methods and Forward.
	// A family function leaves them to the router, and does not find them.
	Core bool
	// Methods are the methods of the families this server runs, by name.
	Methods map[string]Method
	// Forward, in a router, hands a family's requests on, by family name:
	// "tools", "resources", "prompts", "completion". A method of a forwarded
	// family that is also in Methods is only judged there, for batches. Without
	// Forward there are no batches.
	Forward map[string]http.Handler
	// Authenticate verifies the request's credentials and returns the context
	// that carries them, made from r.Context(). It runs before the body is read;
	// in a router, after it was read and found not to be for a family.
	Authenticate func(r *http.Request) (context.Context, error)
	// Admit turns verified credentials into a caller, before any method but
	// ping. Limit counts the request just before it runs, except ping. Both also
	// judge every item of a batch, before its family does the same.
	Admit func(ctx context.Context, method string) (context.Context, error)
	Limit func(ctx context.Context, method string) error
	// AllowOrigin judges an Origin header that is present; nil allows none.
	AllowOrigin func(origin string) bool
	// AllowHeaders are request headers that scripts of an allowed origin may
	// send, beside those of the protocol.
	AllowHeaders []string
	// Timeout bounds an exchange; after it the answer is -32603, its message
	// beginning "timeout:", and what the method still does is lost. An earlier
	// deadline of the request's context counts too, less a tenth. Default 20 s.
	Timeout time.Duration
	// Observe, when set, is told of every request after it was answered, in a
	// context that carries the caller if there was one and is not cancelled. A
	// router is not told of what it forwards: the family is, and [Forwarded] is
	// for who hands it on. A batch is one observation, its method "batch".
	Observe func(ctx context.Context, o Observation)
}

// Observation is what logs and metrics may know of one request: never bodies,
// tokens or requestState.
type Observation struct {
	Method   string // as sent, like Subject and Client: at most 128 bytes
	Subject  string // params.name or params.uri
	Version  Version
	Client   string
	Trace    string
	Status   int    // HTTP status
	Code     int    // JSON-RPC error code, 0 for a result
	Outcome  string // of the [Result], "" for plain success
	Duration time.Duration
	Cause    error // what broke, for the log only
}
