package e2e

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// soakRounds is how many questions each of soakClients clients is asked and
// answers, one after the other.
const (
	soakClients = 4
	soakRounds  = 100
)

// TestSoak: under load, over four processes of the tools that share nothing
// but the tables, each yes runs exactly once however many processes it reaches
// at once, and a no, a forged answer and one of somebody else never (R13 to
// R15, field cases 30 and 31). Each deletion of a webhook leaves an event, so
// what ran can be counted.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK") != "1" {
		t.Skip("takes minutes: make soak")
	}
	s := use(t)
	owner, operator := s.owner(t), s.owner(t).as(s.token(t, "operator", "inbox.write", nil))
	want := map[string]int{"": soakRounds, "confirmation_replayed": 2 * instances * soakRounds, "user_declined": soakRounds, "asked": 2 * soakRounds}
	var clients sync.WaitGroup
	var deleted [soakClients][]string
	for i := range soakClients {
		clients.Go(func() {
			count := map[string]int{}
			for round := range soakRounds {
				webhook := owner.read(t, "webhooks_create", object{"label": fmt.Sprint("soak ", i, round), "url": "https://hooks.example.com/in"})
				deleted[i] = append(deleted[i], webhook["id"].(string))
				for code, n := range s.soakRound(t, owner, operator, round, object{"id": webhook["id"]}) {
					count[code] += n
				}
			}
			if !maps.Equal(count, want) {
				t.Errorf("outcomes: %v, want %v", count, want)
			}
		})
	}
	clients.Wait()
	effects := allEvents(t, owner, "webhook.deleted")
	for _, id := range slices.Concat(deleted[:]...) {
		if n := strings.Count(effects, id); n != 1 {
			t.Errorf("%s was deleted %d times", id, n)
		}
	}
	t.Logf("%d webhooks deleted once each, by %d calls with a yes", soakClients*soakRounds, soakClients*soakRounds*(2*instances+1))
}

// soakRound asks on one process, answers on others, and counts the outcomes.
func (s *Stack) soakRound(t *testing.T, owner, operator client, round int, arguments object) map[string]int {
	const tool = "webhooks_delete"
	at := func(c client, i int) client { return c.at(s.lanes[(round+i)%instances]).family("tools") }
	outcomes := make(chan outcome, 2*instances+4)

	refused := ask(t, at(owner, 0), tool, arguments)
	outcomes <- at(owner, 1).call(t, tool, arguments, answered(refused, object{"action": "decline"}))
	forged := refused
	forged.State = strings.ToUpper(refused.State)
	outcomes <- at(owner, 2).call(t, tool, arguments, answered(forged, yes))

	asked := ask(t, at(owner, 0), tool, arguments)
	outcomes <- at(operator, 3).call(t, tool, arguments, answered(asked, yes))
	var calls sync.WaitGroup
	for i := range 2 * instances {
		calls.Go(func() { outcomes <- at(owner, i).call(t, tool, arguments, answered(asked, yes)) })
	}
	calls.Wait()
	outcomes <- at(owner, 1).call(t, tool, arguments, answered(asked, yes))
	close(outcomes)

	count := map[string]int{}
	for o := range outcomes {
		count[o.code()]++
	}
	return count
}

// allEvents is the text of the system events of a slug, on all pages.
func allEvents(t *testing.T, c client, slug string) string {
	var text strings.Builder
	arguments := object{"slug": slug, "limit": 200}
	for {
		page := c.read(t, "system_events_list", arguments)
		for _, e := range page["data"].([]any) {
			fmt.Fprintln(&text, e)
		}
		if page["next_cursor"] == nil {
			return text.String()
		}
		arguments["cursor"] = page["next_cursor"]
	}
}
