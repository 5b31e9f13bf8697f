// Command worker is the function that does jobs, which arriving mail and people
// leave behind: agents read e-mails, webhooks are told.
package main

import (
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/working"
)

func main() { cloud.RunEvents("worker", working.Open) }
