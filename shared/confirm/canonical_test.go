package confirm

import (
	"math"
	"strconv"
	"testing"
)

// RFC 8785, appendix B: doubles and how they are written.
func TestCanonical_RFC8785_Numbers(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		in := strconv.FormatFloat(math.Float64frombits(bits), 'e', -1, 64)
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%016x: %s, %v, want %s", bits, got, err, want)
		}
	}
}

func TestCanonical_RFC8785_Documents(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"3.2.2 and 3.2.4": {
			`{
			  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			  "literals": [null, true, false]
			}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		"3.2.3 by UTF-16 code units": {
			`{
			  "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
			  "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
			}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
		"sorting is recursive, arrays keep their order": {
			`[{"b":{"z":1,"a":2},"a":[3,1,2]}, 56, {"d":true,"10":null,"1":[]}]`,
			`[{"a":[3,1,2],"b":{"a":2,"z":1}},56,{"1":[],"10":null,"d":true}]`,
		},
		"case counts":    {`{"aa":1,"aA":2,"a":3}`, `{"a":3,"aA":2,"aa":1}`},
		"minus zero":     {`[-0, -0.0, 0e9]`, `[0,0,0]`},
		"no normalizing": {`{"peach":"A\u030a","\u00c5":1}`, `{"peach":"A` + "\u030a" + `","Å":1}`},
		"empty":          {` { } `, `{}`},
	} {
		got, err := Canonical([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n%s, %v, want\n%s", name, got, err, c.want)
		}
		again, err := Canonical(got)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: not stable: %s, %v", name, again, err)
		}
	}
}

func TestCanonical_Refuses(t *testing.T) {
	for _, in := range []string{``, `{`, `{}{}`, `{} x`, `{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `"\ud800"`, "\"\xff\"", `1e400`, `[-1e999]`, `01`, `NaN`} {
		if got, err := Canonical([]byte(in)); err == nil {
			t.Errorf("%s: %s, want an error", in, got)
		}
	}
}

func TestArgumentsDigest(t *testing.T) {
	distinct := []string{
		`{}`, `{"a":null}`, `{"a":""}`, `{"a":0}`, `{"a":false}`, `{"a":[]}`, `{"a":{}}`, `{"a":"1"}`, `{"a":1}`, `{"A":1}`,
		`{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":{"b":1}}`, `{"a.b":1}`, `{"a":9007199254740991}`, `{"a":9007199254740990}`, `{"a":0.1}`,
	}
	seen := map[digest]string{}
	for _, in := range distinct {
		d, err := argumentsDigest([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", in, other)
		}
		seen[d] = in
	}
	// Two integers that are one double must not pass for each other.
	for _, in := range []string{`{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":[{"b":-9007199254740992}]}`, `{"a":1e300}`} {
		if _, err := argumentsDigest([]byte(in)); err == nil {
			t.Errorf("%s was digested", in)
		}
	}
}
