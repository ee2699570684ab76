package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/store/schema"
)

// openers are the verbs that open a file: each argument FILE is the file that is
// tried, good.sqlite is one of ours, keys.archive an archive.
var openers = []opener{
	{line: "exec -t FILE SET k v", writes: true},
	{line: "exec -t FILE GET k"},
	{line: "exec -t FILE --read-only GET k"},
	{line: "exec -t FILE", mayWrite: true},
	{line: "repl -t FILE", mayWrite: true},
	{line: "serve FILE --http 0", writes: true},
	{line: "watch --limit 1 -t FILE SET k v", writes: true},
	{line: "watch --limit 1 -t FILE GET k"},
	{line: "latency --limit 1 -t FILE GET k"},
	{line: "latency -t FILE --limit 1"},
	{line: "status FILE"},
	{line: "keys -t FILE"},
	{line: "scan -t FILE k"},
	{line: "peek -t FILE k"},
	{line: "stats -t FILE"},
	{line: "bigkeys -t FILE"},
	{line: "copy FILE made.sqlite"},
	{line: "copy --dry-run FILE good.sqlite"},
	{line: "copy good.sqlite FILE", writes: true},
	{line: "diff FILE good.sqlite"},
	{line: "diff good.sqlite FILE"},
	{line: "dump -t FILE made.archive"},
	{line: "restore -t FILE keys.archive", writes: true},
	{line: "import -t FILE keys.archive", writes: true},
	{line: "export -t FILE made.rdb"},
	{line: "explain -t FILE GET k"},
	{line: "doctor FILE", asIs: true},
	{line: "doctor --fix FILE", asIs: true, writes: true, mustExist: true},
	{line: "backup -t FILE made.sqlite", asIs: true},
	{line: "vacuum FILE", writes: true, mustExist: true},
	{line: "migrate FILE"},
}

type opener struct {
	line      string
	writes    bool // opens a file for writing
	mayWrite  bool // opens it for reading where it may not be written, and makes none by itself
	mustExist bool // of those that write: makes no file
	asIs      bool // takes any SQLite file
}

// situations are what may be wrong with the file, and what every verb says then.
var situations = []situation{
	{file: "missing.sqlite", says: "there is no such file: check the path; the first command that writes creates it",
		fine: func(o opener) bool {
			return o.writes && !o.mustExist || o.mayWrite || o.is("explain") || o.is("status") // these say so themselves
		}},
	{file: "nodir/a.sqlite", says: "directory nodir does not exist: create it, or check the path",
		fine: func(o opener) bool { return o.is("explain") }},
	{file: "text/a.sqlite", says: "text is not a directory: check the path"},
	{file: "dir", says: "it is a directory: name the file in it"},
	{file: "pipe", says: "it is not a regular file"},
	{file: "secret.sqlite", says: "you have no permission to read it: ask its owner"},
	{file: "locked/a.sqlite", says: "you have no permission to access its directory"},
	{file: "text", says: "it is not a SQLite database: use meowdis import for archives, dump files and commands, or meowdis doctor FILE --recover NEW for a damaged database"},
	{file: "foreign.db", says: "it is not a meowdis file; run meowdis doctor to identify it",
		fine: func(o opener) bool { return o.asIs }},
	{file: "newer.sqlite", says: fmt.Sprintf("it has schema version 999, but this meowdis supports only %d: use a newer meowdis", schema.Version),
		fine: func(o opener) bool { return o.asIs }},
	{file: "unwritable.sqlite", says: "you have no permission to write it or its directory .: use --read-only",
		fine: func(o opener) bool { return !o.writes }},
	{file: "sealed/a.sqlite", says: "you have no permission to write it or its directory sealed: use --read-only",
		fine: func(o opener) bool { return !o.writes }},
	{file: "logged/a.sqlite", says: "reading its latest changes in logged/a.sqlite-wal needs write permission in logged: copy both files to a directory that you can write",
		fine: func(o opener) bool { return o.writes }}, // sealed/a.sqlite is the same to them
	{file: "foreignlog/a.sqlite", says: "you have no permission to read foreignlog/a.sqlite-wal, which has its latest changes: ask its owner"},
}

type situation struct {
	file, says string
	fine       func(opener) bool // verbs that go on, or say something of their own
}

func (o opener) is(verb string) bool { return strings.HasPrefix(o.line, verb+" ") }

// TestOpenings holds the verbs to one wording and one exit code for each thing
// that may be wrong with a file.
func TestOpenings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeSituations(t, dir)
	r, env := unprivileged(t), []string{"XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir}
	for _, s := range situations {
		for _, o := range openers {
			if s.fine != nil && s.fine(o) {
				continue
			}
			before := names(t, dir)
			args := strings.Fields(strings.ReplaceAll(o.line, "FILE", s.file))
			got := r.do(call{Dir: dir, Args: args, Env: env})
			want := fmt.Sprintf("meowdis: opening %s: %s\n", s.file, s.says)
			if got.Code != 3 || got.Stderr != want {
				t.Errorf("meowdis %s: %d, %swant %s", strings.Join(args, " "), got.Code, got.Stderr, want)
			}
			if after := names(t, dir); !slices.Equal(before, after) {
				t.Errorf("meowdis %s: it made or took away files: %q", strings.Join(args, " "), after)
			}
		}
	}
}

// TestReadWhereNothingCanBeWritten reads a file in WAL mode in a directory that
// takes no files.
func TestReadWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeSituations(t, dir)
	r, env := unprivileged(t), []string{"XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir}
	for _, file := range []string{"sealed/a.sqlite", "unwritable.sqlite", "sealed/redka.db"} {
		for _, o := range openers {
			if o.writes || o.is("migrate") && file == "sealed/redka.db" {
				continue
			}
			args := strings.Fields(strings.ReplaceAll(o.line, "FILE", file))
			if got := r.do(call{Dir: dir, Args: args, Env: env}); got.Code > 1 || strings.Contains(got.Stderr, "opening") {
				t.Errorf("meowdis %s: %d, %s", strings.Join(args, " "), got.Code, got.Stderr)
			}
			for _, made := range []string{"made.sqlite", "made.archive", "made.rdb"} {
				os.Remove(filepath.Join(dir, made)) // if it is there
			}
		}
	}
}

// makeSituations makes a file for each situation in dir.
func makeSituations(t *testing.T, dir string) {
	t.Helper()
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	text := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("meowdis", "exec", "-t", "good.sqlite", "SET", "k", "v")
	run("meowdis", "dump", "-t", "good.sqlite", "keys.archive")
	text("text", strings.Repeat("This is a text and no database. ", 100))
	run("mkdir", "dir", "locked", "sealed", "logged", "foreignlog")
	run("mkfifo", "pipe")
	for _, name := range []string{
		"secret.sqlite", "newer.sqlite", "unwritable.sqlite", "locked/a.sqlite", "sealed/a.sqlite", "logged/a.sqlite", "foreignlog/a.sqlite",
	} {
		run("cp", "good.sqlite", name)
	}
	run("sqlite3", "newer.sqlite", "INSERT INTO meowdis VALUES(999, 1)")
	run("sqlite3", "foreign.db", "CREATE TABLE t(x)")
	if err := foreignfile.Make("redka", filepath.Join(dir, "sealed/redka.db")); err != nil {
		t.Fatal(err)
	}
	text("logged/a.sqlite-wal", "what a log holds")
	text("foreignlog/a.sqlite-wal", "what a log holds")
	for name, mode := range map[string]os.FileMode{
		"secret.sqlite": 0, "locked": 0, "unwritable.sqlite": 0o400, "sealed": 0o500, "logged": 0o500, "foreignlog/a.sqlite-wal": 0,
	} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) }) // so that it can be removed
	}
}

// unprivileged starts a process that has the rights that the modes of files give, also when root runs the tests.
func unprivileged(t *testing.T) *resident {
	t.Helper()
	if os.Geteuid() != 0 {
		return startResident(t)
	}
	const rights = "-dac_override,-dac_read_search"
	return startResident(t, "setpriv", "--bounding-set="+rights, "--inh-caps="+rights)
}

// names lists all files under dir.
func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if !strings.HasSuffix(path, "-wal") && !strings.HasSuffix(path, "-shm") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
