package completion

import (
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

// argument is what a person is typing.
type argument struct {
	kind   catalog.Kind
	family inbox.Family // whose ids it takes, "" for none
	tools  []string     // of the prompt or the resource that it is for
}

// find returns the argument that a request completes, and what is typed so
// far. Which prompts and resources there are is no secret: only what nobody
// has is an error (checklist 9.06). The values chosen before, in context, are
// accepted and narrow nothing.
func find(r *mcp.Request) (a argument, typed string, err error) {
	var params struct {
		Ref *struct {
			Type *string `json:"type"`
			Name *string `json:"name"`
			URI  *string `json:"uri"`
		} `json:"ref"`
		Argument *struct {
			Name  *string `json:"name"`
			Value *string `json:"value"`
		} `json:"argument"`
		Context struct {
			Arguments map[string]string `json:"arguments"`
		} `json:"context"`
	}
	if err := mcp.Decode(r, &params); err != nil {
		return a, "", err
	}
	ref, arg := params.Ref, params.Argument
	switch {
	case ref == nil || ref.Type == nil:
		return a, "", mcp.Errorf(mcp.CodeInvalidParams, "ref is missing: it must be an object with a type")
	case arg == nil || arg.Name == nil || arg.Value == nil:
		return a, "", mcp.Errorf(mcp.CodeInvalidParams, "argument is missing: it must be an object with name and value")
	case *ref.Type == "ref/prompt" && ref.Name != nil:
		a, err = ofPrompt(*ref.Name, *arg.Name)
	case *ref.Type == "ref/resource" && ref.URI != nil:
		a, err = ofResource(*ref.URI, *arg.Name)
	default:
		err = mcp.Errorf(mcp.CodeInvalidParams, "ref must be a ref/prompt with a name, or a ref/resource with a uri")
	}
	return a, *arg.Value, err
}

func ofPrompt(name, arg string) (argument, error) {
	p, ok := prompts.Find(name)
	if !ok {
		return argument{}, mcp.Errorf(mcp.CodeInvalidParams, "no such prompt")
	}
	for _, a := range p.Arguments {
		if a.Name == arg {
			return argument{a.Kind, a.Family, p.Tools}, nil
		}
	}
	return argument{}, mcp.Errorf(mcp.CodeInvalidParams, "the prompt has no argument %q", arg)
}

func ofResource(uri, arg string) (argument, error) {
	r, ok := resources.Find(uri)
	switch {
	case !ok:
		return argument{}, mcp.Errorf(mcp.CodeInvalidParams, "no such resource")
	case r.Template() && arg != resources.Parameter:
		return argument{}, mcp.Errorf(mcp.CodeInvalidParams, "the resource has no parameter %q", arg)
	default: // a fixed URI has nothing to complete, and so no source
		return argument{catalog.UUID, r.Family, []string{r.Tool}}, nil
	}
}
