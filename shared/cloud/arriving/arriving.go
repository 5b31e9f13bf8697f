// Package arriving is what the function of arriving mail does: SES has put a
// message into the bucket, and calls it with the receipt (SES's receipt rules:
// an S3 action, then a Lambda action). Each inbox that the message is for keeps
// it. SES calls at least once and so does whoever repeats what failed; an inbox
// keeps one message of SES's id once.
//
// It may import cloud and the packages below it, telemetry, store, clip, and of
// the domain inbox, inboxstore, intake, mail and pipeline.
package arriving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// Prefix is where SES puts messages in the bucket, under their ids. They stay
// there until all inboxes have a copy of their own.
const Prefix = "incoming/"

// EmailsKept is how many e-mails were kept, repeated ones included.
const EmailsKept telemetry.Metric = "EmailsKept"

// Open returns the function. It calls nobody.
func Open(f *cloud.Function) (cloud.EventFunc, error) {
	r, err := records.Open(f)
	if err != nil {
		return nil, err
	}
	db := inboxstore.New(r.Options)
	return (&receiver{db: db, intake: intake.New(intake.Options{DB: db, Log: f.Log}), bucket: r.Raw, log: f.Log}).handle, nil
}

// receiver keeps what arrived.
type receiver struct {
	db     *inboxstore.DB
	intake *intake.Intake
	bucket store.Blobs
	log    *slog.Logger
}

// handle takes an event of SES's. Where inboxes cannot keep the message before the
// invocation ends, the log is told all the same.
func (r *receiver) handle(ctx context.Context, event []byte) ([]byte, error) {
	var e events.SimpleEmailEvent
	if err := json.Unmarshal(event, &e, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil || len(e.Records) == 0 {
		return nil, errors.New("arriving: this is no event of SES's")
	}
	ctx, cancel := cloud.InTime(ctx)
	defer cancel()
	var errs []error
	for _, record := range e.Records {
		errs = append(errs, r.receive(ctx, record.SES))
	}
	return nil, errors.Join(errs...)
}

// receive has all inboxes keep a message, and then takes it away. After an
// error it is to be called again.
func (r *receiver) receive(ctx context.Context, ses events.SimpleEmailService) error {
	id := ses.Mail.MessageID
	deliveries, strangers, err := r.deliveries(ctx, ses)
	kept := 0
	if err == nil {
		kept, err = r.keep(ctx, id, ses.Receipt, deliveries)
	}
	telemetry.Count(ctx, EmailsKept, float64(kept))
	attrs := []any{"ses_message", id, "inboxes", len(deliveries), "kept", kept, "strangers", strangers, "dmarc", ses.Receipt.DMARCVerdict.Status}
	if err != nil {
		r.log.ErrorContext(ctx, "mail was not kept by all of its inboxes", append(attrs, "cause", err)...)
		return fmt.Errorf("arriving: message %s was not kept by all of its inboxes; the log says why", id)
	}
	r.log.InfoContext(ctx, "mail arrived", attrs...)
	if err := r.bucket.Delete(ctx, Prefix+id); err != nil {
		r.log.WarnContext(ctx, "a message stays in the bucket until it expires there", "ses_message", id, "cause", err)
	}
	return nil
}

// deliveries are what inboxes are to keep, without the message. Recipients that
// are no inbox are strangers.
func (r *receiver) deliveries(ctx context.Context, ses events.SimpleEmailService) (list []intake.Delivery, strangers int, err error) {
	for _, address := range ses.Receipt.Recipients {
		in, err := r.db.InboxByAddress(ctx, address)
		switch {
		case inbox.CodeOf(err) == inbox.CodeNotFound:
			strangers++
			continue
		case err != nil:
			return nil, strangers, err
		case slices.ContainsFunc(list, func(d intake.Delivery) bool { return d.Inbox.ID == in.ID }):
			continue // an address written in two ways
		}
		list = append(list, intake.Delivery{
			ID: ses.Mail.MessageID, Inbox: in, EnvelopeFrom: ses.Mail.Source, ReceivedAt: ses.Receipt.Timestamp,
			SpamVerdict: verdict(ses.Receipt.SpamVerdict), VirusVerdict: verdict(ses.Receipt.VirusVerdict), SESMetadata: metadata(ses),
		})
	}
	for i := range list {
		for _, other := range list {
			if other.Inbox.WorkspaceID == list[i].Inbox.WorkspaceID {
				list[i].Recipients = append(list[i].Recipients, other.Inbox.Email)
			}
		}
	}
	return list, strangers, nil
}

// keep has each inbox keep the message, and tries them all.
func (r *receiver) keep(ctx context.Context, id string, receipt events.SimpleEmailReceipt, deliveries []intake.Delivery) (kept int, err error) {
	if len(deliveries) == 0 {
		return 0, nil
	}
	raw, err := r.bucket.Get(ctx, Prefix+id)
	if errors.Is(err, store.ErrNotFound) && r.keptBefore(ctx, deliveries) {
		return len(deliveries), nil
	}
	if err != nil {
		return 0, err
	}
	sender := senderOf(receipt, raw)
	var errs []error
	for _, d := range deliveries {
		d.Raw, d.Sender = raw, sender
		switch _, err := r.intake.Receive(ctx, d); {
		case err == nil, errors.Is(err, intake.ErrDeleted):
			kept++
		default:
			errs = append(errs, fmt.Errorf("inbox %s: %w", d.Inbox.ID, err))
		}
	}
	return kept, errors.Join(errs...)
}

// keptBefore reports whether all inboxes have kept the message, so that it was
// taken away.
func (r *receiver) keptBefore(ctx context.Context, deliveries []intake.Delivery) bool {
	return !slices.ContainsFunc(deliveries, func(d intake.Delivery) bool {
		email, err := r.intake.Kept(ctx, d)
		return !errors.Is(err, intake.ErrDeleted) && email.ID == ""
	})
}

// verdict is one of SES's as records have it.
func verdict(v events.SimpleEmailVerdict) *string {
	if v.Status == "" {
		return nil
	}
	return new(short(v.Status))
}

// metadata is what SES says of a message beside, in a record. Other recipients
// are not in it: they may be of another workspace.
func metadata(ses events.SimpleEmailService) inbox.Object {
	o, err := json.Marshal(struct {
		MessageID    string `json:"message_id"`
		Source       string `json:"source"`
		SPFVerdict   string `json:"spf_verdict,omitzero"`
		DKIMVerdict  string `json:"dkim_verdict,omitzero"`
		DMARCVerdict string `json:"dmarc_verdict,omitzero"`
		DMARCPolicy  string `json:"dmarc_policy,omitzero"`
	}{
		short(ses.Mail.MessageID), short(ses.Mail.Source), short(ses.Receipt.SPFVerdict.Status), short(ses.Receipt.DKIMVerdict.Status),
		short(ses.Receipt.DMARCVerdict.Status), short(ses.Receipt.DMARCPolicy),
	})
	if err != nil {
		return inbox.Object("{}") // which cannot be: it is bounded UTF-8
	}
	return o
}

// short bounds what should be short by itself.
func short(s string) string { return clip.Bytes(s, 512) }
