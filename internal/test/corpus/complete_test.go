package corpus_test

import (
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestEachCommandIsShown looks for each command that reads or writes data in a
// transcript, where it has another reply than that of a wrong number of arguments.
func TestEachCommandIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, tr := range all(t) {
		for _, s := range tr.Steps {
			if c, _ := commands.Find(s.Args); c != nil {
				shown[c.Name] = true
			}
		}
	}
	for _, c := range commands.All() {
		if c.Flags&(commands.ReadOnly|commands.Write) != 0 && len(c.Subcommands()) == 0 && !shown[c.Name] {
			t.Errorf("no transcript shows %s", c.Name)
		}
	}
}
