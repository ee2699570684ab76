package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/oracle"
)

// meowdisExec runs commands on a target, a line each.
func meowdisExec(t *testing.T, dir, script string, args ...string) string {
	t.Helper()
	run := exec.Command("meowdis", append([]string{"exec"}, args...)...)
	run.Dir, run.Stdin = dir, strings.NewReader(script)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

const inspected = `SET user:1 '{"name":"Ann","city":"Bern"}'
HSET user:2 name Bob city Rome
RPUSH queue:jobs one two three
SET session:1 token EX 1000
`

// TestInspectOnATerminal browses, changes and follows a file, in a real terminal.
func TestInspectOnATerminal(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			meowdisExec(t, dir, inspected, "--db", "t.sqlite")
			editor := filepath.Join(dir, "editor")
			if err := os.WriteFile(editor, []byte("#!/bin/sh\necho '[1,2]' > \"$1\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := openScreen(t, size[0], size[1], "EDITOR="+editor)
			s.check(s.Run("cd " + dir + " && clear && meowdis inspect t.sqlite"))
			s.shows("▸ user:")
			s.shows("2 keys")

			// Into a folder, and to what is in it.
			s.check(s.Press("G", "Enter"))
			s.shows("28 B")
			s.check(s.Press("j", "Enter"))
			s.shows(`"city": "Bern"`)
			s.check(s.Press("x"))
			s.shows(`{"name":"Ann"`)

			// Nothing is written before it is unlocked.
			s.check(s.Press("E"))
			s.shows("Nothing is written")
			s.check(s.Press("U"))
			s.shows("Writing is unlocked")
			s.check(s.Press("E"))
			s.shows("Changed user:1")
			s.shows("[1,2]")
			s.check(s.Press("u"))
			s.shows("Undone")
			s.check(s.Press("Escape"))

			// What another process writes is there within a second.
			meowdisExec(t, dir, "SET user:0 x\n", "--db", "t.sqlite")
			s.shows("3 keys")

			// A folder goes, and comes back.
			s.check(s.Press("h", "D"))
			s.shows("Delete user:*, 3 keys?")
			s.check(s.Press("y"))
			s.shows("Deleted user:*")
			if got := meowdisExec(t, dir, "DBSIZE\n", "--db", "t.sqlite"); got != "(integer) 2\n" && got != "2\n" {
				t.Errorf("DBSIZE answered %q", got)
			}
			s.check(s.Press("u"))
			s.shows("Undone")
			if got := meowdisExec(t, dir, "HGET user:2 name\n", "--db", "t.sqlite"); !strings.Contains(got, "Bob") {
				t.Errorf("HGET answered %q", got)
			}
			s.check(s.Type("/job"))
			s.shows("queue:jobs")
			s.check(s.Press("Enter", "Enter"))
			s.shows("three")
			s.check(s.Resize(100, 30))
			s.shows("TYPE")
			s.check(s.Press("q"))
		})
	}
}

// TestInspectServers browses what is found by SCAN: a real Redis, and an endpoint.
func TestInspectServers(t *testing.T) {
	rest, _ := serveMemory(t)
	server := oracle.Start(t)
	server.Dial(t)
	for name, target := range map[string]string{
		"redis": "--url unix://" + server.Socket, "rest": "--url " + rest + " --token " + restToken,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			meowdisExec(t, dir, inspected, strings.Fields(target)...)
			s := openScreen(t, 100, 24)
			s.check(s.Run("cd " + dir + " && clear && meowdis inspect " + target))
			s.shows("▸ user:")
			s.check(s.Press("U"))
			s.shows("Writing is unlocked")
			s.check(s.Press("D"))
			s.shows("Delete queue:*, 1 key?")
			s.check(s.Press("y"))
			s.shows("3 keys")
			s.check(s.Press("u"))
			s.shows("4 keys")
			s.check(s.Press("O"))
			s.shows("in a sample of")
			s.check(s.Press("Escape", "q"))
			if got := meowdisExec(t, dir, "LRANGE queue:jobs 0 -1\n", strings.Fields(target)...); !strings.Contains(got, "three") {
				t.Errorf("LRANGE answered %q", got)
			}
		})
	}
}

// TestInspectReadOnly cannot be unlocked.
func TestInspectReadOnly(t *testing.T) {
	dir := t.TempDir()
	meowdisExec(t, dir, inspected, "--db", "t.sqlite")
	s := openScreen(t, 80, 24)
	s.check(s.Run("cd " + dir + " && clear && NO_COLOR=1 meowdis inspect --read-only --no-mouse t.sqlite"))
	s.shows("▸ user:")
	s.check(s.Press("U"))
	s.shows("This target is read-only.")
	s.check(s.Press("q"))
}
