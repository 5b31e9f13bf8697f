// Package resources offers records as documents to attach to a conversation:
// resources/list, resources/templates/list and resources/read. One table maps
// each URI to the tool that reads it, so a person reaches here exactly what
// the tools give them (R1 to R6, R18).
//
// It may import mcp, access, inbox and catalog.
package resources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Tools is what resources are read by: the catalog of tools.
type Tools interface {
	// May reports whether the caller may run the named tool.
	May(caller *access.Caller, tool string) bool
	// Read runs the named read-only tool for a caller who may run it.
	Read(ctx context.Context, caller *access.Caller, tool string, args map[string]string) (jsontext.Value, error)
}

// Options configure [Resources].
type Options struct {
	Tools Tools
}

// Resources answers the resources methods.
type Resources struct {
	tools            Tools
	fixed, templates []item
}

// item is a resource as its list shows it, with and without a title,
// marshalled once.
type item struct {
	tool             string
	titled, untitled jsontext.Value
}

// New makes the handlers of the resources methods.
func New(o Options) *Resources {
	x := &Resources{tools: o.Tools}
	for _, r := range table {
		i := item{r.Tool, r.entry(true), r.entry(false)}
		if r.Template() {
			x.templates = append(x.templates, i)
		} else {
			x.fixed = append(x.fixed, i)
		}
	}
	return x
}

// entry is the resource as its list shows it.
func (r Resource) entry(titled bool) jsontext.Value {
	uri := "uri"
	if r.Template() {
		uri = "uriTemplate"
	}
	o := mcp.NewObject().Text(uri, r.URI).Text("name", r.Name)
	if titled {
		o.Text("title", r.Title)
	}
	return o.Text("description", r.Description).Text("mimeType", MIMEType).Close()
}

// Methods are resources/list, resources/templates/list and resources/read.
// There is no subscription: the server is stateless (R6).
func (x *Resources) Methods() map[string]mcp.Method {
	return map[string]mcp.Method{
		"resources/list":           x.list("resources", x.fixed),
		"resources/templates/list": x.list("resourceTemplates", x.templates),
		"resources/read":           x.read,
	}
}

// list answers with the items whose tool the caller may run (R3).
func (x *Resources) list(member string, items []item) mcp.Method {
	return func(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
		caller, err := access.CallerFrom(ctx)
		if err != nil {
			return nil, err
		}
		visible := make([]jsontext.Value, 0, len(items))
		for _, i := range items {
			switch {
			case !x.tools.May(caller, i.tool):
			case r.Version.Titles():
				visible = append(visible, i.titled)
			default:
				visible = append(visible, i.untitled)
			}
		}
		page, err := mcp.NewList(member, visible, &mcp.Cache{TTL: 30 * time.Second}, 0).Page(r)
		return func(context.Context) (*mcp.Result, error) { return page, nil }, err
	}
}

// read answers resources/read. A URI that names nothing, a record that is not
// there and a tool that the caller may not run have one answer (R5, checklist
// 7.10).
func (x *Resources) read(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, err := access.CallerFrom(ctx)
	if err != nil {
		return nil, err
	}
	var params struct {
		URI *string `json:"uri"`
	}
	if err := mcp.Decode(r, &params); err != nil {
		return nil, err
	}
	if params.URI == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "uri is missing: it must be the URI of a resource")
	}
	uri := *params.URI
	resource, id, ok := Match(uri)
	if !ok || !x.tools.May(caller, resource.Tool) {
		return nil, notFound(uri)
	}
	args := map[string]string{}
	if resource.Template() {
		args[Parameter] = id
	}
	return func(ctx context.Context) (*mcp.Result, error) {
		record, err := x.tools.Read(ctx, caller, resource.Tool, args)
		if err != nil {
			return nil, refusal(err, uri)
		}
		return contents(uri, record), nil
	}, nil
}

// contents is the result of a read: one text, which no cache may serve again.
func contents(uri string, record jsontext.Value) *mcp.Result {
	content := mcp.NewObject().Grow(2*len(record)).Text("uri", uri).Text("mimeType", MIMEType).Text("text", string(record)).Close()
	return &mcp.Result{
		Fields: mcp.NewObject().Values("contents", []jsontext.Value{content}).Close(),
		Cache:  &mcp.Cache{},
	}
}

// refusal is the answer to a read that failed with err, which stays in the
// chain for the log.
func refusal(err error, uri string) error {
	e, ok := errors.AsType[*inbox.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == inbox.CodeNotFound, e.Code == inbox.CodeInvalid:
		return notFound(uri)
	default:
		return fmt.Errorf("%w: %w", mcp.Errorf(mcp.CodeInternal, "%s: %s", e.Code, e.Message), err)
	}
}

// notFound has the code of the 2025 era; package mcp gives it that of
// 2026-07-28 (R5, checklist 7.06, 7.07).
func notFound(uri string) *mcp.Error {
	return &mcp.Error{
		Code:    mcp.CodeResourceNotFound,
		Message: "no such resource",
		Data:    mcp.NewObject().Text("uri", uri).Close(),
	}
}
