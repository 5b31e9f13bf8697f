package model

import (
	"math"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Cost returns what the tokens of an answer cost with the model, in USD, by the
// prices of the catalogue. It sums whole millionths of a millionth, so that
// nothing but the result is rounded: prices have at most six decimals.
func Cost(m inbox.Model, a Answer) float64 {
	var sum int64
	for _, part := range []struct {
		tokens int64
		price  float64 // per million
	}{
		{a.InputTokens, m.InputPrice}, {a.OutputTokens, m.OutputPrice}, {a.CacheRead, m.CacheRead}, {a.CacheWrite, m.CacheWrite},
	} {
		sum += part.tokens * int64(math.Round(part.price*1e6))
	}
	return float64(sum) / 1e12
}
