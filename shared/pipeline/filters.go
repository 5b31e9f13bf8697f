package pipeline

import (
	"errors"
	"slices"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// applyFilters rejects what any of the inbox's filters matches. With a filter
// that is no filter nobody knows what would have been rejected: the e-mail
// fails, to be reprocessed once the filter is put right.
func applyFilters(r *Run) Outcome {
	filters, err := inbox.ParseFilters(r.Inbox.Filters)
	if bad, ok := errors.AsType[*inbox.Error](err); ok {
		return Failed("The inbox's filters cannot be applied. %s Correct them and reprocess the e-mail.", bad.Message)
	}
	if len(filters) == 0 {
		return Passed("The inbox has no filters.")
	}
	for i, f := range filters {
		match, err := f.Matcher()
		if err != nil { // ParseFilters saw to it
			return Failed("Filter %d of the inbox is invalid.", i+1)
		}
		if slices.ContainsFunc(r.texts(f), match) {
			return Rejected(CodeFiltered, "Filter %d of the inbox (%s %s) turns this e-mail away.", i+1, f.Field, f.Operator)
		}
	}
	return Passed("The e-mail met none of %s.", count(len(filters), "filter"))
}

// texts are what a filter looks at, as a person sees it: what is invisible
// hides nothing from a filter. HTML counts beside the text that it should be
// the same as.
func (r *Run) texts(f inbox.Filter) []string {
	m, texts := r.message, []string{}
	switch f.Field {
	case inbox.FilterFrom:
		texts = append(texts, r.Email.From)
	case inbox.FilterTo:
		texts = slices.Concat(m.HeaderTo, m.Cc)
	case inbox.FilterSubject:
		if m.Subject != nil {
			texts = append(texts, oneLine(*m.Subject))
		}
	case inbox.FilterBody:
		if m.Text != nil {
			texts = append(texts, untrusted.Text(*m.Text))
		}
		if m.HTML != nil {
			texts = append(texts, untrusted.HTMLToText(*m.HTML))
		}
	case inbox.FilterHeader:
		for _, h := range m.Headers {
			if strings.EqualFold(h.Name, f.Name) {
				texts = append(texts, oneLine(h.Value))
			}
		}
	}
	return texts
}

// oneLine is a header's text without what is invisible.
func oneLine(s string) string { return untrusted.Line(s, len(s)) }
