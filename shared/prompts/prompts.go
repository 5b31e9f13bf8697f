// Package prompts offers ready instructions that open a conversation:
// prompts/list and prompts/get. They are data: a table of what clients are
// told, and texts in each language. A prompt is offered to those who may run
// all tools that it leans on, and none asks for anything but reading (R7, R8,
// R18).
//
// It may import mcp, access, inbox and catalog.
package prompts

import (
	"context"
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Tools says what a caller may run: the catalog of tools.
type Tools interface {
	// May reports whether the caller may run the named tool.
	May(caller *access.Caller, tool string) bool
}

// Options configure [Prompts].
type Options struct {
	Tools Tools
	// Locale is the language of the caller's workspace. Nil, and any language
	// that the texts are not in, means English.
	Locale func(ctx context.Context, caller *access.Caller) inbox.Locale
	Now    func() time.Time // default time.Now
}

// Prompts answers the prompts methods.
type Prompts struct {
	opts Options
	// The rows of the table as prompts/list shows them, marshalled once.
	titled, untitled []jsontext.Value
}

// New makes the handlers of the prompts methods.
func New(o Options) *Prompts {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Locale == nil {
		o.Locale = func(context.Context, *access.Caller) inbox.Locale { return inbox.English }
	}
	x := &Prompts{opts: o}
	for _, p := range table {
		x.titled, x.untitled = append(x.titled, p.entry(true)), append(x.untitled, p.entry(false))
	}
	return x
}

// entry is the prompt as prompts/list shows it.
func (p Prompt) entry(titled bool) jsontext.Value {
	if !titled {
		p.Title, p.Arguments = "", slices.Clone(p.Arguments)
		for i := range p.Arguments {
			p.Arguments[i].Title = ""
		}
	}
	v, err := json.Marshal(p)
	if err != nil {
		panic(err) // the table is not UTF-8
	}
	return v
}

// Methods are prompts/list and prompts/get.
func (x *Prompts) Methods() map[string]mcp.Method {
	return map[string]mcp.Method{"prompts/list": x.list, "prompts/get": x.get}
}

func (x *Prompts) list(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, err := access.CallerFrom(ctx)
	if err != nil {
		return nil, err
	}
	items := x.untitled
	if r.Version.Titles() {
		items = x.titled
	}
	visible := make([]jsontext.Value, 0, len(table))
	for i, p := range table {
		if p.For(caller, x.opts.Tools) {
			visible = append(visible, items[i])
		}
	}
	page, err := mcp.NewList("prompts", visible, &mcp.Cache{TTL: 30 * time.Second}, 0).Page(r)
	return func(context.Context) (*mcp.Result, error) { return page, nil }, err
}

// get answers prompts/get. A prompt that is not offered to the caller is
// answered as one that does not exist.
func (x *Prompts) get(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, err := access.CallerFrom(ctx)
	if err != nil {
		return nil, err
	}
	var params struct {
		Name      *string            `json:"name"`
		Arguments map[string]*string `json:"arguments"`
	}
	if err := mcp.Decode(r, &params); err != nil {
		return nil, err
	}
	if params.Name == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "name is missing: it must be the name of a prompt")
	}
	for name, value := range params.Arguments {
		if value == nil {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "argument %q must be a string", name)
		}
	}
	p, ok := Find(*params.Name)
	if !ok || !p.For(caller, x.opts.Tools) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "no such prompt")
	}
	values, err := p.values(params.Arguments, x.opts.Now())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*mcp.Result, error) {
		return message(p.Description, p.text(x.opts.Locale(ctx, caller), values)), nil
	}, nil
}

//go:embed texts
var texts embed.FS

// pieces are the texts as JSON strings have them, by the names of their files, cut
// around the lines with a placeholder. They are made when the first one is asked
// for.
var pieces = sync.OnceValue(func() map[string][]string {
	cut := map[string][]string{}
	err := fs.WalkDir(texts, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := texts.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			line = quoted(line)
			all := cut[d.Name()]
			if n := len(all); n > 0 && !holds(line) && !holds(all[n-1]) {
				all[n-1] += line
			} else {
				cut[d.Name()] = append(all, line)
			}
		}
		return err
	})
	if err != nil {
		panic(err) // they are in the binary
	}
	return cut
})

// quoted is s as it is within a JSON string.
func quoted(s string) string {
	q, _ := jsontext.AppendQuote(nil, s) // its only error is bad UTF-8, which it replaces
	return string(q[1 : len(q)-1])
}

// holds reports whether a piece has a placeholder.
func holds(piece string) bool { return strings.Contains(piece, "{") }

// text is the instruction in a language, followed by the rules that all
// prompts share, as a JSON string. {name} stands for a value; a line with a value
// that is absent is left out.
func (p Prompt) text(l inbox.Locale, values map[string]string) jsontext.Value {
	if l != inbox.Portuguese {
		l = inbox.English
	}
	suffix := "." + string(l) + ".md"
	text := append(make([]byte, 0, 3<<10), '"')
	for _, part := range [][]string{pieces()[p.Name+suffix], {`\n`}, pieces()["rules"+suffix]} {
		for _, piece := range part {
			if holds(piece) {
				piece = filled(piece, values)
			}
			text = append(text, piece...)
		}
	}
	return append(text, '"')
}

// filled is a line with the values in their places.
func filled(line string, values map[string]string) string {
	for name, value := range values {
		placeholder := "{" + name + "}"
		if value == "" && strings.Contains(line, placeholder) {
			return ""
		}
		line = strings.ReplaceAll(line, placeholder, quoted(value))
	}
	return line
}

// message is the result of prompts/get: what the person says first.
func message(description string, text jsontext.Value) *mcp.Result {
	m := mcp.NewObject().Grow(len(text)).Text("role", "user").
		Begin("content").Text("type", "text").Value("text", text).End().Close()
	return &mcp.Result{Fields: mcp.NewObject().Text("description", description).
		Values("messages", []jsontext.Value{m}).Close()}
}
