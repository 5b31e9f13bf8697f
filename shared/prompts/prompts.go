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
	"fmt"
	"slices"
	"strings"
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
		text, err := p.text(x.opts.Locale(ctx, caller), values)
		if err != nil {
			return nil, err
		}
		return message(p.Description, text), nil
	}, nil
}

//go:embed texts
var texts embed.FS

// text is the instruction in a language, followed by the rules that all
// prompts share. {name} stands for a value; a line with a value that is absent
// is left out.
func (p Prompt) text(l inbox.Locale, values map[string]string) (string, error) {
	if l != inbox.Portuguese {
		l = inbox.English
	}
	var text strings.Builder
	for _, part := range []string{p.Name, "rules"} {
		b, err := texts.ReadFile(fmt.Sprintf("texts/%s.%s.md", part, l))
		if err != nil {
			return "", err
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.Grow(2 * len(b))
	lines:
		for line := range strings.Lines(string(b)) {
			if !strings.Contains(line, "{") {
				text.WriteString(line)
				continue
			}
			for name, value := range values {
				placeholder := "{" + name + "}"
				if value == "" && strings.Contains(line, placeholder) {
					continue lines
				}
				line = strings.ReplaceAll(line, placeholder, value)
			}
			text.WriteString(line)
		}
	}
	return text.String(), nil
}

// message is the result of prompts/get: what the person says first.
func message(description, text string) *mcp.Result {
	m := mcp.NewObject().Grow(2*len(text)).Text("role", "user").
		Begin("content").Text("type", "text").Text("text", text).End().Close()
	return &mcp.Result{Fields: mcp.NewObject().Text("description", description).
		Values("messages", []jsontext.Value{m}).Close()}
}
