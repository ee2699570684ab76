package inspect

import (
	"regexp"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestEveryActionHasAName checks that each action has its own name, because configuration files use it.
func TestEveryActionHasAName(t *testing.T) {
	race.Skip(t)
	plain := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	for _, b := range bindings() {
		if !plain.MatchString(b.name) || seen[b.name] {
			t.Errorf("%v, %s: the name is %q", b.keys, b.help, b.name)
		}
		seen[b.name] = true
	}
}
