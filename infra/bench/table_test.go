package main

import (
	"bytes"
	"testing"
)

func TestFigures(t *testing.T) {
	for want, f := range map[string]figure{
		"30.0 µs ±33%": median(duration, []float64{10e-6, 20e-6, 30e-6, 40e-6, 1}),
		"4.21 ms":      one(duration, 0.00421),
		"12.4 MB":      one(size, 12.4e6),
		"605 B":        one(size, 605),
		"5120/s":       one(perSecond, 5119.6),
		"0.034":        one(number, 0.0341),
		"7":            one(number, 7),
		"2 ±0%":        ratios([]float64{2, 4, 6}, []float64{1, 2, 3}),
		"":             {},
	} {
		if got := f.String(); got != want && got+" ±0%" != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTable_tells_what_is_short(t *testing.T) {
	var b table
	b.section("some")
	quick, slow := one(duration, 80e-6), one(duration, 0.2)
	b.add("quick", quick, slow, one(number, 0.0004), atMost(quick, 100e-6))
	b.add("slow", slow, figure{}, figure{}, atMost(slow, 100e-6))
	b.add("flat", one(number, 1.2), figure{}, figure{}, within(one(number, 1.2), 0.2))
	b.add("twice", one(number, 2), figure{}, figure{}, exactly(2, 1))
	b.add("told only", slow, figure{}, figure{}, bar{})
	var out bytes.Buffer
	b.print(&out)
	want := `what          ours  baseline    ratio       bar
some
quick      80.0 µs    200 ms  0.000 ×  ≤ 100 µs  ok
slow        200 ms                     ≤ 100 µs  short
flat          1.20                        ±20 %  ok
twice            2                          = 1  short
told only   200 ms
`
	if b.short != 2 {
		t.Errorf("%d short", b.short)
	}
	if got := out.String(); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}
