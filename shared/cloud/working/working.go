// Package working is what the worker's function does: the jobs that messages in
// its queue name, and every minute a round for what no message told of.
//
// It may import cloud and the packages below it, and everything that the worker
// needs.
package working

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/providers"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply/ses"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
	"github.com/universokobana/kobana-inbox-mcp/shared/worker"
)

// What is counted.
const (
	JobsDone   telemetry.Metric = "JobsDone"
	JobsFailed telemetry.Metric = "JobsFailed"
)

// Open returns the function. It calls nobody.
func Open(f *cloud.Function) (cloud.EventFunc, error) {
	r, sender, err1 := records.OpenSealed(f)
	models, err2 := providers.FromEnv(f.Getenv, providers.Options{Credentials: f.Credentials(), Secret: f.Secret})
	answers, err3 := replies(f)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	w := worker.New(worker.Options{
		DB: inboxstore.New(r.Options), Models: models, Sender: sender, Replies: answers, VerifiedOnly: true, Wake: r.Queue.WakeNow, Log: f.Log,
	})
	return (&handler{w, f.Log}).handle, nil
}

// replies are the way out for answers, nil where there is to be none.
func replies(f *cloud.Function) (reply.Sender, error) {
	switch on := f.Getenv("REPLIES"); on {
	case "", "false":
		return nil, nil
	case "true":
		return ses.New(ses.Options{Region: f.Region(), Credentials: f.Credentials(), Endpoint: f.Getenv("AWS_ENDPOINT_URL_SESV2")}), nil
	default:
		return nil, fmt.Errorf("REPLIES: %q is neither true nor false", on)
	}
}

// jobs are what a worker.Worker does.
type jobs interface {
	Do(ctx context.Context, id inboxstore.JobID) error
	Sweep(ctx context.Context) error
}

type handler struct {
	jobs jobs
	log  *slog.Logger
}

// event is one of SQS's, with messages, or one of EventBridge's, which has the
// time for a round.
type event struct {
	Records []events.SQSMessage `json:"Records"`
	Source  string              `json:"source"`
}

// handle takes an event.
func (h *handler) handle(ctx context.Context, payload []byte) ([]byte, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, errors.New("working: this is no event")
	}
	ctx, cancel := cloud.InTime(ctx)
	defer cancel()
	switch {
	case len(e.Records) > 0:
		return json.Marshal(events.SQSEventResponse{BatchItemFailures: h.do(ctx, e.Records)})
	case e.Source == "aws.events":
		return nil, h.sweep(ctx)
	}
	return nil, errors.New("working: this event is neither of SQS nor of EventBridge")
}

// do does the jobs that messages name, at once, and returns the messages that
// are to come again.
func (h *handler) do(ctx context.Context, messages []events.SQSMessage) []events.SQSBatchItemFailure {
	errs := make([]error, len(messages))
	var all sync.WaitGroup
	for n, m := range messages {
		all.Go(func() { errs[n] = h.jobs.Do(ctx, inboxstore.JobID(m.Body)) })
	}
	all.Wait()
	failed := []events.SQSBatchItemFailure{}
	for n, err := range errs {
		if err != nil {
			h.log.WarnContext(ctx, "a job is to be begun again", "job", messages[n].Body, "message", messages[n].MessageId,
				"received", messages[n].Attributes["ApproximateReceiveCount"], "cause", err)
			failed = append(failed, events.SQSBatchItemFailure{ItemIdentifier: messages[n].MessageId})
		}
	}
	telemetry.Count(ctx, JobsDone, float64(len(messages)-len(failed)))
	telemetry.Count(ctx, JobsFailed, float64(len(failed)))
	return failed
}

// sweep makes a round.
func (h *handler) sweep(ctx context.Context) error {
	if err := h.jobs.Sweep(ctx); err != nil {
		h.log.ErrorContext(ctx, "a round for jobs did not get to its end", "cause", err)
		return errors.New("working: a round did not get to its end; the log says why")
	}
	return nil
}
