// Command tools is the function that answers /mcp/tools, the only one of all
// that clients reach which writes.
package main

import (
	"net/http"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/writing"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

func main() {
	cloud.Run("tools", func(f *cloud.Function) (http.Handler, error) {
		o, err := writing.Options(f)
		if err != nil {
			return nil, err
		}
		return server.Family(o, "tools"), nil
	})
}
