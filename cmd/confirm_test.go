package cmd_test

import (
	"os/exec"
	"testing"
)

// TestConfirmInTerminal answers what a verb that writes by itself asks.
func TestConfirmInTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 200, 30, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "MEOWDIS_KEYRING=off", "PS1=$ ")
	s.check(s.Run("cd " + dir + "; clear"))
	for _, line := range []string{
		"meowdis exec -t a.sqlite SET k new",
		"meowdis dump -t a.sqlite a.archive",
		"meowdis exec -t b.sqlite SET k old",
		"meowdis profile add prod -t b.sqlite --confirm name",
		"meowdis profile add soft -t b.sqlite",
	} {
		s.check(s.Run(line + " && echo do''ne; clear"))
	}
	s.check(s.Run("echo rea''dy"))
	s.shows("ready")

	s.check(s.Run("meowdis restore -t @prod --replace a.archive"))
	s.shows("restore on prod, " + dir + "/b.sqlite. Type prod to run it:")
	s.check(s.Run("yes"))
	s.shows("CONFIRM not confirmed: nothing was run")
	s.check(s.Run("echo exit=$?; meowdis exec --raw -t b.sqlite GET k"))
	s.shows("exit=1\nold")

	s.check(s.Run("clear; meowdis copy a.sqlite @soft --replace"))
	s.shows("copy on soft, " + dir + "/b.sqlite. Run it? [y/N]")
	s.check(s.Press("Enter"))
	s.shows("not confirmed")

	s.check(s.Run("clear; meowdis copy a.sqlite @prod --replace"))
	s.shows("Type prod to run it:")
	s.check(s.Press("C-c"))
	s.shows("meowdis: interrupted; nothing was run\n$") // until it ends, it may read what is typed
	s.check(s.Run("echo exit=$?"))
	s.shows("exit=130")

	s.check(s.Run("clear; meowdis vacuum @prod"))
	s.shows("Type prod to run it:")
	s.check(s.Press("C-d"))
	s.shows("Type prod to run it:\nmeowdis: CONFIRM not confirmed")

	s.check(s.Run("clear; meowdis restore -t @prod --replace a.archive"))
	s.shows("Type prod to run it:")
	s.check(s.Run("prod"))
	s.shows("restored 1 key")
	out, err := exec.Command("meowdis", "exec", "-t", dir+"/b.sqlite", "GET", "k").Output()
	if err != nil || string(out) != "new\n" {
		t.Errorf("%s, %v", out, err)
	}
}
