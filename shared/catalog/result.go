package catalog

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// The codes of tool errors beside those of an [inbox.Error].
const (
	CodeRateLimited inbox.Code = "rate_limited"
	CodeTooLarge    inbox.Code = "response_too_large"
	CodeTimeout     inbox.Code = "timeout"
	CodeInternal    inbox.Code = "internal"
)

// The bounds of an answer, in bytes.
const (
	// maxResult leaves room in an answer for the envelope around a result.
	maxResult = mcp.MaxAnswer - 10_000
	// maxPage bounds the records of a page. Their JSON is in the result twice,
	// the second time as text, where each quote and backslash takes two bytes:
	// at most three times the bytes in all. What is left is for the marks
	// around untrusted text.
	maxPage = 750_000
)

// success is the result of a tool that ran: its JSON as text and, where the
// revision has it, as structuredContent (checklist 5.06, 5.11); then the
// texts that are the person's own.
func success(t *Tool, out Output, v mcp.Version) *mcp.Result {
	blocks := []jsontext.Value{textBlock(string(out.JSON)).Close()}
	for _, text := range out.ForUser {
		blocks = append(blocks, textBlock(text).Value("annotations", jsontext.Value(`{"audience":["user"]}`)).Close())
	}
	o := mcp.NewObject().Grow(3*len(out.JSON)).Values("content", blocks)
	if v != mcp.V20250326 {
		o.Value("structuredContent", out.JSON)
	}
	fields := o.Close()
	if len(fields) > maxResult {
		return toolError(t.tooLarge())
	}
	return &mcp.Result{Fields: fields}
}

// tooLarge is the error of an answer that no gateway would carry (case 5).
func (t *Tool) tooLarge() *inbox.Error {
	if !t.Hints.ReadOnly {
		return inbox.Errorf(CodeTooLarge, "", "It was done, but the answer is larger than the 2.5 MB that one may be. Do not repeat the call.")
	}
	instead := cmp.Or(t.IfTooLarge, "Ask for fewer records with a smaller limit.")
	return inbox.Errorf(CodeTooLarge, "", "The answer is larger than the 2.5 MB that one may be; nothing was returned. %s", instead)
}

// toolError is an isError result. Its text begins with the code, which is in
// _meta for programs.
func toolError(e *inbox.Error) *mcp.Result {
	sentence := e.Message
	if e.Field != "" && !strings.Contains(" "+sentence, " "+e.Field+" ") {
		sentence = e.Field + ": " + sentence
	}
	block := textBlock(string(e.Code) + ": " + sentence).Close()
	return &mcp.Result{
		Fields:  mcp.NewObject().Values("content", []jsontext.Value{block}).Bool("isError", true).Close(),
		Outcome: string(e.Code),
		Meta:    mcp.NewObject().Begin("br.com.kobana/error").Text("code", string(e.Code)).End().Close(),
	}
}

func textBlock(s string) *mcp.Object { return mcp.NewObject().Text("type", "text").Text("text", s) }
