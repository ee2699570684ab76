package local_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// immutableFixture is a file with the key k, and a function that opens an ImmutableReader.
func immutableFixture(t *testing.T) (path string, glance func(path string) (*local.ImmutableReader, *int)) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a file is opened as ever")
	}
	path = filepath.Join(t.TempDir(), "t.sqlite")
	s := open(t, path, local.Options{SingleConn: true, SweepEvery: -1})
	storetest.NewClient(t, engine.New(s)).Want("SET k v", "OK")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, func(path string) (*local.ImmutableReader, *int) {
		opened := new(int)
		o := local.Options{SingleConn: true, SweepEvery: -1}
		g := local.NewImmutableReader(path, o, func() (*local.Store, error) { *opened++; return local.Open(path, o) })
		t.Cleanup(func() { g.Close() })
		return g, opened
	}
}

func beside(t *testing.T, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + "-*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// otherProcess runs SQL on the file in another process, which opens and closes it.
func otherProcess(t *testing.T, path, sql string) {
	t.Helper()
	if out, err := exec.Command("sqlite3", path, "PRAGMA busy_timeout = 10000;"+sql).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

const setByOther = "UPDATE keys SET value = CAST('theirs' AS BLOB);"

// TestImmutableReader reads without a WAL, and opens the file normally for all other calls.
func TestImmutableReader(t *testing.T) {
	path, glance := immutableFixture(t)
	g, opened := glance(path)
	if !g.NeedsNoWAL() {
		t.Fatal("no glance at a file that no one has open")
	}
	c := storetest.NewClient(t, engine.New(g))
	c.Want("GET k", `"v"`)
	c.Want("EXISTS k none", "(integer) 1")
	c.Want("EVAL_RO 'return redis.call(\"GET\", KEYS[1])' 1 k", `"v"`)
	if names := beside(t, path); len(names) > 0 || *opened > 0 {
		t.Errorf("it made %v and opened the file %d times", names, *opened)
	}
	c.Want("SET k w", "OK")
	c.Want("GET k", `"w"`)
	c.Want("INCRBYFLOAT n 1", `"1"`)
	if *opened != 1 {
		t.Errorf("it opened the file %d times", *opened)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := g.Apply(context.Background(), nil); err == nil {
		t.Error("it runs after it was closed")
	}
	if names := beside(t, path); len(names) > 0 {
		t.Errorf("it leaves %v", names)
	}
	g, opened = glance(path)
	c = storetest.NewClient(t, engine.New(g))
	c.Want("INCRBYFLOAT n 1", `"2"`)
	if *opened != 1 {
		t.Errorf("for a transaction it opened the file %d times", *opened)
	}
}

// TestImmutableReaderSeesChanges reads the writes of another process since the first read, even if that process has
// copied its WAL back and exited.
func TestImmutableReaderSeesChanges(t *testing.T) {
	path, glance := immutableFixture(t)
	g, opened := glance(path)
	c := storetest.NewClient(t, engine.New(g))
	c.Want("GET k", `"v"`)
	otherProcess(t, path, setByOther+"PRAGMA wal_checkpoint(TRUNCATE);")
	if len(beside(t, path)) == 0 {
		t.Error("the other process could delete its log")
	}
	c.Want("GET k", `"theirs"`)
	if *opened != 1 {
		t.Errorf("it opened the file %d times", *opened)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if names := beside(t, path); len(names) > 0 {
		t.Errorf("it leaves %v", names)
	}

	g, _ = glance(path)
	c = storetest.NewClient(t, engine.New(g))
	script := "EVAL_RO 'return redis.call(\"GET\", KEYS[1])' 1 k"
	c.Want(script, `"theirs"`)
	otherProcess(t, path, "DELETE FROM keys;")
	c.Want(script, "(nil)")
	c.Want("GET k", "(nil)")
}

// TestImmutableReaderNeedsNormalOpen lists files that must be opened normally.
func TestImmutableReaderNeedsNormalOpen(t *testing.T) {
	path, glance := immutableFixture(t)
	dir := filepath.Dir(path)
	none := func(what, path string) {
		t.Helper()
		if g, _ := glance(path); g.NeedsNoWAL() {
			t.Errorf("a glance at %s", what)
		}
	}
	none("a file that is missing", filepath.Join(dir, "none"))
	none("a directory", dir)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	none("a symbolic link, whose log is elsewhere", link)
	if err := os.WriteFile(path+"-journal", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	none("a file with a journal to roll back", path)
	os.Remove(path + "-journal")
	foreign := filepath.Join(dir, "foreign")
	otherProcess(t, foreign, "CREATE TABLE t(a);")
	none("a foreign file", foreign)
	g, _ := glance(path)
	if !g.NeedsNoWAL() {
		t.Error("no glance at the file itself")
	}
	g.Close()
	otherProcess(t, path, "INSERT INTO meowdis(version, applied_at) VALUES(1000, 0);")
	none("a file of a newer version", path)
	s := open(t, foreign+"2", local.Options{SingleConn: true, SweepEvery: -1})
	storetest.NewClient(t, engine.New(s)).Want("SET k v", "OK")
	none("a file that is open", foreign+"2")
}

// TestImmutableReaderBesideLock does not wait: if another process has locked the file, the file is opened normally.
func TestImmutableReaderBesideLock(t *testing.T) {
	path, glance := immutableFixture(t)
	cmd := exec.Command("sqlite3", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); cmd.Wait() }()
	if _, err := in.Write([]byte("PRAGMA locking_mode = EXCLUSIVE;\n" + setByOther + "SELECT 'done';\n")); err != nil {
		t.Fatal(err)
	}
	for said := ""; len(said) < len("exclusive\ndone\n"); {
		b := make([]byte, 64)
		n, err := out.Read(b)
		if said += string(b[:n]); err != nil {
			t.Fatal(said, err)
		}
	}
	if g, _ := glance(path); g.NeedsNoWAL() {
		t.Error("a glance past a lock")
	}
}
