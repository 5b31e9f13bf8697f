package mcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const headerVersion = "Mcp-Protocol-Version" // as http.Header spells it

// logLevels are the values that _meta's logLevel may have (checklist 13.06).
// Nothing is ever logged to a client.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// era decides the revision that a request is served in, from the version
// header and the version in _meta (checklist §0 step 7). Its errors are HTTP
// 400 in either era.
func era(h http.Header, m *message) (Version, error) {
	header, given := headerValue(h, headerVersion)
	if m.version == nil {
		return eraByHeader(header, given, m)
	}
	version, ok := text(m.version)
	switch {
	case !ok:
		return "", refuse(http.StatusBadRequest, CodeInvalidParams, "_meta[%q] must be a string", metaVersion)
	case !given:
		return V20260728, refuse(http.StatusBadRequest, CodeHeaderMismatch, "the MCP-Protocol-Version header is missing")
	case header != version:
		return V20260728, refuse(http.StatusBadRequest, CodeHeaderMismatch, "the MCP-Protocol-Version header is not the version in _meta")
	}
	return supported(version)
}

// eraByHeader decides for a request whose body names no version.
func eraByHeader(header string, given bool, m *message) (Version, error) {
	if !given {
		return negotiated(m, V20250326), nil
	}
	v, err := supported(header)
	switch {
	case err != nil:
		return "", err
	case !v.Modern():
		return negotiated(m, v), nil
	case m.params != nil && m.params.Kind() != '{':
		return v, refuse(http.StatusBadRequest, CodeInvalidParams, "params must be an object")
	}
	return v, refuse(http.StatusBadRequest, CodeInvalidParams, "_meta[%q] is missing", metaVersion)
}

// negotiated is the version of a 2025 request: for initialize the one it asks
// for, or else the newest of that era (checklist 2.08); for others, v.
func negotiated(m *message, v Version) Version {
	if name, _ := text(m.method); name != methodInitialize {
		return v
	}
	asked, _ := text(m.protocolVersion)
	if v, err := supported(asked); err == nil && !v.Modern() {
		return v
	}
	return V20251125
}

// supported returns the revision called name, or the refusal that lists those
// there are (checklist 1.13).
func supported(name string) (Version, error) {
	if v := Version(name); slices.Contains(Versions(), v) {
		return v, nil
	}
	r := refuse(http.StatusBadRequest, CodeUnsupportedProtocol, "unsupported protocol version")
	r.Err.Data = NewObject().Value("supported", versionList()).Text("requested", name).Close()
	return "", r
}

// versionList is [Versions] as a JSON array.
func versionList() jsontext.Value {
	b := []byte{'['}
	for i, v := range Versions() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, string(v))
	}
	return append(b, ']')
}

// checkModern judges what every request of 2026-07-28 must carry, before its
// method is looked at (checklist §0 step 8).
func checkModern(h http.Header, m *message) error {
	if m.capabilities.Kind() != '{' {
		return refuse(http.StatusBadRequest, CodeInvalidParams, "_meta[%q] must be an object", metaCapabilities)
	}
	return checkHeaders(h, m)
}

// checkLogLevel refuses a log level that the protocol does not have.
func checkLogLevel(m *message) error {
	if m.logLevel == nil {
		return nil
	}
	if level, _ := text(m.logLevel); !slices.Contains(logLevels, level) {
		return Errorf(CodeInvalidParams, "_meta[%q] must be one of %s", metaLogLevel, strings.Join(logLevels, ", "))
	}
	return nil
}
