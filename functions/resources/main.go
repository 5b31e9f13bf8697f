// Command resources is the function that answers /mcp/resources.
package main

import (
	"net/http"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/rawmail"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

func main() {
	cloud.Run("resources", func(f *cloud.Function) (http.Handler, error) {
		raw, err := rawmail.Open(f)
		if err != nil {
			return nil, err
		}
		o, err := f.Reader(inboxstore.Options{Links: raw.Link})
		if err != nil {
			return nil, err
		}
		return server.Family(o, "resources"), nil
	})
}
