package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// headerValue returns a header's value without the space around it, and
// whether it was sent. A header sent twice has both values, joined as a
// gateway would.
func headerValue(h http.Header, name string) (value string, given bool) {
	switch values := h[name]; len(values) {
	case 0:
		return "", false
	case 1:
		return strings.Trim(values[0], " \t"), true
	default:
		return strings.Join(values, ", "), true
	}
}

// checkHeaders compares Mcp-Method and Mcp-Name with the body (checklist 1.17
// to 1.22). A method without a name source may carry any Mcp-Name; a body
// whose name is missing or no string is the method's to refuse.
func checkHeaders(h http.Header, m *message) error {
	name, _ := text(m.method)
	header, given := headerValue(h, "Mcp-Method")
	switch {
	case !given:
		return mismatch("the Mcp-Method header is missing")
	case header != name:
		return mismatch("the Mcp-Method header is not the body's method")
	}
	source := methods[name].name
	want, ok := text(m.nameSource(source))
	if !ok {
		return nil
	}
	header, given = headerValue(h, "Mcp-Name")
	if !given {
		return mismatch("the Mcp-Name header is missing")
	}
	got, ok := decodeHeader(header)
	switch {
	case !ok:
		return mismatch("the Mcp-Name header is malformed")
	case got != want || len(h["Mcp-Name"]) > 1:
		return mismatch("the Mcp-Name header is not the body's params." + source)
	}
	return nil
}

// nameSource is the member of params that Mcp-Name repeats.
func (m *message) nameSource(member string) []byte {
	switch member {
	case "name":
		return m.name
	case "uri":
		return m.uri
	}
	return nil
}

// decodeHeader reads a header value that may be =?base64?…?=, standard base64
// of UTF-8 (checklist 1.19 to 1.21). The markers are exact; without them the
// value is literal, and then it is printable ASCII.
func decodeHeader(value string) (string, bool) {
	for _, c := range []byte(value) {
		if (c < ' ' || c > '~') && c != '\t' {
			return "", false
		}
	}
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value, true
	}
	encoded, ok = strings.CutSuffix(encoded, "?=")
	if !ok {
		return value, true
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return string(decoded), err == nil
}

func mismatch(message string) *Refusal {
	return refuse(http.StatusBadRequest, CodeHeaderMismatch, "%s", message)
}
