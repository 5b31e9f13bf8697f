package oauth

import "testing"

// BenchmarkVerify is a warm verification, as every request has one.
func BenchmarkVerify(b *testing.B) {
	for _, s := range []signer{rsaKey(), newEC("ES256"), edKey()} {
		b.Run(s.method.Alg(), func(b *testing.B) {
			i := newIssuer(b, s)
			v := verifier(b, i)
			token := i.token(object{"org_id": "acme", "workspace_id": "books"})
			accepts(b, v, token)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
			i.fetches(b, 1)
		})
	}
}

// BenchmarkRemembered is a token whose introspection is remembered.
func BenchmarkRemembered(b *testing.B) {
	w := introspecting(b, nil)
	accepts(b, w, "opaque")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Verify(b.Context(), "opaque"); err != nil {
			b.Fatal(err)
		}
	}
}
