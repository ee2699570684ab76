package tenants_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestCorpus runs a transcript of each group for one of two tenants. It closes the tenant's file before and halfway
// through each transcript, and skips transcripts with commands that a tenant may not run.
func TestCorpus(t *testing.T) {
	race.Skip(t)
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, 1, "tom", "kitty")
	other := h.of("kitty")
	ran, groups := 0, map[string]bool{}
	for _, tr := range all {
		group, _, _ := strings.Cut(tr.Name, "_")
		if groups[group] || needsMore(tr) {
			continue
		}
		groups[group] = true
		ran++
		t.Run(tr.Name, func(t *testing.T) {
			h.clock.Store(1_700_000_000_000)
			clients := []*peer{h.of("tom"), h.of("tom")}
			for _, args := range [][]string{{"FLUSHALL"}, {"SCRIPT", "FLUSH"}, {"FUNCTION", "FLUSH"}} {
				clients[0].want("OK", args...)
			}
			for i, step := range tr.Steps {
				if i == len(tr.Steps)/2 {
					other.want("OK", "SET", "k", tr.Name)
				}
				h.clock.Add(step.Clock)
				c := clients[step.Client-1]
				if _, err := c.Write(resp.AppendCommand(nil, step.Args...)); err != nil {
					t.Fatal(err)
				}
				got, err := c.r.ReadReply()
				if err != nil {
					t.Fatal(err)
				}
				if !step.Matches(got) {
					t.Errorf("%s.txt:%d: %q\ntenant:     %s\ntranscript: %s", tr.Name, step.Line, step.Args, corpus.Show(got), step.Want)
				}
			}
		})
	}
	if ran < 20 {
		t.Errorf("only %d transcripts need nothing that a tenant may not do", ran)
	}
}

// needsMore reports whether a transcript has commands that a tenant may not run, or that leave the tenant.
func needsMore(tr corpus.Transcript) bool {
	users := acl.New()
	users.Set(acl.Default, strings.Fields("-@admin -memory -acl -auth -reset +client +config|get +slowlog +latency +monitor +role"))
	for _, step := range tr.Steps {
		cmd := commands.Called(step.Args)
		if cmd != nil && users.Default().Check(cmd, step.Args).Reason != acl.Allowed {
			return true
		}
		for _, word := range []string{"DEBUG", "HELLO", "RESET"} {
			if strings.EqualFold(string(step.Args[0]), word) {
				return true
			}
		}
	}
	return false
}
