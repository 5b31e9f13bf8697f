package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// applyFilters rejects what any of the inbox's filters matches. With a filter
// that is no filter nobody knows what would have been rejected: the e-mail
// fails, to be reprocessed once the filter is put right.
func applyFilters(ctx context.Context, r *Run) (Outcome, error) {
	filters, err := inbox.ParseFilters(r.Inbox.Filters)
	if bad, ok := errors.AsType[*inbox.Error](err); ok {
		problem := strings.TrimSuffix(bad.Message, " Nothing was changed.")
		return Failed("The inbox's filters cannot be applied. %s Correct them and reprocess the e-mail.", problem), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if len(filters) == 0 {
		return Passed("The inbox has no filters."), nil
	}
	texts := r.texts()
	for i, f := range filters {
		match, err := f.Matcher()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return Outcome{}, err
		}
		if slices.ContainsFunc(texts(f), match) {
			return Rejected(CodeFiltered, "Filter %d of the inbox (%s %s) turns this e-mail away.", i+1, f.Field, f.Operator), nil
		}
	}
	return Passed("The e-mail met none of %s.", count(len(filters), "filter")), nil
}

// texts returns what gives the texts that a filter looks at, as a person sees
// them: what is invisible hides nothing from a filter.
func (r *Run) texts() func(inbox.Filter) []string {
	m, e := r.message, r.Email
	body := sync.OnceValue(func() []string { return bodies(m) })
	return func(f inbox.Filter) []string {
		switch f.Field {
		case inbox.FilterFrom:
			return []string{e.From}
		case inbox.FilterTo:
			return slices.Concat(m.HeaderTo, m.Cc)
		case inbox.FilterSubject:
			return each(m.Subject, oneLine)
		case inbox.FilterBody:
			return body()
		}
		var values []string
		for _, h := range m.Headers {
			if strings.EqualFold(h.Name, f.Name) {
				values = append(values, oneLine(h.Value))
			}
		}
		return values
	}
}

// bodies are the message's text and its HTML as text: they should say the
// same, and need not.
func bodies(m *mail.Message) []string {
	return append(each(m.Text, untrusted.Text), each(m.HTML, untrusted.HTMLToText)...)
}

// each is a list of what there is, shown.
func each(s *string, show func(string) string) []string {
	if s == nil {
		return nil
	}
	return []string{show(*s)}
}

// oneLine is a header's text without what is invisible.
func oneLine(s string) string { return untrusted.Line(s, len(s)) }
