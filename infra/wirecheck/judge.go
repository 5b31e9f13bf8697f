package wirecheck

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// results are the types that methods answer.
var results = map[string]string{
	"initialize":               "InitializeResult",
	"ping":                     "EmptyResult",
	"server/discover":          "DiscoverResult",
	"tools/list":               "ListToolsResult",
	"tools/call":               "CallToolResult",
	"resources/list":           "ListResourcesResult",
	"resources/templates/list": "ListResourceTemplatesResult",
	"resources/read":           "ReadResourceResult",
	"prompts/list":             "ListPromptsResult",
	"prompts/get":              "GetPromptResult",
	"completion/complete":      "CompleteResult",
}

// errorTypes are the types of errors that have one, in 2026-07-28.
var errorTypes = map[int]string{
	mcp.CodeHeaderMismatch:      "HeaderMismatchError",
	mcp.CodeMissingCapability:   "MissingRequiredClientCapabilityError",
	mcp.CodeUnsupportedProtocol: "UnsupportedProtocolVersionError",
}

// Codes that must not leave the server in one era (checklist §4).
var (
	notModern = []int{mcp.CodeResourceNotFound, -32042}
	notLegacy = []int{mcp.CodeHeaderMismatch, mcp.CodeMissingCapability}
)

// request is what of a request its answer depends on.
type request struct {
	id      jsontext.Value // nil: none that can be read
	method  string
	version string // in _meta
	unread  bool   // it may have been refused before its body was read
}

// readRequest reads what it can of a message, which may be anything.
func readRequest(message []byte) (q request) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method jsontext.Value `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil {
		return q
	}
	if k := m.ID.Kind(); k == '"' || k == '0' && !strings.ContainsAny(string(m.ID), ".eE") {
		q.id = m.ID
	}
	var params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	// What is not of these types is as if it were absent.
	json.Unmarshal(m.Method, &q.method)
	json.Unmarshal(m.Params, &params)
	q.version = params.Meta.Version
	return q
}

type response struct {
	ID     jsontext.Value `json:"id"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Code int `json:"code"`
	} `json:"error"`
}

// faults judges the answer to what was sent.
func (s schemas) faults(header http.Header, sent []byte, a answer) []error {
	if len(a.body) == 0 {
		if a.status != http.StatusAccepted && a.status != http.StatusNoContent {
			return []error{fmt.Errorf("HTTP %d without a body", a.status)}
		}
		return nil
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		return []error{fmt.Errorf("the content type is %q", got)}
	}
	if jsontext.Value(a.body).Kind() == '[' {
		return s.batchFaults(sent, a.body)
	}
	q := readRequest(sent)
	q.unread = unread(a)
	return s.answerFaults(revision(header, q), q, a.body)
}

// ahead reports whether what stands ahead of the server gave the answer: the
// local server's gate, a gateway. They speak plain text.
func ahead(a answer) bool {
	switch a.status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError:
		return strings.HasPrefix(a.header.Get("Content-Type"), "text/plain")
	}
	return false
}

// unread reports whether an answer is one that may be decided before the body
// is read, or when it could not be, and then it has no id.
func unread(a answer) bool {
	var got response
	if json.Unmarshal(a.body, &got) == nil && got.Error != nil && (got.Error.Code == a.status || got.Error.Code == mcp.CodeParse) {
		return true
	}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge:
		return true
	}
	return false
}

// revision is the one that the request is served in, by what it says of
// itself (checklist §0, step 7).
func revision(header http.Header, q request) mcp.Version {
	named := mcp.Version(strings.TrimSpace(header.Get("MCP-Protocol-Version")))
	if q.version != "" {
		named = mcp.Version(q.version)
	}
	switch {
	case named == "":
		return mcp.V20250326
	case slices.Contains(mcp.Versions(), named):
		return named
	}
	return mcp.V20260728
}

// batchFaults judges the answers to an array of messages, which only
// 2025-03-26 has. Each belongs to the request that has its id.
func (s schemas) batchFaults(sent, body []byte) (faults []error) {
	var requests, answers []jsontext.Value
	if err := json.Unmarshal(sent, &requests); err != nil {
		return []error{fmt.Errorf("an array answers what was none: %w", err)}
	}
	if err := json.Unmarshal(body, &answers); err != nil {
		return []error{err}
	}
	for _, a := range answers {
		var got response
		if err := json.Unmarshal(a, &got); err != nil {
			faults = append(faults, err)
			continue
		}
		var asked request
		for _, r := range requests {
			if q := readRequest(r); q.id != nil && string(q.id) == string(got.ID) {
				asked = q
			}
		}
		faults = append(faults, s.answerFaults(mcp.V20250326, asked, a)...)
	}
	return faults
}

// answerFaults judges one response to q, in revision v.
func (s schemas) answerFaults(v mcp.Version, q request, body []byte) (faults []error) {
	var got response
	if err := json.Unmarshal(body, &got); err != nil {
		return []error{err}
	}
	fault := func(err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s in %s: %w", q.method, v, err))
		}
	}
	if (got.Result == nil) == (got.Error == nil) {
		fault(fmt.Errorf("neither a result nor an error, or both"))
		return faults
	}
	// Without an id that could be read, the answer has none, or null (checklist
	// 4.02).
	missing := got.ID == nil || got.ID.Kind() == 'n'
	if string(got.ID) != string(q.id) && !((q.id == nil || q.unread) && missing) {
		fault(fmt.Errorf("the id is %s", got.ID))
	}
	if got.Error != nil {
		if missing {
			body = withID(body)
		}
		fault(s.errorFault(v, got.Error.Code, body))
		return faults
	}
	if q.method == "initialize" {
		v = negotiated(got.Result)
	}
	fault(s.resultFault(v, q.method, got.Result))
	return faults
}

// withID gives an error without an id one: the older schemas want it.
func withID(body []byte) []byte {
	var members map[string]jsontext.Value
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	members["id"] = jsontext.Value("0")
	text, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return text
}

// negotiated is the revision that an InitializeResult names.
func negotiated(result jsontext.Value) mcp.Version {
	var r struct {
		ProtocolVersion mcp.Version `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &r) == nil && slices.Contains(mcp.Versions(), r.ProtocolVersion) && !r.ProtocolVersion.Modern() {
		return r.ProtocolVersion
	}
	return mcp.V20251125
}

func (s schemas) errorFault(v mcp.Version, code int, body []byte) error {
	typeName, forbidden := "JSONRPCError", notLegacy
	switch v {
	case mcp.V20260728:
		typeName, forbidden = "JSONRPCErrorResponse", notModern
		if t := errorTypes[code]; t != "" {
			typeName = t
		}
	case mcp.V20251125:
		typeName = "JSONRPCErrorResponse"
	}
	if slices.Contains(forbidden, code) {
		return fmt.Errorf("the code %d does not belong there", code)
	}
	return s[v].open.validate(typeName, body)
}

// resultFault judges a result: of its type, and without a member that the
// revision does not have.
func (s schemas) resultFault(v mcp.Version, method string, result jsontext.Value) error {
	typeName := results[method]
	var r struct {
		Type  string                    `json:"resultType"`
		Asks  jsontext.Value            `json:"inputRequests"`
		State jsontext.Value            `json:"requestState"`
		Meta  map[string]jsontext.Value `json:"_meta"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	switch {
	case typeName == "":
		return fmt.Errorf("a result of a method that there is not")
	case !v.Modern():
		for key := range r.Meta {
			if strings.HasPrefix(key, "io.modelcontextprotocol/") {
				return fmt.Errorf("_meta has %s", key)
			}
		}
		if method == "ping" && string(result) != "{}" {
			return fmt.Errorf("a ping answers %s", result)
		}
	case r.Type == "input_required":
		typeName = "InputRequiredResult"
		if r.Asks == nil && r.State == nil {
			return fmt.Errorf("it asks nothing and has no state")
		}
	case r.Type != "complete":
		return fmt.Errorf("resultType is %q", r.Type)
	}
	return s[v].closed.validate(typeName, result)
}
