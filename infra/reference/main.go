// Command reference writes docs/reference.md to its output: every tool,
// resource and prompt, as the tables that the server runs on have them.
//
// It may import catalog, resources and prompts.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

func main() { os.Stdout.Write(reference()) }

// reference is the whole page.
func reference() []byte {
	var p page
	p.line("# Reference")
	p.line("Every tool, resource and prompt. This page is generated: `make reference` writes it anew from the code.")
	p.line("- [Tools](#tools)\n- [Resources](#resources)\n- [Prompts](#prompts)")
	p.tools(catalog.New(catalog.Options{}).Tools())
	p.resources(resources.Table())
	p.prompts(prompts.Table())
	return p.Bytes()
}

// page is Markdown as it is written.
type page struct{ bytes.Buffer }

// line writes a paragraph.
func (p *page) line(format string, args ...any) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	fmt.Fprintf(p, format+"\n", args...)
}

// table writes a table: its first row is the head.
func (p *page) table(rows ...[]string) {
	p.WriteByte('\n')
	for i, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(p, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		p.WriteString("|\n")
		if i == 0 {
			fmt.Fprintf(p, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
}

func (p *page) tools(all []*catalog.Tool) {
	p.line("## Tools")
	p.line("There are %d. A tool is listed, and can be called, by who has its permission in the workspace, with a token that has "+
		"its scope. Lists answer `{\"data\": […], \"next_cursor\": …}`, newest first. Tools that are *destructive* ask the person "+
		"before they do anything, in clients that speak 2026-07-28 and can show a form; nobody else can run them.", len(all))
	rows := [][]string{{"tool", "what it does", "permission", "scope"}}
	for _, t := range all {
		rows = append(rows, []string{fmt.Sprintf("[`%s`](#%[1]s)", t.Name), t.Title, code(t.Permission), code(t.Scope())})
	}
	p.table(rows...)
	for _, t := range all {
		p.line("### %s", t.Name)
		p.line("**%s.** %s", t.Title, t.Description)
		p.line("%s. Permission %s%s, scope %s.", hints(t.Hints), code(t.Permission), anywhere(t), code(t.Scope()))
		if len(t.Input) == 0 {
			p.line("It takes no arguments.")
			continue
		}
		rows := [][]string{{"argument", "", "value", "notes"}}
		p.table(append(rows, arguments("", t.Input)...)...)
	}
}

// hints says what a tool does to the world.
func hints(h catalog.Hints) string {
	said := []string{"Writes"}
	switch {
	case h.ReadOnly:
		said = []string{"Only reads"}
	case h.Destructive:
		said = []string{"Destructive: asks the person first"}
	}
	if h.Idempotent && !h.ReadOnly {
		said = append(said, "the same call again changes nothing more")
	}
	if h.OpenWorld {
		said = append(said, "reaches other systems")
	}
	return strings.Join(said, "; ")
}

func anywhere(t *catalog.Tool) string {
	if t.Anywhere {
		return " in the workspace that it is about"
	}
	return ""
}

// arguments are the rows of fields, with those of the objects in them.
func arguments(path string, fs catalog.Fields) (rows [][]string) {
	for _, f := range fs {
		required := "optional"
		if f.Required {
			required = "required"
		}
		rows = append(rows, []string{code(path + f.Name), required, value(f), f.Description})
		rows = append(rows, arguments(path+f.Name+".", f.Members)...)
		if f.Items != nil {
			rows = append(rows, arguments(path+f.Name+"[].", f.Items.Members)...)
		}
	}
	return rows
}

// value says what an argument takes.
func value(f catalog.Field) string {
	s := strings.TrimPrefix(strings.TrimPrefix(f.Kind.String(), "a "), "an ")
	if len(f.Enum) > 0 {
		s = "`" + strings.Join(f.Enum, "`, `") + "`"
	}
	switch f.Kind {
	case catalog.Array:
		s += limits(f, " of ", " items")
		if f.Items != nil {
			s += ", each: " + value(*f.Items)
		}
	case catalog.Integer:
		s += limits(f, ", ", "")
	case catalog.String:
		s += limits(f, " of ", " characters")
	default:
		s += limits(f, ", ", " characters")
	}
	if f.Positive {
		s += ", more than 0"
	}
	if f.Nullable {
		s += ", or `null`"
	}
	if f.Default != 0 {
		s += fmt.Sprintf("; by default %d", f.Default)
	}
	return s
}

// limits writes the bounds of a value, "" where there are none.
func limits(f catalog.Field, before, unit string) string {
	switch {
	case f.Max == 0 && f.Min == 0:
		return ""
	case f.Max == 0:
		return fmt.Sprintf("%sat least %d%s", before, f.Min, unit)
	case f.Min == 0:
		return fmt.Sprintf("%sat most %d%s", before, f.Max, unit)
	}
	return fmt.Sprintf("%s%d to %d%s", before, f.Min, f.Max, unit)
}

func (p *page) resources(all []resources.Resource) {
	p.line("## Resources")
	p.line("Documents to attach to a conversation, all `%s`. Each is read by its tool, so who may call the tool may read the "+
		"resource. URIs compare byte for byte; completion suggests the ids.", resources.MIMEType)
	rows := [][]string{{"URI", "what it is", "read by"}}
	for _, r := range all {
		rows = append(rows, []string{code(r.URI), r.Description, fmt.Sprintf("[`%s`](#%[1]s)", r.Tool)})
	}
	p.table(rows...)
}

func (p *page) prompts(all []prompts.Prompt) {
	p.line("## Prompts")
	p.line("Instructions that open a conversation, in the workspace's language. A prompt is listed for who may call all tools that " +
		"it leans on. None of them writes.")
	for _, x := range all {
		p.line("### %s", x.Name)
		p.line("**%s.** %s", x.Title, x.Description)
		p.line("It leans on `%s`.", strings.Join(x.Tools, "`, `"))
		rows := [][]string{{"argument", "", "value", "notes"}}
		for _, a := range x.Arguments {
			rows = append(rows, arguments("", catalog.Fields{{Name: a.Name, Required: a.Required, Kind: a.Kind, Description: a.Description}})...)
		}
		if len(rows) > 1 {
			p.table(rows...)
		}
	}
}

// code sets a value in the typewriter's letters.
func code(v any) string { return fmt.Sprintf("`%v`", v) }
