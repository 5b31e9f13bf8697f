// Command kobana-admin makes organizations, workspaces and members, and lists
// and suspends them, in the local server's data or in a DynamoDB table:
//
//	kobana-admin -h
//
// It ends with 0 when it did what was asked, 1 when it could not, and 2 when
// the command line is no command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/infra/admin"
	"github.com/universokobana/kobana-inbox-mcp/infra/local"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	c, err := admin.Parse(args)
	if usage, ok := errors.AsType[*admin.UsageError](err); ok && usage.Problem == "" {
		fmt.Fprint(stdout, usage.Usage)
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "kobana-admin:", err)
		return 2
	}
	out, err := carryOut(ctx, c, getenv, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "kobana-admin:", err)
		return 1
	}
	stdout.Write(out)
	return 0
}

// carryOut runs the command on the store that the environment names.
func carryOut(ctx context.Context, c *admin.Command, getenv func(string) string, stderr io.Writer) ([]byte, error) {
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	table := getenv("DATA_TABLE")
	switch {
	case table == "":
		config, err := local.ConfigFrom(getenv)
		if err != nil {
			return nil, err
		}
		return local.Admin(ctx, config, c, log)
	case getenv("DATA_DIR") != "":
		return nil, errors.New("both DATA_TABLE and DATA_DIR are set: unset the store that is not meant")
	case getenv("AWS_REGION") == "":
		return nil, errors.New("AWS_REGION is not set: it says where the table DATA_TABLE is")
	}
	t := dynamo.New(dynamo.NewClient(dynamo.Options{
		Region: getenv("AWS_REGION"), Endpoint: getenv("AWS_ENDPOINT_URL_DYNAMODB"),
	}), table)
	return c.Run(ctx, &admin.Books{
		Directory: access.NewDirectory(t), DB: inboxstore.New(inboxstore.Options{Table: t, Log: log}), Now: time.Now,
	})
}
