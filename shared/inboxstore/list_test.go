package inboxstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// fill puts n e-mails into an inbox, one a millisecond, as the function leaves
// them.
func (w *world) fill(t testing.TB, ws access.WorkspaceID, box inbox.ID, n int, change func(i int, e *inbox.Email)) {
	t.Helper()
	var changes []Change
	for i := range n {
		e := anEmail(ws, box, noon.Add(time.Duration(i)*time.Millisecond))
		if change != nil {
			change(i, &e)
		}
		if changes = append(changes, Insert(e)); len(changes) == 25 || i == n-1 {
			w.apply(t, ws, changes...)
			changes = nil
		}
	}
}

func TestPageLimits(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	w.fill(t, ws, anInbox(ws).ID, 201, nil)
	for limit, want := range map[int]int{0: 50, 1: 1, 50: 50, 200: 200} {
		page := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, inbox.EmailFilter{}, inbox.PageRequest{Limit: limit}))
		if len(page.Data) != want || page.NextCursor == nil {
			t.Errorf("limit %d: %d e-mails, next %v; want %d and a cursor", limit, len(page.Data), page.NextCursor, want)
		}
	}
	for _, limit := range []int{-1, 201, 1 << 40} {
		_, err := w.Emails(t.Context(), ws, inbox.EmailFilter{}, inbox.PageRequest{Limit: limit})
		wantError(t, err, inbox.CodeInvalid, "limit")
		_, err = w.Workspaces(t.Context(), []access.WorkspaceID{ws}, inbox.PageRequest{Limit: limit})
		wantError(t, err, inbox.CodeInvalid, "limit")
	}
}

func TestLastPageHasNoCursor(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	w.fill(t, ws, anInbox(ws).ID, 10, nil)
	page := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, inbox.EmailFilter{}, inbox.PageRequest{Limit: 10}))
	if len(page.Data) != 10 || page.NextCursor != nil {
		t.Errorf("10 of 10: %d e-mails, next %v", len(page.Data), page.NextCursor)
	}
	empty := must[inbox.Page[inbox.Agent]](t)(w.Agents(t.Context(), ws, inbox.PageRequest{}))
	if got := allJSON(t, empty, nil); got != `{"data":[],"next_cursor":null}` {
		t.Errorf("empty list: %s", got)
	}
}

func TestMaxBytesEndsAPageEarly(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	w.fill(t, ws, anInbox(ws).ID, 20, nil)
	one := len(must[[]byte](t)(encode(anEmail(ws, anInbox(ws).ID, noon))))
	for max, want := range map[int]int{1: 1, one: 1, 3*one + 100: 3, 0: 20} {
		page := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, inbox.EmailFilter{}, inbox.PageRequest{MaxBytes: max}))
		if len(page.Data) != want || (page.NextCursor == nil) != (want == 20) {
			t.Errorf("at most %d bytes: %d e-mails, next %v; want %d", max, len(page.Data), page.NextCursor, want)
		}
	}
}

func TestCursors(t *testing.T) {
	w := newWorld(t)
	ws, other := w.newWorkspace(t), w.newWorkspace(t)
	box := anInbox(ws)
	w.apply(t, ws, Insert(box))
	w.fill(t, ws, box.ID, 4, nil)
	w.fill(t, other, anInbox(other).ID, 4, nil)
	emails := func(db *DB, ws access.WorkspaceID, f inbox.EmailFilter, cursor string) (inbox.Page[inbox.Email], error) {
		return db.Emails(t.Context(), ws, f, inbox.PageRequest{Limit: 2, Cursor: cursor})
	}
	first := must[inbox.Page[inbox.Email]](t)(emails(w.DB, ws, inbox.EmailFilter{}, ""))
	cursor := *first.NextCursor

	t.Run("10.03 survive another process", func(t *testing.T) {
		again := must[inbox.Page[inbox.Email]](t)(emails(New(w.opts), ws, inbox.EmailFilter{}, cursor))
		if len(again.Data) != 2 || again.Data[0].ID >= first.Data[1].ID {
			t.Errorf("second page by another DB: %+v", again.Data)
		}
	})
	t.Run("survive that the record they stand at is deleted", func(t *testing.T) {
		last := must[Stored[inbox.Email]](t)(Get[inbox.Email](t.Context(), w.DB, ws, string(first.Data[1].ID)))
		w.apply(t, ws, Delete(last))
		if again := must[inbox.Page[inbox.Email]](t)(emails(w.DB, ws, inbox.EmailFilter{}, cursor)); len(again.Data) != 2 {
			t.Errorf("second page: %+v", again.Data)
		}
	})

	refused := map[string]func() error{}
	for name, c := range map[string]string{
		"10.02 garbage":           "zz",
		"10.02 no base64":         "*",
		"10.02 cut":               cursor[:len(cursor)-1],
		"10.02 longer":            cursor + "AAAA",
		"10.02 a line break":      cursor[:8] + "\n" + cursor[8:],
		"10.02 no position":       base64.RawURLEncoding.EncodeToString(must[[]byte](t)(base64.RawURLEncoding.DecodeString(cursor))[:7]),
		"10.02 another position":  *cursorsOf("", "", "", "w#"+string(ws)+"#emails", "", "").seal("x#y"),
		"10.02 another version":   "_" + cursor[1:],
		"10.02 an id":             string(first.Data[0].ID),
		"10.02 a very long one":   strings.Repeat("A", 1<<20),
		"10.02 not UTF-8":         "\xff",
		"10.02 nothing but zeros": "AAAAAAAAAAAAAAAA",
	} {
		refused[name] = func() error { _, err := emails(w.DB, ws, inbox.EmailFilter{}, c); return err }
	}
	refused["10.02 of another workspace"] = func() error { _, err := emails(w.DB, other, inbox.EmailFilter{}, cursor); return err }
	refused["10.02 of another list"] = func() error {
		_, err := w.AgentRuns(t.Context(), ws, inbox.AgentRunFilter{}, inbox.PageRequest{Cursor: cursor})
		return err
	}
	refused["10.02 of the workspaces"] = func() error {
		_, err := w.Workspaces(t.Context(), []access.WorkspaceID{ws}, inbox.PageRequest{Cursor: cursor})
		return err
	}
	for name, f := range map[string]inbox.EmailFilter{
		"status": {Status: inbox.EmailReceived}, "from": {From: "ana@example.com"}, "inbox": {Inbox: string(box.ID)},
		"since": {Since: noon}, "until": {Until: noon.Add(time.Hour)},
	} {
		refused["10.02 of another filter: "+name] = func() error { _, err := emails(w.DB, ws, f, cursor); return err }
	}
	for name, ask := range refused {
		t.Run(name, func(t *testing.T) { wantError(t, ask(), inbox.CodeInvalid, "cursor") })
	}
}

func TestTimesAreExactToTheMillisecond(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	w.fill(t, ws, anInbox(ws).ID, 3, nil) // at 0, 1 and 2 ms past noon
	for _, c := range []struct {
		name         string
		since, until time.Duration
		want         int
	}{
		{"since is included", time.Millisecond, time.Hour, 2},
		{"until is not", -time.Hour, time.Millisecond, 1},
		{"since a nanosecond later", time.Millisecond + 1, time.Hour, 1},
		{"until a nanosecond later", -time.Hour, time.Millisecond + 1, 2},
		{"one millisecond", time.Millisecond, 2 * time.Millisecond, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := inbox.EmailFilter{Since: noon.Add(c.since), Until: noon.Add(c.until)}
			if page := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, f, inbox.PageRequest{})); len(page.Data) != c.want {
				t.Errorf("%d e-mails, want %d", len(page.Data), c.want)
			}
		})
	}
	for _, until := range []time.Time{noon, noon.Add(-1)} {
		_, err := w.AgentRuns(t.Context(), ws, inbox.AgentRunFilter{Since: noon, Until: until}, inbox.PageRequest{})
		wantError(t, err, inbox.CodeInvalid, "until")
	}
}

// Of 1,300 e-mails from one address only the newest and the oldest are in the
// rare inbox.
func TestAListReadsAtMostAThousand(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	rare, common := anInbox(ws), anInbox(ws)
	w.apply(t, ws, Insert(rare), Insert(common))
	w.fill(t, ws, common.ID, 1300, func(i int, e *inbox.Email) {
		if i == 0 || i == 1299 {
			e.InboxID = rare.ID
		}
	})
	f := inbox.EmailFilter{Inbox: string(rare.ID), From: "ana@example.com"}
	w.calls()
	page := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, f, inbox.PageRequest{}))
	if len(page.Data) != 1 || page.NextCursor == nil {
		t.Fatalf("first page: %d e-mails, next %v; want 1 and a cursor", len(page.Data), page.NextCursor)
	}
	w.wantCalls(t, "first page", 1, maxRead/filterPage)
	page = must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, f, inbox.PageRequest{Cursor: *page.NextCursor}))
	if len(page.Data) != 1 || page.NextCursor != nil {
		t.Errorf("second page: %d e-mails, next %v; want 1 and no cursor", len(page.Data), page.NextCursor)
	}
}

func TestIndexOrder(t *testing.T) {
	s := space("w")
	for _, c := range []struct {
		values map[string]string
		want   string
	}{
		{nil, s.records(inbox.AgentRuns, "")},
		{map[string]string{"inbox": "i"}, s.listed(inbox.AgentRuns, "", "inbox", "i")},
		{map[string]string{"inbox": "i", "agent": "a", "status": "failed"}, s.listed(inbox.AgentRuns, "", "status", "failed")},
		{map[string]string{"inbox": "i", "agent": "a", "status": "success"}, s.listed(inbox.AgentRuns, "", "agent", "a")},
		{map[string]string{"status": "success"}, s.listed(inbox.AgentRuns, "", "status", "success")},
		{map[string]string{"email": "e", "status": "failed"}, s.listed(inbox.AgentRuns, "", "email", "e")},
	} {
		t.Run(fmt.Sprint(c.values), func(t *testing.T) {
			if q := agentRuns.query(listing{space: s, values: c.values}, 10); q.Partition != c.want {
				t.Errorf("reads %s, want %s", q.Partition, c.want)
			}
		})
	}
}

func TestExpiredEmailsAreGone(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Retention = time.Hour })
	ws := w.newWorkspace(t)
	box := anInbox(ws)
	w.apply(t, ws, Insert(box))
	w.fill(t, ws, box.ID, 300, nil)
	old := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, inbox.EmailFilter{}, inbox.PageRequest{Limit: 1})).Data[0]
	w.apply(t, ws, Content(old.ID, inbox.EmailContent{Text: new("text")}))
	fresh := anEmail(ws, box.ID, noon.Add(2*time.Second))
	w.apply(t, ws, Insert(fresh), Content(fresh.ID, inbox.EmailContent{Text: new("text")}))
	w.now = noon.Add(time.Hour + time.Second) // exactly when those of the first second end

	for _, f := range []inbox.EmailFilter{{}, {Inbox: string(box.ID)}, {Status: inbox.EmailReceived, From: "ana@example.com"}} {
		page := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, f, inbox.PageRequest{}))
		if len(page.Data) != 1 || page.Data[0].ID != fresh.ID || page.NextCursor != nil {
			t.Errorf("%+v: %d e-mails, next %v; want the fresh one", f, len(page.Data), page.NextCursor)
		}
	}
	if ids, more, err := w.RecentIDs(t.Context(), ws, inbox.Emails, "", 5); err != nil || len(ids) != 1 {
		t.Errorf("ids to complete: %v, %v, %v", ids, more, err)
	}
	_, _, err := w.Email(t.Context(), ws, old.ID)
	wantError(t, err, inbox.CodeNotFound, "id")
	if _, c, err := w.Email(t.Context(), ws, fresh.ID); err != nil || c.Text == nil {
		t.Errorf("fresh e-mail: %v, %v", c, err)
	}
}

func TestListsOfWorkspaces(t *testing.T) {
	w := newWorld(t)
	ids := []access.WorkspaceID{w.newWorkspace(t), w.newWorkspace(t), w.newWorkspace(t), w.newWorkspace(t)}
	ids[0], ids[1] = ids[1], ids[0] // the order is the caller's
	gone := must[Stored[Workspace]](t)(Get[Workspace](t.Context(), w.DB, ids[2], string(ids[2])))
	w.apply(t, ids[2], Delete(gone))
	var got []access.WorkspaceID
	for p := (inbox.PageRequest{Limit: 1}); ; {
		page := must[inbox.Page[inbox.Workspace]](t)(w.Workspaces(t.Context(), ids, p))
		for _, r := range page.Data {
			got = append(got, r.ID)
		}
		if page.NextCursor == nil {
			break
		}
		p.Cursor = *page.NextCursor
		_, err := w.Workspaces(t.Context(), ids[3:], p)
		wantError(t, err, inbox.CodeInvalid, "cursor")
	}
	if d := diff([]access.WorkspaceID{ids[0], ids[1], ids[3]}, got); d != "" {
		t.Errorf("workspaces (-want +got):\n%s", d)
	}
	slices.Sort(got)
	if d := diff(got, must[[]access.WorkspaceID](t)(w.WorkspaceIDs(t.Context()))); d != "" {
		t.Errorf("all workspaces (-want +got):\n%s", d)
	}
}

func TestListsEndWithTheContext(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Inboxes(ctx, ws, inbox.PageRequest{}); err == nil {
		t.Error("no error after the context ended")
	}
}
