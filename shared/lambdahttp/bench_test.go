package lambdahttp_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
)

// BenchmarkEcho is what this package costs an invocation, by the size of the
// body, both ways.
func BenchmarkEcho(b *testing.B) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	})
	item := `{"id":"0198c0de-0000-7000-8000-000000000001","name":"\"é\""},`
	for name, event := range map[string][]byte{
		"0.1KB":  v2(object{"body": toolsCall}),
		"40KB":   v2(object{"body": strings.Repeat(item, 40<<10/len(item))}),
		"2500KB": v2(object{"body": strings.Repeat(item, 2_500_000/len(item))}),
	} {
		b.Run(name, func(b *testing.B) {
			h := lambdahttp.New(echo, nil)
			b.ReportAllocs()
			b.SetBytes(int64(len(event)))
			for b.Loop() {
				if _, err := h.Invoke(context.Background(), event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
