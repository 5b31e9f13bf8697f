package local

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/infra/admin"
)

// Admin carries out an operator's command on the data directory, by the server
// that runs there or else here, and returns its answer.
func Admin(ctx context.Context, c Config, command *admin.Command, log *slog.Logger) (answer []byte, err error) {
	if server := c.running(); server != nil {
		args, err := json.Marshal(command.Args)
		if err != nil {
			return nil, err
		}
		return server.post(ctx, "/admin", args)
	}
	d, err := openData(ctx, c, "", log)
	if err != nil {
		return nil, err
	}
	answer, err = command.Run(ctx, d.books())
	return answer, errors.Join(err, d.close())
}

func (d *data) books() *admin.Books {
	return &admin.Books{Directory: d.directory, DB: d.inboxes, Now: time.Now}
}

// adminHandler runs the command line, a JSON list, of a POST.
func adminHandler(d *data) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args []string
		if err := json.UnmarshalRead(r.Body, &args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		command, err := admin.Parse(args)
		var answer []byte
		if err == nil {
			answer, err = command.Run(r.Context(), d.books())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Write(answer)
	})
}
