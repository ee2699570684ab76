package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProfilesOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 240, 30, "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config", "MEOWDIS_KEYRING=off")
	s.check(s.Run("cd " + dir + "; PS1='$ '; clear"))

	// Ctrl-C at the question leaves a terminal that shows what is typed.
	s.check(s.Run("meowdis profile add none -t http://127.0.0.1:1; echo code $?"))
	s.lastLine("Token or password of http://127.0.0.1:1 (Enter for none):")
	s.check(s.Press("C-c"))
	s.ends("code 130", "$")
	s.check(s.Run("clear; stty -a | grep -ow echo"))
	s.ends("echo", "$")

	// The token is asked for, and not shown.
	s.check(s.Run("meowdis profile add rest -t http://127.0.0.1:1"))
	s.lastLine("Token or password of http://127.0.0.1:1 (Enter for none):")
	s.check(s.Run("s3cret"))
	s.shows("(MEOWDIS_KEYRING is off)")
	screen, err := s.Wait("the shell", func(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), "$") })
	s.check(err)
	if strings.Contains(screen, "s3cret") {
		t.Errorf("the token is shown:\n%s", screen)
	}
	config, err := os.ReadFile(filepath.Join(dir, "config", "meowdis", "config.toml"))
	if err != nil || !strings.Contains(string(config), `token = "s3cret"`) {
		t.Errorf("config.toml holds %q, %v", config, err)
	}

	s.check(s.Run("clear; meowdis profile add prod -t p.sqlite --confirm name --color red; meowdis profile add it -t p.sqlite; meowdis profile use prod"))
	s.check(s.Run("meowdis repl"))
	s.lastLine("prod>")
	s.runs("SET k v", "OK", "prod>")
	s.check(s.Run("FLUSHALL"))
	s.ends("> FLUSHALL", "FLUSHALL on prod, "+dir+"/p.sqlite. Type prod to run it:")
	s.check(s.Run("y"))
	s.ends("nothing was run", "prod>")
	s.runs("EXISTS k", "(integer) 1", "prod>")
	s.check(s.Run("FLUSHDB"))
	s.ends("Type prod to run it:")
	s.check(s.Run("prod"))
	s.ends("Type prod to run it: prod", "OK", "prod>")
	s.check(s.Run("quit"))
	s.ends("quit", "$")

	s.check(s.Run("clear; meowdis exec -t @it FLUSHALL"))
	s.ends("FLUSHALL on it, " + dir + "/p.sqlite. Run it? [y/N]")
	s.check(s.Run(""))
	s.ends("(error) CONFIRM not confirmed: nothing was run", "$")
	s.check(s.Run("clear; meowdis exec -t @it FLUSHALL"))
	s.ends("Run it? [y/N]")
	s.check(s.Run("y"))
	s.ends("OK", "$")
}
