package inbox

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// wantField fails unless err names the field at fault, "" for no error.
func wantField(t *testing.T, name string, err error, field string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeInvalid || e.Field != field || !strings.HasSuffix(e.Message, " Nothing was changed.") {
		t.Errorf("%s: %v, want the fault in %s, and that nothing was changed", name, err, field)
	}
}

func TestWorkspaceValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Workspace)
		field  string
	}{
		"as it is": {func(*Workspace) {}, ""},
		"at its bounds": {func(w *Workspace) {
			w.Label, w.EmailPrefix = strings.Repeat("é", MaxLabel), strings.Repeat("a", MaxEmailPrefix)
		}, ""},
		"no limits":            {func(w *Workspace) { w.MonthlyCostLimit, w.MonthlyEmailsLimit = nil, nil }, ""},
		"no label":             {func(w *Workspace) { w.Label = " " }, "label"},
		"long label":           {func(w *Workspace) { w.Label = strings.Repeat("é", MaxLabel+1) }, "label"},
		"label of two lines":   {func(w *Workspace) { w.Label = "a\nb" }, "label"},
		"label in no UTF-8":    {func(w *Workspace) { w.Label = "a\xff" }, "label"},
		"prefix in upper case": {func(w *Workspace) { w.EmailPrefix = "Acme" }, "email_prefix"},
		"prefix with hyphens":  {func(w *Workspace) { w.EmailPrefix = "a--b" }, "email_prefix"},
		"prefix with newline":  {func(w *Workspace) { w.EmailPrefix = "a\n" }, "email_prefix"},
		"long prefix":          {func(w *Workspace) { w.EmailPrefix = strings.Repeat("a", MaxEmailPrefix+1) }, "email_prefix"},
		"locale":               {func(w *Workspace) { w.Locale = "pt" }, "locale"},
		"cost of nothing":      {func(w *Workspace) { w.MonthlyCostLimit = new(0.0) }, "monthly_cost_limit"},
		"cost without end":     {func(w *Workspace) { w.MonthlyCostLimit = new(math.Inf(1)) }, "monthly_cost_limit"},
		"cost that is none":    {func(w *Workspace) { w.MonthlyCostLimit = new(math.NaN()) }, "monthly_cost_limit"},
		"no e-mails":           {func(w *Workspace) { w.MonthlyEmailsLimit = new(int64(0)) }, "monthly_emails_limit"},
		"metadata of a list":   {func(w *Workspace) { w.Metadata = Object(`[]`) }, "metadata"},
		"broken metadata":      {func(w *Workspace) { w.CustomMetadata = Object(`{"a":1,"a":2}`) }, "custom_metadata"},
		"large metadata":       {func(w *Workspace) { w.Metadata = Object(`{"a":"` + strings.Repeat("x", MaxMetadata) + `"}`) }, "metadata"},
	} {
		w := Workspace{Label: "Acme", EmailPrefix: "acme-1", Locale: Portuguese, MonthlyCostLimit: new(1.5), MonthlyEmailsLimit: new(int64(1)), Metadata: Object(`{"a":1}`)}
		c.change(&w)
		wantField(t, name, w.Validate(), c.field)
	}
}

// A label shows something, and no more than its line.
func TestLabelsCanBeSeen(t *testing.T) {
	for s, ok := range map[string]bool{
		"Finance": true, "São Paulo": true, "e\u0301\u0327": true, "会計": true, "बिक्री": true, "שָׁלוֹם": true, "ที่นี่": true, "ပို့": true, "📥": true,
		"1\ufe0f\u20e3": true, "👩\u200d💻": true, "?": true,
		"": false, " ": false, "\u3164": false, "\uffa0": false, "\u115f \u1160": false, "\u2800": false, "\u200b": false, "\u00ad": false, "\u2060\ufeff": false,
		"\u202e": false, "\u0301": false, "\ufe0f": false, "\u00a0": false, "\U000e0041": false, "\ue000": false, "\ufffd": false,
		"a" + strings.Repeat("\u0301", maxMarks): true, "a" + strings.Repeat("\u0301", maxMarks+1): false,
		"a" + strings.Repeat("\u0301\u200b", maxMarks+1): false, "a" + strings.Repeat("\u20dd", maxMarks+1): false,
	} {
		w := Workspace{Label: s, EmailPrefix: "a", Locale: English}
		field := "label"
		if ok {
			field = ""
		}
		wantField(t, fmt.Sprintf("%+q", s), w.Validate(), field)
	}
}

func TestInboxValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Inbox)
		field  string
	}{
		"as it is":          {func(*Inbox) {}, ""},
		"at its bounds":     {func(i *Inbox) { i.AttachmentsMaxFileNumber, i.AttachmentsMaxFileSize = MaxAttachments, MaxMessage }, ""},
		"label":             {func(i *Inbox) { i.Label = "" }, "label"},
		"address":           {func(i *Inbox) { i.Email = "x" }, "email"},
		"status":            {func(i *Inbox) { i.Status = "on" }, "status"},
		"recipient":         {func(i *Inbox) { i.AllowedRecipients = []string{"a@b.example", "x"} }, "allowed_recipients"},
		"filter":            {func(i *Inbox) { i.Filters = []Object{Object("{}")} }, "filters"},
		"no attachments":    {func(i *Inbox) { i.AttachmentsMaxFileNumber = 0 }, "attachments_max_file_number"},
		"many attachments":  {func(i *Inbox) { i.AttachmentsMaxFileNumber = MaxAttachments + 1 }, "attachments_max_file_number"},
		"negative size":     {func(i *Inbox) { i.AttachmentsMaxFileSize = -1 }, "attachments_max_file_size"},
		"more than SES has": {func(i *Inbox) { i.AttachmentsMaxTotalSize = MaxMessage + 1 }, "attachments_max_total_size"},
		"metadata":          {func(i *Inbox) { i.CustomMetadata = Object(`1`) }, "custom_metadata"},
	} {
		i := Inbox{Label: "x", Email: "a@b.example", Status: Active, AttachmentsMaxFileNumber: 1, AttachmentsMaxFileSize: 1, AttachmentsMaxTotalSize: 1}
		c.change(&i)
		wantField(t, name, i.Validate(), c.field)
	}
}

func TestAgentWebhookAndSecretValidate(t *testing.T) {
	agent := func(message string, repo *string) error {
		return (&Agent{Label: "x", SystemMessage: message, SkillsRepo: repo}).Validate()
	}
	hook := func(events ...string) error {
		return (&Webhook{Label: "x", Status: Active, SubscribedEvents: events}).Validate()
	}
	secret := func(name string, description *string) error {
		return (&Secret{Name: name, Description: description}).Validate()
	}
	for _, c := range []struct {
		err   error
		field string
	}{
		{agent("", nil), ""},
		{agent(strings.Repeat("x", MaxSystemMessage), new("https://git.example/a.git")), ""},
		{agent(strings.Repeat("x", MaxSystemMessage+1), nil), "system_message"},
		{agent("a\xff", nil), "system_message"},
		{agent("line\nline", nil), ""},
		{agent("", new("")), "skills_repo"},
		{agent("", new("http://git.example/a")), "skills_repo"},
		{agent("", new("git@git.example:a")), "skills_repo"},
		{agent("", new("https:///a")), "skills_repo"},
		{agent("", new("https://user:pass@git.example/a")), "skills_repo"},
		{agent("", new("https://git.example/"+strings.Repeat("a", MaxURL))), "skills_repo"},
		{hook("*"), ""},
		{hook("email.received", "webhook.test"), ""},
		{hook(), "subscribed_events"},
		{hook("email.received", "email"), "subscribed_events"},
		{hook("email.deleted"), "subscribed_events"}, // it names the person
		{hook("secret.created"), "subscribed_events"},
		{secret("API_KEY.v2-x", new("for the\tbank")), "description"},
		{secret("API_KEY.v2-x", new(strings.Repeat("é", MaxDescription))), ""},
		{secret("x", new(strings.Repeat("é", MaxDescription+1))), "description"},
		{secret("", nil), "name"},
		{secret("1x", nil), "name"},
		{secret("a b", nil), "name"},
		{secret("a\n", nil), "name"},
		{secret(strings.Repeat("a", 65), nil), "name"},
		{CheckSecretValue("x"), ""},
		{CheckSecretValue(""), "value"},
		{CheckSecretValue("a\xff"), "value"},
		{CheckSecretValue(strings.Repeat("x", MaxSecretValue+1)), "value"},
		{CheckModel("rules/demo"), ""},
		{CheckModel("rules"), "llm_model"},
		{CheckExternalID("0193864C-1e00-4abc-8def-0123456789ab"), ""},
		{CheckExternalID("0193864c1e004abc8def0123456789ab"), "external_id"},
		{CheckExternalID("{0193864c-1e00-4abc-8def-0123456789ab}"), "external_id"},
		{CheckExternalID(""), "external_id"},
	} {
		wantField(t, fmt.Sprint(c.err), c.err, c.field)
	}
}

func TestRecipients(t *testing.T) {
	got, err := Recipients([]string{"Ana@B.example", "c@d.example", "ana@b.EXAMPLE"})
	if err != nil || strings.Join(got, " ") != "Ana@B.example c@d.example" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Recipients(nil); got == nil || len(got) != 0 || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
	many := make([]string, 2*MaxRecipients)
	for i := range many {
		many[i] = fmt.Sprintf("a%d@b.example", i%(MaxRecipients+1))
	}
	if got, err := Recipients(many[:MaxRecipients]); len(got) != MaxRecipients || err != nil {
		t.Errorf("%d, %v", len(got), err)
	}
	_, err = Recipients(many)
	wantField(t, "too many", err, "allowed_recipients")
}

func TestIsAddress(t *testing.T) {
	for s, want := range map[string]bool{
		"a@b.example": true, "a.b+c@b.example": true, "joão@exemplo.example": true, "a@xn--bcher-kva.example": true,
		"": false, "a": false, "@b.example": false, "a@": false, "a@b@c.example": false, "a b@c.example": false, "Ana <a@b.example>": false, "<a@b.example>": false,
		"a@b.example, c@d.example": false, "a@b.example\r\nBcc: x@y.example": false, "a\u200b@b.example": false, "a\u202e@b.example": false, "a\u00a0@b.example": false,
		"a@b.example ": false, "(x)a@b.example": false, `"a b"@c.example`: false, "a\xff@b.example": false, strings.Repeat("a", 250) + "@b.example": false,
	} {
		if IsAddress(s) != want {
			t.Errorf("IsAddress(%q) = %v", s, !want)
		}
	}
}

func TestSubscribes(t *testing.T) {
	for _, c := range []struct {
		events []string
		slug   string
		want   bool
	}{
		{[]string{"*"}, EventEmailReceived, true},
		{[]string{"*"}, EventEmailDeleted, false}, // it names the person
		{[]string{"*"}, EventSecretCreated, false},
		{[]string{EventEmailFailed}, EventEmailFailed, true},
		{[]string{EventEmailFailed}, EventEmailReceived, false},
		{nil, EventEmailReceived, false},
	} {
		if w := (Webhook{SubscribedEvents: c.events}); w.Subscribes(c.slug) != c.want {
			t.Errorf("%q subscribes to %s: %v", c.events, c.slug, !c.want)
		}
	}
}

// What people write fits into an item of the store, at its largest: 390 KB, in
// which JSON takes up to six bytes for one.
func TestBoundsFitAnItem(t *testing.T) {
	for name, size := range map[string]int{
		"inbox":   MaxRecipients*(MaxAddress+3) + MaxFilters*(6*MaxFilterValue+MaxHeaderName+100) + 2*MaxMetadata,
		"agent":   6*MaxSystemMessage + MaxURL,
		"secret":  6 * MaxSecretValue,
		"webhook": 4*MaxURL + 6*MaxLabel,
	} {
		if size > 390<<10 {
			t.Errorf("%s: up to %d bytes", name, size)
		}
	}
}
