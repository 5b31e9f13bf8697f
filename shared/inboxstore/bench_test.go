package inboxstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// What a read costs must not grow with the number of records.
func BenchmarkReads(b *testing.B) {
	w := newWorld(b)
	ws := w.newWorkspace(b)
	boxes := []inbox.Inbox{anInbox(ws), anInbox(ws)}
	boxes[0].ExternalID = new("box")
	w.apply(b, ws, Insert(boxes[0]), Insert(boxes[1]))
	ctx, have := b.Context(), 0
	var middle inbox.Email
	for _, n := range []int{1e2, 1e3, 1e4, 1e5} {
		w.fill(b, ws, boxes[0].ID, n-have, func(i int, e *inbox.Email) {
			at := noon.Add(time.Duration(have+i) * time.Second)
			e.ID, e.ReceivedAt, e.InboxID, e.From = inbox.NewID(at), at, boxes[i%2].ID, fmt.Sprintf("sender-%d@example.com", i%20)
			if i == (n-have)/2 {
				middle = *e
			}
		})
		have = n
		w.table.Reset()
		for _, c := range []struct {
			name string
			read func() error
		}{
			{"get", func() error { _, err := w.Inbox(ctx, ws, string(boxes[0].ID)); return err }},
			{"get-by-external-id", func() error { _, err := w.Inbox(ctx, ws, "box"); return err }},
			{"list", func() error { _, err := w.Emails(ctx, ws, inbox.EmailFilter{}, inbox.PageRequest{}); return err }},
			{"list-by-inbox", func() error {
				_, err := w.Emails(ctx, ws, inbox.EmailFilter{Inbox: "box"}, inbox.PageRequest{})
				return err
			}},
			{"list-until", func() error {
				_, err := w.Emails(ctx, ws, inbox.EmailFilter{Until: middle.ReceivedAt}, inbox.PageRequest{})
				return err
			}},
			{"complete", func() error { _, _, err := w.RecentIDs(ctx, ws, inbox.Emails, string(middle.ID)[:6], 100); return err }},
		} {
			b.Run(fmt.Sprintf("%s/records=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.read(); err != nil {
						b.Fatal(err)
					}
				}
				w.table.Reset()
			})
		}
	}
}
