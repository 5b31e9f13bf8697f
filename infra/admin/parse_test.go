package admin

import (
	"errors"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		line, problem, usage string
	}{
		{"", "say what to do", "-h lists the commands"},
		{"members", `there is no command "members"`, "-h lists the commands"},
		{"members remove x", `there is no command "members remove"`, "-h lists the commands"},
		{"members list", "members list takes 1 arguments, not 0", "usage: members list WORKSPACE [flags]"},
		{"organizations list x", "organizations list takes 0 arguments, not 1", "usage: organizations list [flags]"},
		{"members add w i s viewer extra", "members add takes 4 arguments, not 5", "usage: members add WORKSPACE ISSUER SUBJECT ROLE"},
		{"workspaces create o l p -locale", "flag needs an argument: -locale", "-cost-limit USD"},
		{"workspaces create o l p -emails-limit x", `invalid value "x" for flag -emails-limit`, "-emails-limit"},
		{"members list w -organization o", "flag provided but not defined: -organization", "-json"},
		{"-h", "", "members reinstate WORKSPACE ISSUER SUBJECT"},
		{"help", "", "DATA_TABLE"},
		{"workspaces create -h", "", "-external-id UUID"},
		{"members add w i s viewer --help", "", "-permissions LIST"},
	} {
		_, err := Parse(strings.Fields(c.line))
		usage, ok := errors.AsType[*UsageError](err)
		if !ok || !strings.HasPrefix(usage.Problem, c.problem) || (usage.Problem == "") != (c.problem == "") || !strings.Contains(usage.Usage, c.usage) {
			t.Errorf("%q: %+v", c.line, err)
		}
	}
}

// TestHelpIsComplete: every command is in the overview and tells of itself.
func TestHelpIsComplete(t *testing.T) {
	for _, c := range commands() {
		_, err := Parse(append(strings.Fields(c.words), "-h"))
		usage, ok := errors.AsType[*UsageError](err)
		if !ok || !strings.Contains(usage.Usage, c.about) || !strings.Contains(overview(), "  "+strings.TrimSpace(c.words+" "+c.needs)+"\n") {
			t.Errorf("%s: %v", c.words, err)
		}
	}
}

// TestValuesThatLookLikeFlags: after -- everything is an argument.
func TestValuesThatLookLikeFlags(t *testing.T) {
	o := newOffice(t)
	if got := o.do("organizations", "create", "--", "-x", "-h"); !strings.Contains(got, "-x  -h") {
		t.Errorf("got %s", got)
	}
}
