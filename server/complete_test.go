package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/translator"
)

// TestEachCommandIsSomebodys calls each command without a translation: the session or the server must run it. The
// arguments are nonsense, so each command may reply with any error of its own.
func TestEachCommandIsSomebodys(t *testing.T) {
	s := serve(t, server.Config{})
	for _, cmd := range commands.All() {
		if translator.Translates(cmd) || len(cmd.Subcommands()) > 0 {
			continue
		}
		call := strings.Fields(cmd.Name)
		least := max(cmd.Arity, -cmd.Arity)
		call = append(call, slices.Repeat([]string{"nonsense"}, least-len(call))...)
		c := s.dial(t)
		if v := c.do(call...); strings.Contains(string(v.Str), "needs a connection of its own") {
			t.Errorf("nothing runs %s: it has no translation, and neither the session nor the server knows it", cmd.Name)
		}
		c.Close()
	}
}
