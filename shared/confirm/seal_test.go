package confirm

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func (l *lab) sealed(plain string) string {
	l.Helper()
	text, err := l.seal.seal(l.Context(), []byte(plain))
	if err != nil {
		l.Fatal(err)
	}
	return text
}

func TestSeal_RoundTripAndNonces(t *testing.T) {
	l := newLab(t)
	seen := map[string]bool{}
	for range 100 {
		text := l.sealed("the same plaintext")
		if seen[text] {
			t.Fatal("two seals are equal")
		}
		seen[text] = true
		if plain, err := l.seal.open(t.Context(), text); err != nil || string(plain) != "the same plaintext" {
			t.Fatalf("%q, %v", plain, err)
		}
	}
}

func TestSeal_SaysNothing(t *testing.T) {
	l := newLab(t)
	data, err := base64.RawURLEncoding.Strict().DecodeString(l.sealed("a secret plaintext"))
	if err != nil || strings.Contains(string(data), "secret") {
		t.Errorf("%q, %v", data, err)
	}
}

// Every bit of every character of a requestState: never executed, always asked
// again (checklist 6.11, R15).
func TestR15_EveryBitFlipped(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	sealed := unquote(call.RequestState)
	for i := range len(sealed) {
		for bit := range 8 {
			flipped := []byte(sealed)
			flipped[i] ^= 1 << bit
			raw, err := jsontext.AppendQuote(nil, flipped)
			if err != nil { // bytes beyond ASCII are no JSON string: send them raw
				raw = []byte(`"` + string(flipped) + `"`)
			}
			wrong := call
			wrong.RequestState = raw
			if d := l.confirm(wrong, a, Asked); d.Reason != ReasonUnreadable {
				t.Fatalf("character %d, bit %d: asked for %q", i, bit, d.Reason)
			}
		}
	}
	l.wantExecuted(a, 0)
	l.confirm(call, a, Confirmed)
}

// The lengths leave 0, 2 and 4 spare bits in the last character.
func TestSeal_OnlyTheTextGivenOut(t *testing.T) {
	l := newLab(t)
	for _, plain := range []string{"", "a", "ab", "abc"} {
		text := l.sealed(plain)
		for i := range len(text) {
			for b := range 256 {
				if changed := text[:i] + string([]byte{byte(b)}) + text[i+1:]; changed != text {
					l.wantUnreadable(changed)
				}
			}
			l.wantUnreadable(text[:i])
			l.wantUnreadable(text[:i] + "\n" + text[i:])
			l.wantUnreadable(text[:i] + "\r\n" + text[i:])
		}
		for _, changed := range []string{text + "=", text + "==", text + "A", text + "\n", " " + text, text + text, "\ufeff" + text} {
			l.wantUnreadable(changed)
		}
		l.wantUnreadable(strings.NewReplacer("-", "+", "_", "/").Replace(text + "-"))
	}
}

func (l *lab) wantUnreadable(text string) {
	l.Helper()
	if plain, err := l.seal.open(l.Context(), text); !errors.Is(err, errUnreadable) {
		l.Fatalf("open(%q) = %q, %v; want unreadable", text, plain, err)
	}
}

func TestSeal_ShortAndOddBytes(t *testing.T) {
	l := newLab(t)
	for _, data := range []string{"", "\x01", "\x02\x02k1", "\x01\x02", "\x01\x02k", "\x01\x02k1", "\x01\x00", "\x01\xff", "\x01\xfe" + strings.Repeat("k", 300), "\x01\x02k1" + strings.Repeat("\x00", 27)} {
		l.wantUnreadable(base64.RawURLEncoding.EncodeToString([]byte(data)))
	}
}

// The additional data: neither another purpose or audience, nor another key id
// or version in the header, opens a seal, even with the right key.
func TestSeal_BindsItsContext(t *testing.T) {
	l := newLab(t)
	k := l.keys[0]
	l.keys = []Key{k, {ID: "k2", Secret: k.Secret}} // the same secret under two ids
	text := l.sealed("plain")
	for name, s := range map[string]sealer{
		"audience": {keys: l.seal.keys, context: sealPurpose + "\x00https://other.example.com/mcp"},
		"purpose":  {keys: l.seal.keys, context: "another\x00" + audience},
		"shifted":  {keys: l.seal.keys, context: sealPurpose + audience},
	} {
		if _, err := s.open(t.Context(), text); !errors.Is(err, errUnreadable) {
			t.Errorf("other %s: %v, want unreadable", name, err)
		}
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	l.wantUnreadable(base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(data), "k1", "k2", 1))))
}

func TestSeal_Limit(t *testing.T) {
	l := newLab(t)
	const most = maxSealed*3/4 - len("\x01\x02k1") - 12 - 16
	if text := l.sealed(strings.Repeat("x", most)); len(text) != 4096 {
		t.Errorf("%d characters", len(text))
	}
	if _, err := l.seal.seal(t.Context(), make([]byte, most+1)); err == nil {
		t.Error("a seal over 4 KB was made")
	}
	l.wantUnreadable(strings.Repeat("A", maxSealed+4))
}
