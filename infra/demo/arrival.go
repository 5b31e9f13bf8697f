package demo

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/rules"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
	"github.com/universokobana/kobana-inbox-mcp/shared/worker"
)

//go:embed mail/*.eml
var messages embed.FS

// arrival is one of the messages, and how long ago it arrived.
type arrival struct {
	name string
	in   inbox.Inbox
	ago  time.Duration
}

// run lets the messages arrive, in their order, and lives through the time
// after each until the next one, and at last until now.
func (s *Seeder) run(ctx context.Context, arrivals []arrival) error {
	house := httptest.NewServer(http.HandlerFunc(s.answer))
	defer house.Close()
	steps := pipeline.New(pipeline.Options{Log: s.Log, Now: s.clock.tick})
	in := intake.New(intake.Options{DB: s.db, Log: s.Log, Now: s.clock.tick, Pipeline: steps})
	w := worker.New(worker.Options{
		DB: s.db, Pipeline: steps, Now: s.clock.tick, Jitter: func() float64 { return 0.5 },
		Models: model.Providers{"rules": rules.Model{}},
		Sender: receivers{house.URL, webhooks.New(webhooks.Options{AllowLoopback: true, Now: s.clock.tick})},
		Log:    slog.New(slog.DiscardHandler), // what happened long ago is no news
	})
	for i, a := range arrivals {
		raw, err := messages.ReadFile("mail/" + a.name + ".eml")
		if err != nil {
			return err
		}
		at := s.ago(a.ago)
		s.clock.set(at)
		dated := strings.Replace(string(raw), "@DATE@", at.Add(-time.Minute).Format(time.RFC1123Z), 1)
		d := intake.Delivery{ID: "demo/" + a.name, Inbox: a.in, Raw: []byte(dated), ReceivedAt: at}
		if _, err := in.Receive(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		until := s.ago(0)
		if i+1 < len(arrivals) {
			until = s.ago(arrivals[i+1].ago)
		}
		if err := s.live(ctx, w, until); err != nil {
			return err
		}
	}
	return nil
}

// live lets a worker do what is due until then, at ever longer intervals.
func (s *Seeder) live(ctx context.Context, w *worker.Worker, until time.Time) error {
	end := s.db.At(func() time.Time { return until })
	for pause := 100 * time.Millisecond; ; pause = min(3*pause, time.Hour) {
		left, err := end.DueJobs(ctx, 1)
		if err != nil || len(left) == 0 {
			return err
		}
		if next := s.clock.at().Add(pause); next.Before(until) {
			s.clock.set(next)
		} else {
			s.clock.set(until)
		}
		if err := w.Sweep(ctx); err != nil {
			return err
		}
	}
}

// receivers sends what goes to the demo's receivers, which do not exist, to a
// house where their answers do. All else of a delivery is real.
type receivers struct {
	house string
	*webhooks.Sender
}

func (r receivers) Send(ctx context.Context, req webhooks.Request) (inbox.Delivery, error) {
	req.Webhook.URL = r.house + "/" + req.Webhook.Label
	return r.Sender.Send(ctx, req)
}

// brokenSince is how long ago the CRM ceased to take what it is told.
const brokenSince = 34 * time.Hour

// answer is that of a receiver: the ERP takes everything, the CRM nothing any
// more.
func (s *Seeder) answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/CRM" && s.clock.at().After(s.ago(brokenSince)) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "<h1>503 Service Unavailable</h1>")
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, "ok")
}
