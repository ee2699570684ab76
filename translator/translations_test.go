package translator

import (
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestTranslations checks that each translation belongs to a command, and each command has at most one.
func TestTranslations(t *testing.T) {
	translated := map[string]bool{}
	for _, group := range allTranslations {
		for _, tr := range group {
			cmd := commands.Lookup(tr.command)
			if cmd == nil || cmd.Name != tr.command || translated[tr.command] || tr.translate == nil {
				t.Errorf("%q is not a command, is translated twice, or to nothing", tr.command)
				continue
			}
			translated[tr.command] = true
			if !Translates(cmd) {
				t.Errorf("the translation of %s is not found", tr.command)
			}
		}
	}
	for _, cmd := range commands.All() {
		if Translates(cmd) != translated[cmd.Name] {
			t.Errorf("%s is translated: %v", cmd.Name, translated[cmd.Name])
		}
	}
}
