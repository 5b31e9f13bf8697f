package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
)

// Importing puts messages into an inbox from the command line.

// imported is what became of one message.
type imported struct {
	ID     inbox.ID          `json:"id"`
	Status inbox.EmailStatus `json:"status"`
	Reason string            `json:"reason,omitempty"` // why it failed
}

func (d *data) find(ctx context.Context, ref string) error {
	_, err := d.findInbox(ctx, ref)
	return err
}

func (d *data) receive(ctx context.Context, ref string, raw []byte) (imported, error) {
	in, err := d.findInbox(ctx, ref)
	if err != nil {
		return imported{}, err
	}
	email, err := d.intake.Receive(ctx, intake.Delivery{Inbox: in, Raw: raw})
	if err != nil {
		return imported{}, err
	}
	out := imported{ID: email.ID, Status: email.Status}
	if email.RejectionReason != nil {
		out.Reason = *email.RejectionReason
	}
	return out, nil
}

// readMessage reads a raw message, and of one that is too large only as much
// as shows that.
func readMessage(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, intake.MaxRaw+1)) }

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMessage(f)
}

// importHandler takes one message per POST, for the inbox in the query.
func importHandler(d *data) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := readMessage(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := d.receive(r.Context(), r.URL.Query().Get("inbox"), raw)
		if err != nil {
			http.Error(w, sentence(err), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.MarshalWrite(w, out)
	})
}

// inboxHandler says by its status whether there is the inbox that a POST names.
func inboxHandler(d *data) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := d.findInbox(r.Context(), r.URL.Query().Get("inbox")); err != nil {
			http.Error(w, sentence(err), http.StatusUnprocessableEntity)
		}
	})
}

// sentence is what a person is told of an error.
func sentence(err error) string {
	if e, ok := errors.AsType[*inbox.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// ImportUsage is the help of the command.
const ImportUsage = `usage: kobana-inbox import FILE INBOX

Puts FILE, a message, or each .eml file in the folder FILE, into INBOX: an
address, id or external_id. DATA_DIR must be the one of a server, which may be
running. Where there is no such INBOX, no file is taken in. One line for each file
tells what became of it:

  approved   it was let in, and waits for the inbox's agent
  processed  it was let in; the inbox has no agent
  rejected   it is kept; the inbox's rules turned it away
  failed     it is kept; it could not be read as mail, or the inbox's filters
             could not be applied
  not taken  it is not kept

The exit code is 0 when each file was approved, processed or rejected, and 1 when
any failed or was not taken. A file that is imported again becomes a new e-mail:
of a folder, import again only the files that were not taken.
`

// Import puts the message in the file at path, or each message in the folder
// there, into the inbox that ref names, as [ImportUsage] says. It tells out what
// became of each; its error says how many failed or were not taken.
func Import(ctx context.Context, c Config, path, ref string, out io.Writer, log *slog.Logger) error {
	if path == "" || ref == "" {
		return errors.New("say what to import, and where to: FILE=message.eml or a folder, INBOX=address, id or external_id")
	}
	messages, err := messagesAt(path)
	if err != nil {
		return err
	}
	to, done, err := c.receiver(ctx, log)
	if err != nil {
		return err
	}
	if err := to.find(ctx, ref); err != nil {
		return errors.Join(errors.New(sentence(err)+" No file was taken in."), done())
	}
	notTaken, failed := 0, 0
	for _, m := range messages {
		raw, err := readFile(m)
		var got imported
		if err == nil {
			got, err = to.receive(ctx, ref, raw)
		}
		if got.Status == inbox.EmailFailed {
			failed++
		}
		switch {
		case err != nil:
			notTaken++
			fmt.Fprintf(out, "not taken  %s: %s\n", m, sentence(err))
		case got.Reason != "":
			fmt.Fprintf(out, "%-9s  %s as %s: %s\n", got.Status, m, got.ID, got.Reason)
		default:
			fmt.Fprintf(out, "%-9s  %s as %s\n", got.Status, m, got.ID)
		}
	}
	err = done()
	if failed+notTaken > 0 {
		err = errors.Join(err, fmt.Errorf("of %d messages, %d failed and %d were not taken", len(messages), failed, notTaken))
	}
	return err
}

// messagesAt returns the file at path, or all .eml files in the folder there.
func messagesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var found []string
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.EqualFold(filepath.Ext(p), ".eml") {
			found = append(found, p)
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has no .eml files", path)
	}
	return found, err
}

// receiver takes messages.
type receiver interface {
	// find says by an error that ref names no inbox.
	find(ctx context.Context, ref string) error
	// receive puts one raw message into the inbox that ref names.
	receive(ctx context.Context, ref string, raw []byte) (imported, error)
}

// receiver returns the running server, or else the store opened here, to be
// closed by done.
func (c Config) receiver(ctx context.Context, log *slog.Logger) (to receiver, done func() error, err error) {
	if server := c.running(); server != nil {
		return server, func() error { return nil }, nil
	}
	d, err := openData(ctx, c, "", log)
	if err != nil {
		return nil, nil, err
	}
	return d, d.close, nil
}

func (r *running) find(ctx context.Context, ref string) error {
	_, err := r.post(ctx, "/inbox?inbox="+url.QueryEscape(ref), nil)
	return err
}

func (r *running) receive(ctx context.Context, ref string, raw []byte) (got imported, err error) {
	body, err := r.post(ctx, "/import?inbox="+url.QueryEscape(ref), raw)
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(body, &got)
}
