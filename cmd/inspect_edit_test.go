package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

const edited = `SET user:1 one
HSET user:2 name Bob city Rome
SET user:3 "\x00\x01\xff"
RPUSH queue:jobs one two three
`

// TestInspectChanges changes a file in a real terminal, is killed, and undoes all
// in the next session.
func TestInspectChanges(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			meowdisExec(t, dir, edited, "-t", "t.sqlite")
			before := meowdisExec(t, dir, "DUMP user:1\nDUMP user:2\nDUMP user:3\nDUMP queue:jobs\nDBSIZE\n", "-t", "t.sqlite")
			editor := filepath.Join(dir, "editor")
			if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/ff/fe/' \"$1\"; echo >> \"$1\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := openScreen(t, size[0], size[1], "EDITOR="+editor)
			inspect := "cd " + dir + " && clear && sh -c 'echo $$ > pid; exec meowdis inspect t.sqlite'"
			s.check(s.Run(inspect))
			s.shows("▸ user:")

			// What is about to be done is shown, with its SQL.
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			s.check(s.Press("d"))
			s.shows("Delete queue:*, 1 key?")
			s.check(s.Press("C-x"))
			s.shows("Takes effect as a whole")
			s.check(s.Press("Escape"))
			s.shows("y yes   n no")
			s.check(s.Press("y"))
			s.shows("Deleted queue:*")

			// Bytes survive an editor that ends the last line.
			s.check(s.Type("ouser:3"))
			s.check(s.Press("Enter"))
			s.shows("string · 3 bytes")
			s.check(s.Press("E"))
			s.shows("Changed user:3")
			if got := meowdisExec(t, dir, "GET user:3\n", "-t", "t.sqlite"); !strings.Contains(got, "\x00\x01\xfe") || strings.Contains(got, "\xfe\n\n") {
				t.Errorf("GET answered %q", got)
			}

			// A field has a time to live of its own, and keeps it when it is edited.
			s.check(s.Press("Escape"))
			s.shows("KEY  ")
			s.check(s.Type("ouser:2"))
			s.check(s.Press("Enter"))
			s.shows("hash · 2 fields")
			s.check(s.Type("x2d"))
			s.shows("HPEXPIREAT user:2")
			s.check(s.Press("Enter"))
			s.shows("to 2d")
			s.check(s.Type("e!"))
			s.check(s.Press("Enter"))
			s.shows("Changed name of")
			s.shows("Bob!")
			if got := meowdisExec(t, dir, "HTTL user:2 FIELDS 1 name\n", "-t", "t.sqlite"); strings.Contains(got, "-1") {
				t.Errorf("HTTL answered %q", got)
			}
			s.check(s.Press("Escape"))
			s.shows("KEY  ")
			s.check(s.Type(":FLUSHALL"))
			s.check(s.Press("Enter"))
			s.shows("Run FLUSHALL, 3 keys?")
			s.check(s.Press("y"))
			s.shows("is empty")

			pid, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
			if err != nil {
				t.Fatal(err)
			}
			killed, err := os.FindProcess(n)
			if err == nil {
				err = killed.Kill()
			}
			if err != nil {
				t.Fatal(err)
			}
			s.shows("Killed")
			s.check(s.Type("stty sane; reset"))
			s.check(s.Press("C-j")) // the terminal is as the inspector had it
			_, err = s.Wait("a fresh screen", func(screen string) bool { return !strings.Contains(screen, "Killed") })
			s.check(err)
			s.check(s.Run(inspect))
			s.shows("5 changes of an earlier session")
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			for _, undone := range []string{"FLUSHALL", "Changed name of", "Set the TTL of name of user:2", "Changed user:3", "Deleted queue:*"} {
				s.check(s.Press("u"))
				s.shows("Undone: " + undone)
			}
			if got := meowdisExec(t, dir, "DUMP user:1\nDUMP user:2\nDUMP user:3\nDUMP queue:jobs\nDBSIZE\n", "-t", "t.sqlite"); got != before {
				t.Errorf("got %q\nwant %q", got, before)
			}
			s.check(s.Press("q"))
			_, err = s.Wait("the shell", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
			s.check(err)
			if _, err := os.Stat(filepath.Join(dir, "t.sqlite-wal")); !os.IsNotExist(err) {
				t.Errorf("a log is left beside the file: %v", err)
			}
		})
	}
}

// TestInspectQuitKeepsUndo: what q leaves can be undone by the next session, which q
// says how to begin.
func TestInspectQuitKeepsUndo(t *testing.T) {
	t.Parallel()
	rest, _ := serveMemory(t)
	server := oracle.Start(t)
	server.Dial(t)
	for name, target := range map[string]string{
		"file": "-t t.sqlite", "redis": "-t unix://" + server.Socket, "rest": "-t " + rest + " --token " + restToken,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			meowdisExec(t, dir, edited, strings.Fields(target)...)
			read := "DUMP user:1\nDUMP user:2\nDUMP user:3\nDUMP queue:jobs\nDBSIZE\n"
			before := meowdisExec(t, dir, read, strings.Fields(target)...)
			s := openScreen(t, 80, 24)
			s.check(s.Run("cd " + dir + " && clear && meowdis inspect " + target))
			s.shows("▸ user:")
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			s.check(s.Type(":FLUSHALL"))
			s.check(s.Press("Enter"))
			s.shows("Run FLUSHALL, 4 keys?")
			s.check(s.Press("y"))
			s.shows("is empty")
			s.check(s.Press("q"))
			s.shows("1 change can still be undone: meowdis inspect -t ")
			s.check(s.Run("clear; meowdis inspect " + target))
			s.shows("1 change of an earlier session")
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			s.check(s.Press("u"))
			s.shows("Undone: FLUSHALL")
			if got := meowdisExec(t, dir, read, strings.Fields(target)...); got != before {
				t.Errorf("got %q\nwant %q", got, before)
			}
			s.check(s.Press("q"))
			s.lastLine("$")
		})
	}
}

// TestInspectChangesServers undoes on a real Redis, and over REST, where nothing can
// be watched.
func TestInspectChangesServers(t *testing.T) {
	t.Parallel()
	rest, _ := serveMemory(t)
	server := oracle.Start(t)
	server.Dial(t)
	for name, target := range map[string]string{
		"redis": "-t unix://" + server.Socket, "rest": "-t " + rest + " --token " + restToken,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			meowdisExec(t, dir, edited, strings.Fields(target)...)
			read := "DUMP user:1\nDUMP user:2\nDUMP user:3\nDUMP queue:jobs\nDBSIZE\n"
			before := meowdisExec(t, dir, read, strings.Fields(target)...)
			s := openScreen(t, 80, 24)
			s.check(s.Run("cd " + dir + " && clear && meowdis inspect " + target))
			s.shows("▸ user:")
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			for _, c := range [][3]string{
				{":RENAME user:1 user:2", "OK"}, {":LPOP queue:jobs", `"one"`},
				{":DEL user:3", "Run DEL", "(integer) 1"}, {":FLUSHDB", "Run FLUSHDB, 2 keys?", "is empty"},
			} {
				s.check(s.Type(c[0]))
				s.check(s.Press("Enter"))
				s.shows(c[1])
				if strings.HasPrefix(c[1], "Run") {
					s.check(s.Press("y"))
					s.shows(c[2])
				}
			}
			for _, undone := range []string{"FLUSHDB", "DEL user:3", "LPOP queue:jobs", "RENAME user:1 user:2"} {
				s.check(s.Press("u"))
				s.shows("Undone: " + undone)
			}
			if got := meowdisExec(t, dir, read, strings.Fields(target)...); got != before {
				t.Errorf("got %q\nwant %q", got, before)
			}
			s.check(s.Press("q"))
		})
	}
}
