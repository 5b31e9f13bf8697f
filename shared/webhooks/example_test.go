package webhooks_test

import (
	"io"
	"net/http"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// A receiver that acts only on what the inbox sent, and answers before it does
// the work.
func ExampleVerify() {
	const secret webhooks.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // from webhooks_create
	http.HandleFunc("POST /hook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || webhooks.Verify(secret, r.Header, body, time.Now()) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
