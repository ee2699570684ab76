package cmd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/oracle"
)

// journey is a data set on its way from place to place.
type journey struct {
	mover
	version oracle.Version
}

// same compares two places, which must hold the same.
func (j journey) same(a, b string, more ...string) {
	j.t.Helper()
	c, said := j.command(append([]string{"diff", a, b}, more...)...)
	if err := c.Run(); err != nil || said.Len() > 0 {
		j.t.Errorf("%s and %s: %v\n%s", a, b, err, said)
	}
}

// leaves runs a move that leaves keys behind, and must name them: each with its reason, and at
// the end how many.
func (j journey) leaves(reasons map[string]string, end string, args ...string) {
	j.t.Helper()
	said := j.run(1, args...)
	for name, reason := range reasons {
		if !strings.Contains(said, "meowdis: "+name+" was left out: "+reason) {
			j.t.Errorf("meowdis %q does not say of %s %q:\n%s", args, name, reason, said)
		}
	}
	if n := strings.Count(said, " was left out: "); n != len(reasons) || !strings.HasSuffix(strings.TrimSpace(said), end) {
		j.t.Errorf("meowdis %q names %d keys and not %d:\n%s", args, n, len(reasons), said)
	}
}

// digest is what a server says of all that it holds: nothing of what is tested has a hand in
// it. It leaves out what streams have beside entries.
func digest(t *testing.T, c *oracle.Conn) string { return string(tell(t, c, "DEBUG DIGEST").Str) }

// TestJourney sends all that a server can hold through every form that we have, and back into
// a server. What a form cannot hold must be named where it stays behind.
func TestJourney(t *testing.T) {
	origin := oracle.Start(t)
	home := origin.Dial(t)
	j := journey{mover{t, t.TempDir()}, home.Version()}
	tell(t, home, belongings(j.version)...)
	packLarge(t, home, *largeElement)
	before := digest(t, home)
	vectors := !j.version.Before("8.0")
	tell(t, home, "SELECT 0")
	if vectors {
		tell(t, home, vectorBelongings()...)
	}
	from := "unix://" + origin.Socket

	j.run(0, "copy", from, "one.sqlite", "--verify")
	j.same(from, "one.sqlite")
	j.run(0, "dump", "--db", "one.sqlite", "keys.archive")
	j.run(0, "restore", "--db", "two.sqlite", "keys.archive")
	j.same("one.sqlite", "two.sqlite")
	j.same(from, "two.sqlite")

	// A file of ours may hold what a dump file of Redis cannot.
	j.run(0, "exec", "--db", "two.sqlite", "JSON.SET", "doc\xff", "$", `{"a":1}`)
	j.run(0, "exec", "--db", "two.sqlite", "-n", "15", "ARSET", "arr", "3", "v")
	const noForm = "a dump file of Redis holds nothing of this type"
	stay := map[string]string{`"doc\xff"`: noForm, `"arr" in database 15`: noForm}
	if vectors {
		for _, name := range []string{`"v:attributes"`, `"v:q8"`, `"v:bin"`, `"v:reduced"`, `"v:q8" in database 7`} {
			stay[name] = noForm
		}
	}
	j.leaves(stay, fmt.Sprintf(", %d left out", len(stay)), "export", "--db", "two.sqlite", "moved.rdb")

	arrived := oracle.Start(t, "--dir", j.dir, "--dbfilename", "moved.rdb")
	there := arrived.Dial(t)
	loaded(t, there)
	if after := digest(t, there); after != before {
		t.Errorf("the servers differ: %s and %s", before, after)
	}
	to := "unix://" + arrived.Socket
	if vectors {
		j.run(0, "copy", "two.sqlite", to, "--type", "vectorset")
	}
	j.same(from, to)

	// The dump file that a server writes.
	tell(t, there, "SAVE")
	j.run(0, "import", "--db", "three.sqlite", "moved.rdb")
	j.same(from, "three.sqlite")
}

// loaded waits until a server has read its dump file.
func loaded(t *testing.T, c *oracle.Conn) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		v := c.Do([]byte("PING"))
		if !v.IsError() {
			return
		}
		if !strings.HasPrefix(string(v.Str), "LOADING") || time.Now().After(deadline) {
			t.Fatalf("the server does not load its dump: %s", v.Str)
		}
		<-time.After(5 * time.Millisecond)
	}
}
