// Package waking is the queue of SQS that wakes the worker's function up: a
// message is the id of a job in the store, and nothing else. A message that is
// lost costs a wait, as the worker's rounds find every job; one that comes
// twice costs nothing. Messages are grouped by workspace, which makes a standard
// queue a fair one: when one workspace has much of the worker, SQS gives out the
// others' messages first.
//
// It may import cloud, awshttp, access (for ids), inboxstore and the AWS SDK.
package waking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

const (
	batch    = 10               // messages in a call
	maxDelay = 15 * time.Minute // of a message

	// How a call is bounded: somebody waits for it.
	attempts = 2
	timeout  = 2 * time.Second // of one attempt
)

// Queue is a queue of SQS.
type Queue struct {
	f      *cloud.Function
	url    string
	now    func() time.Time
	client func() *sqs.Client // made when first needed
}

// Open returns the queue that QUEUE_URL names. It calls nobody.
func Open(f *cloud.Function) (*Queue, error) {
	url, err := f.Require("QUEUE_URL")
	return &Queue{f: f, url: url, now: time.Now, client: sync.OnceValue(func() *sqs.Client { return newClient(f) })}, err
}

func newClient(f *cloud.Function) *sqs.Client {
	o := sqs.Options{
		Region:      f.Region(),
		Credentials: f.Credentials(),
		Retryer:     retry.NewStandard(func(s *retry.StandardOptions) { s.MaxAttempts = attempts }),
		HTTPClient:  awshttp.NewClient(awshttp.Options{Timeout: timeout}),
	}
	if url := f.Getenv("AWS_ENDPOINT_URL_SQS"); url != "" {
		o.BaseEndpoint = &url
	}
	return sqs.New(o)
}

// Wake sends a message for each job, to come when it is due, as
// inboxstore.Options wants it. What is due later than a message can be held
// back for is left to the worker's rounds, and so is all of it when that fails,
// which is logged.
func (q *Queue) Wake(ctx context.Context, jobs ...inboxstore.Job) {
	var messages []message
	for _, j := range jobs {
		if delay := q.delay(j.Due); delay <= maxDelay {
			messages = append(messages, message{j.ID, j.Workspace, delay})
		}
	}
	if err := q.send(context.WithoutCancel(ctx), messages); err != nil {
		q.f.Log.WarnContext(ctx, "the worker was not woken up", "jobs", len(messages), "error", err)
	}
}

// WakeNow sends a message for each job, as worker.Options wants it.
func (q *Queue) WakeNow(ctx context.Context, jobs ...inboxstore.DueJob) error {
	var messages []message
	for _, j := range jobs {
		messages = append(messages, message{j.ID, j.Workspace, 0})
	}
	return q.send(ctx, messages)
}

// message is a wake-up that is still to be sent.
type message struct {
	id    inboxstore.JobID
	group access.WorkspaceID
	delay time.Duration // whole seconds
}

// delay is how long from now a time is, in whole seconds: a message that comes
// too early does nothing.
func (q *Queue) delay(due time.Time) time.Duration {
	wait := max(0, due.Sub(q.now()))
	return (wait + time.Second - 1).Truncate(time.Second)
}

// send sends all messages, as far as it goes.
func (q *Queue) send(ctx context.Context, messages []message) error {
	var errs []error
	for some := range slices.Chunk(messages, batch) {
		errs = append(errs, q.sendBatch(ctx, some))
	}
	return errors.Join(errs...)
}

func (q *Queue) sendBatch(ctx context.Context, messages []message) error {
	in := &sqs.SendMessageBatchInput{QueueUrl: &q.url}
	for n, m := range messages {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: new(strconv.Itoa(n)), MessageBody: new(string(m.id)), MessageGroupId: new(string(m.group)), DelaySeconds: int32(m.delay / time.Second),
		})
	}
	out, err := q.client().SendMessageBatch(ctx, in)
	if err != nil {
		return fmt.Errorf("sqs: %w", err)
	}
	if len(out.Failed) > 0 {
		return fmt.Errorf("sqs: %d of %d messages were not taken, the first one for %s", len(out.Failed), len(messages), *out.Failed[0].Code)
	}
	return nil
}
