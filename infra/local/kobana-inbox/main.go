// Command kobana-inbox runs the product on one machine, and imports mail into
// it:
//
//	kobana-inbox
//	kobana-inbox import FILE INBOX
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/universokobana/kobana-inbox-mcp/infra/local"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kobana-inbox:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	c, err := local.ConfigFrom(os.Getenv)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	switch {
	case len(args) == 0:
		s, err := local.Open(ctx, c, log)
		if err != nil {
			return err
		}
		s.Banner(os.Stdout)
		return s.Serve(ctx)
	case args[0] == "import" && len(args) == 3:
		log.Info("importing", "DATA_DIR", c.DataDir)
		return local.Import(ctx, c, args[1], args[2], os.Stdout, log)
	}
	return errors.New("usage: kobana-inbox, or kobana-inbox import FILE INBOX")
}
