// Command ingest is the function that SES calls with the receipt of a message
// that arrived.
package main

import (
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
)

func main() { cloud.RunEvents("ingest", arriving.Open) }
