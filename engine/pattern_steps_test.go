package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestPatternSteps counts the steps of a user's patterns: a call that needs many leaves the loop, and keeps its reply.
func TestPatternSteps(t *testing.T) {
	s := inMemory(t).Session()
	users := acl.New()
	s.SetGuard(func(cmd *commands.Command, args [][]byte, _ engine.Moment, step func(int)) (v resp.Value, refused bool) {
		if d := users.Find("ann").CheckCounted(cmd, args, step); d.Reason != acl.Allowed {
			return resp.MakeError("NOPERM"), true
		}
		return v, false
	})
	call := split(t, []string{"MGET" + strings.Repeat(" "+strings.Repeat("a", 100), 20)})
	for _, patterns := range []int{1, 1000} {
		rules := []string{"on", "nopass", "+@all", "resetkeys"}
		for i := range patterns {
			rules = append(rules, fmt.Sprintf("~*b%d", i))
		}
		if wrong := users.Set("ann", append(rules, "~a*")); wrong != "" {
			t.Fatal(wrong)
		}
		var r engine.PlannedPipeline
		if planned := s.Plan(call, &r); planned != (patterns == 1) {
			t.Errorf("with %d patterns the loop plans it: %v", patterns, planned)
		} else if planned {
			r.Drop()
		}
		if v, err := s.Do(context.Background(), call[0]...); err != nil || len(v.Elems) != 20 {
			t.Errorf("with %d patterns: %v, %v", patterns, v, err)
		}
	}
}

// deaf is a subscriber that counts its messages.
type deaf struct{ heard int }

func (d *deaf) Deliver(*pubsub.Message) { d.heard++ }

// TestPublishSteps counts the steps of subscribers' patterns: PUBLISH ends with its client, and then nobody gets the
// message.
func TestPublishSteps(t *testing.T) {
	e, d := inMemory(t), &deaf{}
	for i := range 1000 {
		e.Hub().Subscribe(d, pubsub.Pattern, fmt.Appendf(nil, "*b%d", i))
	}
	e.Hub().Subscribe(d, pubsub.Pattern, []byte("aaa*"))
	call := split(t, []string{"PUBLISH " + strings.Repeat("a", 1000) + " hi"})[0]
	for _, patience := range []int{3, 1000} {
		d.heard = 0
		v, err := e.Session().Do(&impatient{Context: context.Background(), patience: patience}, call...)
		if ends := patience == 3; ends != errors.Is(err, context.Canceled) || ends == (d.heard == 1) || !ends && v.Int != 1 {
			t.Errorf("with a patience of %d: %v, %v, heard %d times", patience, v, err, d.heard)
		}
	}
}
