package untrusted

import (
	"math"
	"strconv"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// lengthForm matches a CSS number with its unit.
var lengthForm = lazy.Regexp(`^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)$`)

// pixels returns roughly how many pixels a length is.
func pixels(v string) (float64, bool) {
	m := lengthForm().FindStringSubmatch(v)
	if m == nil {
		return computed(v)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	switch m[2] {
	case "em", "rem", "pc":
		n *= 16
	case "ex", "ch":
		n *= 8
	case "%":
		n *= 5 // of a width of 500; for a font-size it is enough that 0 is 0
	case "vw", "vh", "vmin", "vmax", "dvw", "dvh", "svw", "svh", "lvw", "lvh":
		n *= 10
	case "pt":
		n *= 4. / 3
	case "in":
		n *= 96
	case "cm":
		n *= 38
	case "mm":
		n *= 3.8
	}
	return n, err == nil
}

// computing matches functions that compute a length; timesZero finds a product
// that is 0, numbers the numbers in one.
var (
	computing = lazy.Regexp(`^(calc|min|max|clamp)\((.*)\)$`)
	timesZero = lazy.Regexp(`\*\(?-?0*\.?0+[a-z%]*($|[^\d.a-z%])|(^|[^\d.a-z])0*\.?0+[a-z%]*\*`)
	numbers   = lazy.Regexp(`\d*\.?\d+`)
)

// computed returns the length of a simple computation: one that is a single
// length, has a product of 0, or nothing but zeros, or takes a length from
// itself.
func computed(v string) (float64, bool) {
	m := computing().FindStringSubmatch(v)
	if m == nil {
		return 0, false
	}
	inner := strings.ReplaceAll(m[2], " ", "")
	if lengthForm().MatchString(inner) {
		return pixels(inner)
	}
	a, b, minus := strings.Cut(inner, "-")
	least, most := math.Inf(1), math.Inf(-1)
	for _, number := range numbers().FindAllString(inner, -1) {
		n, _ := strconv.ParseFloat(number, 64)
		least, most = min(least, n), max(most, n)
	}
	zero := timesZero().MatchString(inner) || minus && a == b || most == 0 ||
		least == 0 && m[1] == "min" && !minus
	return 0, zero
}

// factor returns a number or percentage.
func factor(v string) (float64, bool) {
	number, percent := strings.CutSuffix(v, "%")
	n, ok := pixels(number)
	if percent {
		n /= 100
	}
	return n, ok
}

// isOff reports whether a length moves what it is said of off the page.
func isOff(v string) bool {
	n, ok := pixels(v)
	return ok && isFar(n)
}

// isFar reports whether so many pixels lead off the page.
func isFar(n float64) bool { return n <= -500 || n >= 5000 }

// fields splits the values of a property or the arguments of a function.
func fields(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
}

// function matches a function in a value of transform.
var function = lazy.Regexp(`([a-z0-9]+)\(((?:[^()]|\([^()]*\))*)\)`)

// vanishes reports whether a transform leaves nothing to see on the page.
func vanishes(v string) bool {
	for _, m := range function().FindAllStringSubmatch(v, -1) {
		args := fields(m[2])
		n := make([]float64, 6)
		for i := range min(len(args), len(n)) {
			n[i], _ = factor(args[i])
		}
		for i, arg := range args {
			switch m[1] {
			case "translate", "translatex", "translatey", "translate3d":
				if isOff(arg) {
					return true
				}
			case "scale", "scalex", "scaley", "scale3d":
				if f, ok := factor(arg); ok && i < 2 && math.Abs(f) < 0.05 {
					return true
				}
			case "rotatex", "rotatey":
				if edgeOn(arg) {
					return true
				}
			}
		}
		switch {
		case m[1] == "matrix" && len(args) == 6 && (math.Abs(n[0]*n[3]-n[1]*n[2]) < 0.0025 || isOff(args[4]) || isOff(args[5])):
			return true
		case m[1] == "matrix3d" && len(args) == 16 && (isZero(args[0]) && isZero(args[1]) || isZero(args[4]) && isZero(args[5])):
			return true
		}
	}
	return false
}

// edgeOn reports whether an angle turns a plane so that only its edge is seen.
func edgeOn(angle string) bool {
	m := lengthForm().FindStringSubmatch(angle)
	if m == nil {
		return false
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	n *= map[string]float64{"deg": 1, "turn": 360, "grad": 0.9, "rad": 180 / math.Pi}[m[2]]
	return math.Abs(math.Cos(n*math.Pi/180)) < 0.03
}
