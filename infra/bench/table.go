package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is what is printed: a row for each thing measured.
type table struct {
	rows   [][6]string
	judged int // rows with a bar
	short  int // those that miss it
}

// bar is what a row must hold; the zero value is no bar.
type bar struct {
	text string
	met  bool
}

func atMost(f figure, limit float64) bar {
	return bar{"≤ " + f.unit.format(limit), f.median <= limit}
}

// within is a bar for a ratio that is to be 1.
func within(f figure, tolerance float64) bar {
	return bar{fmt.Sprintf("±%.0f %%", 100*tolerance), f.median <= 1+tolerance && f.median >= 1-tolerance}
}

func exactly(got, want float64) bar { return bar{"= " + digits(want), got == want} }

// section begins a group of rows.
func (t *table) section(title string) { t.rows = append(t.rows, [6]string{title}) }

// add adds a row. What a figure is not there for stays empty.
func (t *table) add(what string, ours, baseline, ratio figure, b bar) {
	verdict := ""
	if b.text != "" {
		t.judged++
		if verdict = "ok"; !b.met {
			verdict = "short"
			t.short++
		}
	}
	times := ratio.String()
	if times != "" {
		times = strings.Replace(times, " ", " × ", 1)
		if !strings.Contains(times, "×") {
			times += " ×"
		}
	}
	t.rows = append(t.rows, [6]string{what, ours.String(), baseline.String(), times, b.text, verdict})
}

// versus adds a row of runs that took turns: ours, the baseline's. Limit,
// unless 0, is what their ratio may be at most.
func (t *table) versus(what string, u unit, runs [2][]float64, limit float64) {
	ratio, want := ratios(runs[0], runs[1]), bar{}
	if limit > 0 {
		want = atMost(ratio, limit)
	}
	t.add(what, median(u, runs[0]), median(u, runs[1]), ratio, want)
}

// print writes the table in aligned columns.
func (t *table) print(w io.Writer) {
	rows := append([][6]string{{"what", "ours", "baseline", "ratio", "bar", ""}}, t.rows...)
	var widths [6]int
	for _, r := range rows {
		if r[1]+r[2]+r[3]+r[4] == "" {
			continue // a title may be longer
		}
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		line := ""
		for i, cell := range r {
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			if i == 0 || i == len(r)-1 {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
