package mail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"iter"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// bodyReader collects the texts and attachments of a message's parts.
type bodyReader struct {
	m          *Message
	parts      int
	left       int // bytes of text that may still be read
	text, html body
	charset    string // of the first text that names one
}

// body is the text or the HTML of a message, from one part or several.
type body struct {
	strings.Builder
	found bool // there is such a part, be it empty
}

// place is where a part stands.
type place struct {
	depth       int    // multiparts around it
	parent      string // media type of the multipart around it, "" for none
	alternative bool   // a multipart/alternative is among those around it
}

// readBody reads the body whose header is h, and returns the charset of its
// first text.
func (m *Message) readBody(h header, b []byte) (charset string) {
	r := &bodyReader{m: m, left: maxBodySize}
	r.part(h, b, place{})
	blank := strings.TrimSpace(r.text.String()) == ""
	if r.text.found && !(blank && r.html.found) {
		m.Text = new(r.text.String())
	}
	if r.html.found {
		m.HTML = new(r.html.String())
	}
	return r.charset
}

// part reads one part and those within it.
func (r *bodyReader) part(h header, b []byte, at place) {
	mediaType, p := mediaType(h, at.parent)
	if strings.HasPrefix(mediaType, "multipart/") {
		switch {
		case at.depth == maxDepth:
			r.m.Incomplete = true
			r.m.warn("The message nests its parts too deeply; the innermost were not read.")
		case r.multipart(mediaType, p["boundary"], b, at) || len(bytes.TrimSpace(b)) == 0:
			return
		default:
			r.m.warn("A multipart of the message has no parts; its content was taken as text.")
			mediaType = "text/plain"
		}
	}

	content, ok := decodeTransfer(b, h.get("Content-Transfer-Encoding"))
	if !ok {
		r.m.warn("A part of the message is not in the transfer encoding that it names; it was taken as it is.")
	}
	disposition, dp := parseParams(h.get("Content-Disposition"))
	name := fileName(dp.text("filename", r.charset))
	if name == "" {
		name = fileName(p.text("name", r.charset))
	}
	if disposition == "attachment" || name != "" && at.depth > 0 || !isText(mediaType, at) {
		r.attach(h, mediaType, disposition, name, content)
		return
	}
	r.addText(mediaType, p["charset"], content, at)
}

// multipart reads the parts of a multipart; it returns false when b has none.
func (r *bodyReader) multipart(mediaType, boundary string, b []byte, at place) (found bool) {
	at.depth++
	at.parent = mediaType
	at.alternative = at.alternative || mediaType == "multipart/alternative"
	for part := range split(b, boundary) {
		if r.parts++; r.parts > maxParts {
			r.m.Incomplete = true
			r.m.warn("The message has too many parts; not all were read.")
			return true
		}
		h, content := parseHeader(part)
		if len(h.fields) > 0 || len(bytes.TrimSpace(content)) > 0 {
			r.part(h, content, at)
		}
		found = true
	}
	return found
}

// addText adds a part to the text or the HTML.
func (r *bodyReader) addText(mediaType, charset string, content []byte, at place) {
	s := r.decode(mediaType, charset, content)
	switch {
	case mediaType == "text/html":
		r.html.add(s)
	case mediaType != "text/plain" && (r.text.found || r.html.found):
		// The same body in yet another form, such as text/enriched.
	case r.html.found && !r.text.found && !at.alternative:
		// A footer behind HTML: as the only plain text it would pass for all.
		r.html.add("<pre>" + html.EscapeString(s) + "</pre>")
	default:
		r.text.add(s)
	}
}

// decode returns text as UTF-8 with \n for its line ends, as far as the bound
// allows.
func (r *bodyReader) decode(mediaType, name string, content []byte) string {
	if len(content) > r.left {
		content, r.m.Truncated = content[:r.left], true
	}
	r.left -= len(content)
	if name == "" && mediaType == "text/html" {
		_, name, _ = charset.DetermineEncoding(content[:min(len(content), 1024)], "")
	} else if r.charset == "" {
		r.charset = name
	}
	s := toUTF8(content, name, r.charset)
	s = strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n")
	return strings.ReplaceAll(s, "\r", "\n")
}

// add appends s, on a new line.
func (b *body) add(s string) {
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(s)
	b.found = true
}

// attach lists a part as an attachment.
func (r *bodyReader) attach(h header, mediaType, disposition, name string, content []byte) {
	if len(r.m.Attachments) == maxAttachments {
		r.m.Incomplete = true
		r.m.warn("The message has too many attachments; not all are listed.")
		return
	}
	if name == "" {
		name = fileName(decodeText(h.get("Content-Location"), r.charset))
	}
	id := strings.Trim(h.get("Content-ID"), "<> ")
	sum := sha256.Sum256(content)
	r.m.Attachments = append(r.m.Attachments, inbox.Attachment{
		Filename:    name,
		ContentType: mediaType,
		Size:        int64(len(content)),
		Inline:      disposition == "inline" || disposition == "" && id != "",
		ContentID:   clip.Bytes(valid(id), maxNameSize),
		SHA256:      hex.EncodeToString(sum[:]),
	})
}

// split yields the parts of a multipart body; a missing closing line is
// forgiven.
func split(b []byte, boundary string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		boundary = strings.TrimRight(boundary, " \t")
		_, part, closing := cutDelimiter(b, boundary)
		for part != nil && !closing {
			var content []byte
			content, part, closing = cutDelimiter(part, boundary)
			if !yield(content) {
				return
			}
		}
	}
}

// cutDelimiter splits b around its first delimiter line (RFC 2046 5.1.1), to
// which the line end before it belongs; after is nil when there is none. A line
// that only begins like one is none.
func cutDelimiter(b []byte, boundary string) (before, after []byte, closing bool) {
	delimiter := []byte("\n--" + boundary)
	for at := 0; boundary != ""; { // at the beginning of a line
		if !bytes.HasPrefix(b[at:], delimiter[1:]) {
			i := bytes.Index(b[at:], delimiter)
			if i < 0 {
				break
			}
			at += i + 1
		}
		line, rest := cutLine(b[at:])
		line = bytes.TrimRight(line[len(delimiter)-1:], " \t")
		if closing = string(line) == "--"; closing || len(line) == 0 {
			return trimLineEnd(b[:at]), rest, closing
		}
		at = len(b) - len(rest)
	}
	return b, nil, false
}

// trimLineEnd removes the line end before a boundary, which belongs to it.
func trimLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// mediaType returns the media type of a part, in lower case, and its
// parameters; without a valid one, the default of its place (RFC 2045 5.2, RFC
// 2046 5.1.5).
func mediaType(h header, parent string) (string, params) {
	v, p := parseParams(h.get("Content-Type"))
	major, minor, _ := strings.Cut(v, "/")
	invalid := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"[]?=`, r) }
	switch {
	case major != "" && minor != "" && len(v) <= 127 && !strings.ContainsFunc(v, invalid):
		return v, p
	case v == "" && parent == "multipart/digest":
		return "message/rfc822", p
	}
	return "text/plain", p
}

// isText reports whether a part of that type is the message's body, if it is
// no file.
func isText(mediaType string, at place) bool {
	switch mediaType {
	case "text/plain", "text/html":
		return true
	case "text/calendar":
		return false
	}
	return at.alternative && strings.HasPrefix(mediaType, "text/")
}

// fileName returns name without its folders (RFC 2183 2.3), within bounds.
func fileName(name string) string {
	return clip.Bytes(name[strings.LastIndexAny(name, `/\`)+1:], maxNameSize)
}
