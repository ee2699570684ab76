package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedDump imports a dump file with a flipped bit, which no format but the checksum
// shows: nothing of it is taken for good.
func TestDamagedDump(t *testing.T) {
	t.Parallel()
	m := mover{t, t.TempDir()}
	var script strings.Builder
	for n := range 500 {
		fmt.Fprintf(&script, "SET key:%d value-of-key-%d\nHSET hash:%d field value-of-hash-%d\n", n, n, n, n)
	}
	c, said := m.command("exec", "--pipe", "-t", "a.sqlite")
	c.Stdin = strings.NewReader(script.String())
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	m.run(0, "export", "-t", "a.sqlite", "a.rdb")
	good, err := os.ReadFile(filepath.Join(m.dir, "a.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, from, to string) {
		t.Helper()
		bad := bytes.Replace(good, []byte(from), []byte(to), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%q is not in the file", from)
		}
		if err := os.WriteFile(filepath.Join(m.dir, name), bad, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("flipped.rdb", "value-of-key-250", "value-of-kex-250")
	write("broken.rdb", "\x85field", "\xf0field")

	expect := func(code int, says string, args ...string) {
		t.Helper()
		if out := m.run(code, args...); !strings.Contains(out, says) {
			t.Errorf("%q: %s", args, out)
		}
	}
	expect(3, "wrong checksum: the file is damaged; nothing was imported", "import", "flipped.rdb", "-t", "b.sqlite")
	if _, err := os.Stat(filepath.Join(m.dir, "b.sqlite")); err == nil {
		t.Error("something was imported")
	}
	expect(3, "any value written so far may be wrong", "import", "flipped.rdb", "-t", "c.sqlite", "--no-verify")
	expect(3, "any written value may be wrong", "import", "flipped.rdb", "-t", "d.sqlite", "--salvage")
	expect(0, "1000", "exec", "-t", "d.sqlite", "DBSIZE")
	c, said = m.command("import", "-", "-t", "e.sqlite")
	if c.Stdin, err = os.Open(filepath.Join(m.dir, "flipped.rdb")); err != nil {
		t.Fatal(err)
	}
	if c.Run(); c.ProcessState.ExitCode() != 3 || !strings.Contains(said.String(), "any value written so far may be wrong") {
		t.Errorf("%d: %s", c.ProcessState.ExitCode(), said)
	}
	expect(3, "it is damaged: bad data format", "import", "broken.rdb", "-t", "f.sqlite", "--salvage")
	expect(0, "999", "exec", "-t", "f.sqlite", "DBSIZE")
	expect(0, "imported 1000 keys", "import", "a.rdb", "-t", "g.sqlite")
}
