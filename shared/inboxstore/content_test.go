package inboxstore

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func TestContentIsCutToFit(t *testing.T) {
	long := func(s string) *string { return new(strings.Repeat(s, 600<<10/len(s))) }
	for _, c := range []struct {
		name       string
		in         inbox.EmailContent
		text, html int // bytes kept
		truncated  bool
	}{
		{"small", inbox.EmailContent{Text: new("text"), HTML: new("<p>")}, 4, 3, false},
		{"exactly 256 KiB", inbox.EmailContent{Text: new(strings.Repeat("x", maxBody))}, maxBody, -1, false},
		{"a byte more", inbox.EmailContent{Text: new(strings.Repeat("x", maxBody+1))}, maxBody, -1, true},
		{"text first", inbox.EmailContent{Text: long("x"), HTML: long("y")}, maxBody, 0, true},
		{"HTML has the rest", inbox.EmailContent{Text: new("text"), HTML: long("y")}, 4, maxBody - 4, true},
		{"whole characters", inbox.EmailContent{Text: new("x" + *long("é"))}, maxBody - 1, -1, true},
		{"escapes of two", inbox.EmailContent{Text: long("\"")}, maxBodyEscaped / 2, -1, true},
		{"escapes of six", inbox.EmailContent{Text: long("\x01")}, maxBodyEscaped / 6, -1, true},
		{"not UTF-8", inbox.EmailContent{Text: new("a\xffb")}, 5, -1, false},
		{"truncated before", inbox.EmailContent{Text: new("a"), Truncated: true}, 1, -1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := fit(c.in)
			size := func(s *string) int {
				if s == nil {
					return -1
				}
				return len(*s)
			}
			if size(got.Text) != c.text || size(got.HTML) != c.html || got.Truncated != c.truncated {
				t.Errorf("text %d, HTML %d, truncated %v; want %d, %d, %v", size(got.Text), size(got.HTML), got.Truncated, c.text, c.html, c.truncated)
			}
		})
	}
}

func TestHeadersAreCutToFit(t *testing.T) {
	many := make([]inbox.Header, 5000)
	for i := range many {
		many[i] = inbox.Header{Name: "X-Spam", Value: strings.Repeat("v", 100)}
	}
	if got := fit(inbox.EmailContent{Headers: many}); len(got.Headers) == 0 || len(got.Headers) == 5000 || !got.Truncated {
		t.Errorf("%d headers of 5000, truncated %v", len(got.Headers), got.Truncated)
	}
	got := fit(inbox.EmailContent{Headers: []inbox.Header{{Name: "A", Value: strings.Repeat("\x01", 1<<20)}, {Name: "B", Value: "b"}}})
	if len(got.Headers) != 2 || got.Headers[1].Value != "b" || !got.Truncated {
		t.Errorf("after a huge header: %d headers, truncated %v", len(got.Headers), got.Truncated)
	}
}

func FuzzContentFitsAnItem(f *testing.F) {
	f.Add("text", "<p>", "Subject", "Olá", uint16(1))
	f.Add("\"\\\x00", "\u2028\xff", "X", "\x01", uint16(60000))
	f.Add("😀", "é", "\"", "\\", uint16(30000))
	f.Fuzz(func(t *testing.T, text, html, name, value string, times uint16) {
		n := int(times)
		headers := make([]inbox.Header, n%2000)
		for i := range headers {
			headers[i] = inbox.Header{Name: name, Value: value}
		}
		repeat := func(s string) *string { return new(strings.Repeat(s, min(n, 1<<20/max(len(s), 1)))) }
		got := fit(inbox.EmailContent{Headers: headers, Text: repeat(text), HTML: repeat(html)})
		if !utf8.ValidString(*got.Text) || !utf8.ValidString(*got.HTML) || len(*got.Text)+len(*got.HTML) > maxBody {
			t.Errorf("text %d bytes, HTML %d bytes, or not UTF-8", len(*got.Text), len(*got.HTML))
		}
		b, err := encode(got)
		item := store.Item{Key: space(strings.Repeat("w", 36)).content(inbox.NewID(noon)), Value: b}
		if err != nil || item.Size() > store.MaxItemBytes {
			t.Errorf("item of %d bytes, %v", item.Size(), err)
		}
	})
}
