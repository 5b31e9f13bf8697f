// Command router is the function that answers /mcp and all that has no route
// of its own, and hands the families' requests on to their functions.
package main

import (
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/routing"
)

func main() { cloud.Run("router", routing.Handler) }
