package cmd_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

// TestManyDatabases works on a server with more databases than a file has.
func TestManyDatabases(t *testing.T) {
	t.Parallel()
	server := oracle.Start(t, "--databases", "32")
	server.Dial(t)
	url := "unix://" + server.Socket
	m := mover{t, t.TempDir()}
	m.run(0, "exec", "-n", "20", "-t", url, "SET", "k", "twenty")
	m.run(0, "exec", "-t", url, "SET", "k", "none")
	if got := m.run(0, "exec", "-t", url+"?db=20", "GET", "k"); got != "twenty\n" {
		t.Errorf("GET: %q", got)
	}
	m.run(0, "keys", "-n", "20", "-t", url)
	m.run(2, "exec", "-n", "32", "-t", url, "GET", "k")

	said := m.run(2, "copy", url, "all.sqlite")
	if !strings.Contains(said, "database 20: a file has the databases 0 to 15; -n 20 --to-database NUMBER puts its keys into another") {
		t.Errorf("copy of all: %s", said)
	}
	m.run(0, "copy", "--from-database", "20", "--to-database", "0", url, "a.sqlite")
	if got := m.run(0, "exec", "-t", "a.sqlite", "GET", "k"); got != "twenty\n" {
		t.Errorf("GET in the file: %q", got)
	}
	m.run(0, "copy", "--from-database", "0", "--to-database", "21", "a.sqlite", url)
	m.run(0, "diff", "-n", "21", url, url)
	m.run(0, "dump", "-t", url, "a.archive")
	if said := m.run(3, "restore", "-t", "b.sqlite", "a.archive"); !strings.Contains(said, "no database 20; --from-database 20 --to-database NUMBER") {
		t.Errorf("restore of all: %s", said)
	}
	m.run(0, "restore", "-t", "c.sqlite", "--from-database", "20", "--to-database", "3", "a.archive")
	if got := m.run(0, "exec", "-n", "3", "-t", "c.sqlite", "GET", "k"); got != "twenty\n" {
		t.Errorf("GET in the restored file: %q", got)
	}
}
