package terminal

import (
	"strings"
	"testing"
)

// TestType types all printable characters, each of which tmux could take as its own, and reads them.
func TestType(t *testing.T) {
	s, err := Start(120, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	all := "é猫"
	for c := ' '; c < 0x7f; c++ {
		all += string(c)
	}
	if err := s.Run("clear; cat"); err != nil {
		t.Fatal(err)
	}
	empty := func(screen string) bool { return strings.TrimSpace(screen) == "" }
	if _, err := s.Wait("an empty screen", empty); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(all); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WaitFor(all + "\n" + all); err != nil {
		t.Fatal(err)
	}
	if err := s.Send("second\nthird\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WaitFor("\nthird"); err != nil {
		t.Fatal(err)
	}
	if err := s.Press("NoSuchKey", "C-c"); err != nil { // tmux types what is not a key
		t.Fatal(err)
	}
	const refused = "unknown command: no-such-command"
	if _, err := s.control.do("no-such-command"); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("an unknown command: %v", err)
	}
	if _, err := s.Screen(); err != nil {
		t.Error(err)
	}
}
