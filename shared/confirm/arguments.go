package confirm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// maxArguments is the most lines of arguments that a question has.
const maxArguments = 40

// showArguments writes the arguments as lines "label: value": nested names are
// joined by dots, the elements of an array stand under one name.
func (q *Question) showArguments(args jsontext.Value) ([]string, error) {
	w := argumentWriter{Decoder: jsontext.NewDecoder(strings.NewReader(string(args))), question: q}
	if err := w.value(""); err != nil {
		return nil, fmt.Errorf("confirm: show arguments: %w", err)
	}
	if more := len(w.lines) - maxArguments; more > 0 {
		w.lines = append(w.lines[:maxArguments], textMore.format(q.Language, more))
	}
	return w.lines, nil
}

type argumentWriter struct {
	*jsontext.Decoder
	question *Question
	lines    []string
}

func (w *argumentWriter) add(path, value string) {
	argument, rest, _ := strings.Cut(path, ".")
	shown := showName(path)
	if label, ok := w.question.Labels[argument]; ok {
		shown = label.In(w.question.Language)
		if rest != "" {
			shown += " (" + showName(rest) + ")"
		}
	}
	w.lines = append(w.lines, shown+": "+value)
}

// value writes the next value, which stands under path.
func (w *argumentWriter) value(path string) error {
	if slices.Contains(w.question.Hide, path) {
		w.add(path, textHidden.In(w.question.Language))
		return w.SkipValue()
	}
	t, err := w.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return w.members(path, t.Kind() == jsontext.KindBeginObject)
	case jsontext.KindString:
		w.add(path, quote(w.question.Language, t.String()))
	default:
		w.add(path, untrusted.Line(t.String(), maxShown)) // a number, true, false, null
	}
	return nil
}

// members writes what is left of an object or an array.
func (w *argumentWriter) members(path string, named bool) error {
	for first := true; ; first = false {
		if k := w.PeekKind(); k == jsontext.KindEndObject || k == jsontext.KindEndArray {
			if first && path != "" {
				w.add(path, textEmpty.In(w.question.Language))
			}
			_, err := w.ReadToken()
			return err
		}
		inner := path
		if named {
			name, err := w.ReadToken()
			if err != nil {
				return err
			}
			inner = strings.TrimPrefix(path+"."+name.String(), ".")
		}
		if err := w.value(inner); err != nil {
			return err
		}
	}
}
