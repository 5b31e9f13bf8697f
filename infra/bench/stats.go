package main

import (
	"fmt"
	"math"
	"slices"
)

// unit says what a figure counts, and how it is written.
type unit int

const (
	number unit = iota + 1
	duration
	size
	perSecond
)

// figure is what was measured: the median of its runs, and the quartiles
// around it. Its zero value is nothing.
type figure struct {
	unit              unit
	low, median, high float64
}

// one is a figure that does not vary.
func one(u unit, v float64) figure { return figure{u, v, v, v} }

// median makes a figure of runs.
func median(u unit, runs []float64) figure {
	s := slices.Sorted(slices.Values(runs))
	at := func(q float64) float64 { return s[int(q*float64(len(s)-1)+0.5)] }
	return figure{u, at(0.25), at(0.5), at(0.75)}
}

// ratios makes a figure of runs divided pair by pair, as they were interleaved.
func ratios(a, b []float64) figure {
	return pairs(number, a, b, func(x, y float64) float64 { return x / y })
}

// differences makes a figure of runs subtracted pair by pair.
func differences(u unit, a, b []float64) figure {
	return pairs(u, a, b, func(x, y float64) float64 { return x - y })
}

func pairs(u unit, a, b []float64, of func(x, y float64) float64) figure {
	values := make([]float64, len(a))
	for i := range a {
		values[i] = of(a[i], b[i])
	}
	return median(u, values)
}

func (f figure) String() string {
	if f == (figure{}) {
		return ""
	}
	s := f.unit.format(f.median)
	if f.low == f.high {
		return s
	}
	return fmt.Sprintf("%s ±%.0f%%", s, 100*(f.high-f.low)/2/math.Abs(f.median))
}

// format writes a value in the unit that suits its size, with three digits.
func (u unit) format(v float64) string {
	steps := map[unit][]struct {
		size float64
		name string
	}{
		number:    {{1, ""}},
		duration:  {{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}},
		size:      {{1e6, " MB"}, {1e3, " KB"}, {1, " B"}},
		perSecond: {{1, "/s"}},
	}[u]
	for i, s := range steps {
		if math.Abs(v) >= s.size || i == len(steps)-1 {
			return digits(v/s.size) + s.name
		}
	}
	return ""
}

func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a < 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
