package mcp

import "github.com/go-json-experiment/json/jsontext"

// The members of _meta that a modern request is judged by (checklist §3).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// body is what a POST carried: one message, or a batch of them.
type body struct {
	text     []byte // all of it
	batch    bool
	count    int       // messages in it
	messages []message // at most the first MaxBatch
}

// message is one JSON-RPC message as it was read, not yet judged. Members are
// raw, and nil when absent: absent, null and empty are different things.
type message struct {
	raw     jsontext.Value
	object  bool // it is an object at all
	jsonrpc jsontext.Value
	id      jsontext.Value
	method  jsontext.Value
	params  jsontext.Value

	// From params:
	name, uri       jsontext.Value // what Mcp-Name repeats
	meta            jsontext.Value
	protocolVersion jsontext.Value // of initialize
	introduction    string         // of initialize: its clientInfo

	// From params._meta:
	version, logLevel, capabilities jsontext.Value
	elicitForm                      bool   // the capabilities include form elicitation
	client                          string // clientInfo
	trace                           string
}

// parse reads a body strictly. Its errors are for -32700.
func parse(text []byte) (b body, err error) {
	b.text = text
	if err := checkDepth(text); err != nil {
		return b, err
	}
	err = scan(text, func(s scanner) error {
		if b.batch = s.dec.PeekKind() == '['; b.batch {
			return s.array(&b)
		}
		return s.item(&b)
	})
	return b, err
}

func (s scanner) array(b *body) error {
	s.dec.ReadToken() // the bracket that was peeked
	for {
		switch s.dec.PeekKind() {
		case ']', jsontext.KindInvalid: // what is wrong, ReadToken says
			_, err := s.dec.ReadToken()
			return err
		}
		if err := s.item(b); err != nil {
			return err
		}
	}
}

// item reads one message into b; those over [MaxBatch] are only counted.
func (s scanner) item(b *body) error {
	m, err := s.message()
	if b.count++; b.count <= MaxBatch {
		b.messages = append(b.messages, m)
	}
	return err
}

func (s scanner) message() (m message, err error) {
	m.object = s.dec.PeekKind() == '{'
	m.raw, err = s.object(func(name []byte) (err error) {
		switch string(name) {
		case "jsonrpc":
			m.jsonrpc, err = s.value()
		case "id":
			m.id, err = s.value()
		case "method":
			m.method, err = s.value()
		case "params":
			m.params, err = s.params(&m)
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return m, err
}

func (s scanner) params(m *message) (jsontext.Value, error) {
	return s.object(func(name []byte) (err error) {
		switch string(name) {
		case "name":
			m.name, err = s.value()
		case "uri":
			m.uri, err = s.value()
		case "protocolVersion":
			m.protocolVersion, err = s.value()
		case "clientInfo":
			m.introduction, err = s.client()
		case "_meta":
			m.meta, err = s.metadata(m)
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
}

func (s scanner) metadata(m *message) (jsontext.Value, error) {
	return s.object(func(name []byte) (err error) {
		switch string(name) {
		case metaVersion:
			m.version, err = s.value()
		case metaCapabilities:
			m.capabilities, err = s.clientCapabilities(m)
		case metaClient:
			m.client, err = s.client()
		case metaLogLevel:
			m.logLevel, err = s.value()
		case "traceparent":
			var v jsontext.Value
			v, err = s.value()
			m.trace = traceparent(v)
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
}

// clientCapabilities notes whether the client can show a form: elicitation {}
// means form, {"url":{}} alone does not (checklist 6.05).
func (s scanner) clientCapabilities(m *message) (jsontext.Value, error) {
	return s.object(func(name []byte) error {
		if string(name) != "elicitation" {
			return s.dec.SkipValue()
		}
		modes, form := 0, false
		v, err := s.object(func(mode []byte) error {
			modes++
			v, err := s.value()
			form = form || string(mode) == "form" && v.Kind() == '{'
			return err
		})
		m.elicitForm = form || modes == 0 && v.Kind() == '{'
		return err
	})
}

// client reads a clientInfo as "name/version"; what is malformed is ignored
// (checklist 14.24).
func (s scanner) client() (string, error) {
	var name, version jsontext.Value
	_, err := s.object(func(member []byte) (err error) {
		switch string(member) {
		case "name":
			name, err = s.value()
		case "version":
			version, err = s.value()
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if err != nil {
		return "", err
	}
	n, ok := text(name)
	if !ok || n == "" {
		return "", nil
	}
	if v, ok := text(version); ok && v != "" {
		n += "/" + v
	}
	return clip(n), nil
}

// invalid says what keeps the message from being a request or a notification,
// or "".
func (m *message) invalid() string {
	rpc, _ := text(m.jsonrpc)
	switch {
	case !m.object:
		return "a message must be a JSON object"
	case rpc != "2.0":
		return `jsonrpc must be "2.0"`
	case m.method.Kind() != '"':
		return "method must be a string"
	case m.id != nil && !validID(m.id):
		return "id must be a string or an integer"
	}
	return ""
}

// notification reports whether a valid message asks for no answer.
func (m *message) notification() bool { return m.id == nil }

// readableID is the id to echo in an answer, nil when the message has none
// that could be one.
func (m *message) readableID() jsontext.Value {
	if m.object && m.id != nil && validID(m.id) {
		return m.id
	}
	return nil
}

// validID accepts strings, and numbers written as integers: 1.0 and 1e2 are
// refused, because no two JSON libraries would echo them alike.
func validID(id jsontext.Value) bool {
	switch id.Kind() {
	case '"':
		return true
	case '0':
		for _, c := range id {
			if c != '-' && (c < '0' || c > '9') {
				return false
			}
		}
		return true
	}
	return false
}

// traceparent returns a well-formed W3C trace context header value, or "".
// Like all of tracing it never fails a request (checklist 13.08).
func traceparent(v jsontext.Value) string {
	const zeros = "00-00000000000000000000000000000000-0000000000000000-00"
	s, _ := text(v)
	if len(s) != len(zeros) || s[:2] == "ff" || s[3:35] == zeros[3:35] || s[36:52] == zeros[36:52] {
		return ""
	}
	for i, c := range []byte(s) {
		dash := zeros[i] == '-'
		if hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'; dash != (c == '-') || !dash && !hex {
			return ""
		}
	}
	return s
}
