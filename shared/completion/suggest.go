package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

// suggest returns the values for an argument that begin with what is typed.
// Without a source there are none, and without permission too: no suggestion
// tells that there is something to suggest (R9, R10, checklist 9.08).
func (x *Completion) suggest(ctx context.Context, caller *access.Caller, a argument, typed string) (values, error) {
	needed := a.tools
	if a.family != "" {
		needed = append(slices.Clone(needed), string(a.family)+"_list")
	}
	for _, tool := range needed {
		if !x.opts.Tools.May(caller, tool) {
			return values{}, nil
		}
	}
	switch {
	case a.family != "":
		return x.ids(ctx, caller, a.family, strings.ToLower(typed))
	case a.kind == catalog.Month:
		return newest(x.months(), typed), nil
	}
	return values{}, nil
}

// months are the last twelve in UTC, this one included, newest first (R10).
func (x *Completion) months() []string {
	now := x.opts.Now().UTC()
	first := now.AddDate(0, 0, 1-now.Day())
	months := make([]string, 12)
	for i := range months {
		months[i] = first.AddDate(0, -i, 0).Format(prompts.MonthLayout)
	}
	return months
}

// ids are those of the newest records of a family that begin with prefix (R9).
func (x *Completion) ids(ctx context.Context, caller *access.Caller, f inbox.Family, prefix string) (values, error) {
	const length = 36 // of an id
	if len(prefix) > length || strings.Trim(prefix, "0123456789abcdef-") != "" {
		return values{}, nil // no id begins so
	}
	if f == resources.Workspaces {
		return newest(workspaces(caller), prefix), nil
	}
	ids, more, err := x.opts.Service.RecentIDs(ctx, caller.WorkspaceID(), f, prefix, MaxValues)
	return values{ids, more}, err
}

// workspaces are those that the caller may read, newest membership first.
func workspaces(caller *access.Caller) (ids []string) {
	for _, m := range slices.Backward(caller.Memberships) {
		if m.Permissions().Has(access.WorkspacesRead) {
			ids = append(ids, string(m.Workspace))
		}
	}
	return ids
}

// newest keeps the first of candidates that begin with prefix.
func newest(candidates []string, prefix string) values {
	v := values{}
	for _, c := range candidates {
		if strings.HasPrefix(c, prefix) {
			v.Values = append(v.Values, c)
		}
	}
	if len(v.Values) > MaxValues {
		v.Values, v.HasMore = v.Values[:MaxValues], true
	}
	return v
}
