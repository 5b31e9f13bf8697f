package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

func BenchmarkList(b *testing.B) {
	c := newTest(&fake{})
	for b.Loop() {
		listFor(b, c, owner, mcp.V20260728)
	}
}

func BenchmarkCallGet(b *testing.B) {
	benchmarkCall(b, `{"name":"emails_get","arguments":{"id":"`+id1+`"}}`)
}

func BenchmarkCallList(b *testing.B) {
	benchmarkCall(b, `{"name":"emails_list","arguments":{"inbox_id":"`+id1+`","status":"failed","limit":50}}`)
}

func benchmarkCall(b *testing.B, params string) {
	f := &fake{
		email: inbox.Email{
			ID: id1, MessageID: "<1@example.com>", Subject: new("Invoice 7"), From: "ana@example.com", FromName: "Ana", To: []string{"bills@inbox.example"},
			SESMetadata: jsontext.Value(`{"spamVerdict":{"status":"PASS"}}`),
			Attachments: []inbox.Attachment{{Filename: "invoice.pdf", ContentType: "application/pdf", Size: 20_000}},
		},
		content: inbox.EmailContent{Headers: slices.Repeat([]inbox.Header{{Name: "Received", Value: "from mail.example.com"}}, 20), Text: new(strings.Repeat("Please pay the invoice.\n", 50))},
	}
	c := newTest(f)
	for b.Loop() {
		f.asked = f.asked[:0]
		if _, err := send(b.Context(), c, owner, mcp.V20260728, "tools/call", params); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstList is what a cold start pays.
func BenchmarkFirstList(b *testing.B) {
	for b.Loop() {
		listFor(b, newTest(&fake{}), owner, mcp.V20260728)
	}
}
