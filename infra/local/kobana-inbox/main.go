// Command kobana-inbox runs the product on one machine, and imports mail into
// it:
//
//	kobana-inbox
//	kobana-inbox import FILE INBOX
//	kobana-inbox import -h
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
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
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[len(args)-1]) {
		fmt.Print(usage)
		return nil
	}
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
	return errors.New("usage: kobana-inbox, or kobana-inbox import FILE INBOX; -h tells more")
}

const usage = `usage: kobana-inbox

Runs the server. README.md lists its settings, which are environment variables.

` + local.ImportUsage
