// Command completion is the function that answers /mcp/completion.
package main

import (
	"net/http"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

func main() {
	cloud.Run("completion", func(f *cloud.Function) (http.Handler, error) {
		o, err := f.Reader(inboxstore.Options{})
		if err != nil {
			return nil, err
		}
		return server.Family(o, "completion"), nil
	})
}
