// Command prompts is the function that answers /mcp/prompts.
package main

import (
	"net/http"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

func main() {
	cloud.Run("prompts", func(f *cloud.Function) (http.Handler, error) {
		o, err := f.Reader(inboxstore.Options{})
		if err != nil {
			return nil, err
		}
		return server.Family(o, "prompts"), nil
	})
}
