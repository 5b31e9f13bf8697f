package admin

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

// answer is a table: each row a record, for people and for programs.
type answer struct {
	header string
	rows   []row
}

type row struct {
	cells  []string
	record any // its JSON
}

// write writes the rows as a table with a header, or as one JSON object a line.
func (a answer) write(asJSON bool) ([]byte, error) {
	var b bytes.Buffer
	if asJSON {
		for _, r := range a.rows {
			if err := json.MarshalWrite(&b, r.record); err != nil {
				return nil, err
			}
			b.WriteByte('\n')
		}
		return b.Bytes(), nil
	}
	if len(a.rows) == 0 {
		return []byte("none\n"), nil
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(a.header, " ", "\t"))
	for _, r := range a.rows {
		fmt.Fprintln(w, strings.Join(r.cells, "\t"))
	}
	err := w.Flush()
	return b.Bytes(), err
}

// one makes of the answer about many records the answer about one.
func one[T any](many func([]T, error) (answer, error)) func(T, error) (answer, error) {
	return func(v T, err error) (answer, error) { return many([]T{v}, err) }
}

func organizations(list []access.Organization, err error) (answer, error) {
	a := answer{header: "ID NAME CREATED"}
	for _, o := range list {
		a.rows = append(a.rows, row{[]string{string(o.ID), o.Name, day(o.CreatedAt)}, o})
	}
	return a, err
}

func workspaces(list []inboxstore.Workspace, err error) (answer, error) {
	a := answer{header: "ID ORGANIZATION LABEL PREFIX LOCALE CREATED"}
	for _, w := range list {
		a.rows = append(a.rows, row{
			[]string{string(w.ID), string(w.Organization), w.Label, w.EmailPrefix, string(w.Locale), day(w.CreatedAt)},
			struct {
				ID           access.WorkspaceID    `json:"id"`
				ExternalID   *string               `json:"external_id"`
				Organization access.OrganizationID `json:"organization_id"`
				Label        string                `json:"label"`
				EmailPrefix  string                `json:"email_prefix"`
				Locale       inbox.Locale          `json:"locale"`
				CostLimit    *float64              `json:"monthly_cost_limit"`
				EmailsLimit  *int64                `json:"monthly_emails_limit"`
				CreatedAt    time.Time             `json:"created_at"`
			}{w.ID, w.ExternalID, w.Organization, w.Label, w.EmailPrefix, w.Locale, w.MonthlyCostLimit, w.MonthlyEmailsLimit, w.CreatedAt},
		})
	}
	return a, err
}

func memberships(list []access.Membership, err error) (answer, error) {
	a := answer{header: "WORKSPACE ISSUER SUBJECT ROLE STATUS SINCE PERMISSIONS"}
	for _, m := range list {
		status, permissions := "active", "of the role"
		if m.Suspended {
			status = "suspended"
		}
		if m.Explicit != nil {
			permissions = "none"
		}
		if len(m.Explicit) > 0 {
			permissions = strings.Join(m.Explicit, ",")
		}
		a.rows = append(a.rows, row{
			[]string{string(m.Workspace), m.Person.Issuer, m.Person.Subject, string(m.Role), status, day(m.CreatedAt), permissions}, m,
		})
	}
	return a, err
}

func inboxes(list []inbox.Inbox, err error) (answer, error) {
	a := answer{header: "ID LABEL EMAIL STATUS REPLY CREATED"}
	for _, in := range list {
		a.rows = append(a.rows, row{[]string{string(in.ID), in.Label, in.Email, string(in.Status), string(in.Reply), day(in.CreatedAt)}, in})
	}
	return a, err
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
