package arriving

import (
	"bytes"
	"iter"
	netmail "net/mail"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/net/publicsuffix"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

// senderOf says whether the address that a message is from is its sender's:
// where SES found that it passes DMARC, or else, as forwarding breaks that,
// where it has a valid signature (DKIM) of the address's organization. A
// message that is not from one address alone is from nobody. Of a domain that is
// not in ASCII, DMARC says nothing: SES may read it as another than it is here.
func senderOf(r events.SimpleEmailReceipt, raw []byte) pipeline.Sender {
	domain := fromDomain(raw)
	if domain == "" {
		return pipeline.SenderUnauthenticated
	}
	if r.DMARCVerdict.Status == "PASS" && !strings.ContainsFunc(domain, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return pipeline.SenderVerified
	}
	for signer := range signers(raw) {
		if aligned(signer, domain) {
			return pipeline.SenderVerified
		}
	}
	return pipeline.SenderUnauthenticated
}

// fromDomain is the domain of the one address that the message is from, or "".
// It is read in two ways, of which the second is the pipeline's: where they
// disagree, SES may have seen a third one.
func fromDomain(raw []byte) string {
	var from []string
	for name, lines := range headerFields(raw) {
		if strings.EqualFold(name, "From") {
			from = append(from, strings.ToValidUTF8(strings.Join(lines, " "), "?"))
		}
	}
	if len(from) != 1 {
		return ""
	}
	list, err := netmail.ParseAddressList(encodedWord.ReplaceAllString(from[0], "word"))
	m, err2 := mail.Parse(raw)
	if err != nil || err2 != nil || len(list) != 1 || list[0].Address != m.From {
		return ""
	}
	return m.From[strings.LastIndexByte(m.From, '@')+1:]
}

// encodedWord is a word of a name (RFC 2047), whatever is in it: some programs
// leave commas there.
var encodedWord = regexp.MustCompile(`=\?[^?\s]+\?[BQbq]\?[^?\s]*\?=`)

// domainIn is what SES writes of a signature that it found valid. In all of the
// line, for what a sender says of itself to SES (HELO, MAIL FROM) is in lines of
// the same field, and may be made to look like a result.
var domainIn = regexp.MustCompile(`^dkim=pass header\.(?:i=[^\s;"()@]*@|d=)([A-Za-z0-9.-]+);?$`)

// signers yields the domains whose signatures SES found valid, by the
// Authentication-Results that it put on top of the message. Others are further
// below, and anybody can write those.
func signers(raw []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		received := false
		for name, lines := range headerFields(raw) {
			switch name = strings.ToLower(name); {
			case name == "received" && !received:
				received = true // by SES
			case name == "return-path", name == "received-spf", name == "x-ses-spam-verdict", name == "x-ses-virus-verdict":
			case name == "authentication-results" && received && lines[0] == "amazonses.com;":
				for _, line := range lines[1:] {
					if m := domainIn.FindStringSubmatch(line); m != nil && !yield(m[1]) {
						return
					}
				}
				return
			default: // not what SES begins with
				return
			}
		}
	}
}

// aligned reports whether two domains are of one organization (RFC 7489 3.1,
// relaxed).
func aligned(a, b string) bool {
	a, b = organization(a), organization(b)
	return a != "" && a == b
}

// organization is the domain that somebody registered, of one at it or below
// it, or "".
func organization(domain string) string {
	ascii, ok := inbox.NormalDomain(domain)
	registered, err := publicsuffix.EffectiveTLDPlusOne(ascii)
	if !ok || err != nil {
		return ""
	}
	return registered
}

// maxHeader is how much of a message is read for its header, as in package
// mail.
const maxHeader = 512 << 10

// headerFields yields the fields of a message's header as they stand: the name,
// and the lines of the value without space around them.
func headerFields(raw []byte) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		name, value := "", []string(nil)
		for line := range bytes.Lines(raw[:min(len(raw), maxHeader)]) {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
				value = append(value, string(bytes.TrimSpace(line)))
				continue
			}
			if name != "" && !yield(name, value) {
				return
			}
			if len(line) == 0 {
				return
			}
			before, after, _ := bytes.Cut(line, []byte(":"))
			name, value = string(bytes.TrimRight(before, " \t")), []string{string(bytes.TrimSpace(after))}
		}
		if name != "" {
			yield(name, value)
		}
	}
}
