package intake

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func TestLongBodiesAreCut(t *testing.T) {
	w := newWorld(t)
	e := w.receive(t, "From: a@b.example\r\n\r\n"+strings.Repeat("Ação \"1\".\r\n", 100000))
	_, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, e.ID)
	if err != nil || !content.Truncated || !utf8.ValidString(*content.Text) || len(*content.Text) < 200<<10 || len(*content.Text) > 256<<10 {
		t.Errorf("text of %d bytes, truncated %v, %v", len(*content.Text), content.Truncated, err)
	}
}

// An attachment is described, and its content is only in the raw message.
func TestCase35_AttachmentsAreMetadata(t *testing.T) {
	w := newWorld(t)
	pdf := bytes.Repeat([]byte("JVBERi0xLjQK"), 2<<20/12)
	lines := slices.Collect(slices.Chunk(pdf, 76))
	raw := "From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee the file.\r\n" +
		"--x\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n" +
		string(bytes.Join(lines, []byte("\r\n"))) + "\r\n--x--\r\n"
	e := w.receive(t, raw)
	email, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, e.ID)
	if err != nil || len(email.Attachments) != 1 || email.Attachments[0].Size != int64(len(pdf)/4*3) {
		t.Fatalf("attachments %+v, %v", email.Attachments, err)
	}
	answer, err := json.Marshal(struct {
		inbox.Email
		Content inbox.EmailContent `json:"content"`
	}{email, content})
	if err != nil || len(answer) > 4<<10 {
		t.Errorf("an e-mail with a 2 MB PDF takes %d bytes, %v", len(answer), err)
	}
}
