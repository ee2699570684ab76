package transfer_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

func spool(t testing.TB) func() (rdb.Spool, error) {
	return func() (rdb.Spool, error) { return os.Create(filepath.Join(t.TempDir(), "aside")) }
}

// into writes a source to a session.
func into(t testing.TB, source transfer.Source, s keyspace.Session) (p problems, err error) {
	t.Helper()
	w := transfer.NewWriter(s, transfer.WriteOptions{Existing: transfer.Replace, Notify: p.add})
	return p, transfer.Run(context.Background(), source, w, p.add, nil)
}

// export writes a session's keys to a dump file.
func export(t testing.TB, s keyspace.Session, path string) (p problems) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := transfer.NewRDBWriter(rdb.NewFileWriter(f, spool(t)), p.add)
	libraries, err := transfer.ReadLibraries(context.Background(), s)
	if err = errors.Join(err, w.Definitions(transfer.Definitions{Libraries: libraries})); err != nil {
		t.Fatal(err)
	}
	if err := transfer.Run(context.Background(), transfer.FromSession(context.Background(), s, transfer.ReadOptions{}), w, p.add, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func openFile(t testing.TB, path string) *bufio.Reader {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(bytes.NewReader(b))
}

// TestRDBOfRedis reads a dump of real Redis, and loads our dump into real Redis.
func TestRDBOfRedis(t *testing.T) {
	race.Skip(t)
	oneGoroutine(t)
	one, other := oracle.Start(t), oracle.Start(t)
	one.Dial(t)
	other.Dial(t)
	saving := openRedis(t, one.Socket)
	run(t, saving, sample()...)
	run(t, saving, "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('f', function() return 1 end)\"", "SAVE")
	want := contents(t, saving, 0, 3)

	here, _ := openLocal(t)
	var found transfer.Definitions
	source := transfer.FromRDB(openFile(t, filepath.Join(filepath.Dir(one.Socket), "dump.rdb")), transfer.RDBOptions{Definitions: &found})
	if p, err := into(t, source, here); err != nil || len(p) > 0 {
		t.Fatal(err, p)
	}
	same(t, contents(t, here, 0, 3), want)
	refused := func(v resp.Value) { t.Errorf("a library is refused: %s", v.Str) }
	for _, want := range []int{1, 0} { // the second time it exists
		if n, err := transfer.WriteLibraries(context.Background(), here, found.Libraries, transfer.Refuse, refused); err != nil || n != want {
			t.Errorf("%d libraries are loaded, %v", n, err)
		}
	}

	run(t, here, "ARSET array 0 x")
	if p := export(t, here, filepath.Join(filepath.Dir(other.Socket), "dump.rdb")); len(p) != 1 || !strings.Contains(p[0], `"array"`) {
		t.Errorf("problems %q", p)
	}
	loading := openRedis(t, other.Socket)
	run(t, loading, "DEBUG RELOAD NOSAVE")
	if v, err := loading.Do(context.Background(), []byte("FCALL"), []byte("f"), []byte("0")); err != nil || v.Int != 1 {
		t.Errorf("the function answers %s %v", v.Str, err)
	}
	same(t, contents(t, loading, 0, 3), want)
}

// TestLogOfRedis replays the append-only file of a real Redis.
func TestLogOfRedis(t *testing.T) {
	race.Skip(t)
	for _, preamble := range []string{"yes", "no"} {
		real := oracle.Start(t)
		real.Dial(t)
		s := openRedis(t, real.Socket)
		run(t, s, "SET before 1", "XADD x 1-1 a b", "SELECT 3", "SET three 3", "SELECT 0",
			"CONFIG SET aof-use-rdb-preamble "+preamble, "CONFIG SET appendfsync always", "CONFIG SET appendonly yes")
		for rewriting := true; rewriting; {
			info := string(do(t, s, []byte("INFO"), []byte("persistence")).Str)
			rewriting = strings.Contains(info, "aof_rewrite_in_progress:1") || strings.Contains(info, "aof_rewrite_scheduled:1")
			<-time.After(10 * time.Millisecond)
		}
		run(t, s, "MULTI", "INCR before", "RPUSH l a b c", "EXEC", "LPOP l", `SET "\x00\n" "\r\n"`, "SET ttl v PX 3600000",
			"SELECT 3", "DEL three", "SADD set a b", "SELECT 0", "HSET h a 1", "HINCRBYFLOAT h a 0.5", "XADD x 2-1 c d", "SPOP nothing")
		dir := filepath.Join(filepath.Dir(real.Socket), "appendonlydir")
		manifest, err := os.Open(filepath.Join(dir, "appendonly.aof.manifest"))
		if err != nil {
			t.Fatal(err)
		}
		names, err := transfer.LogFiles(manifest)
		if err != nil || len(names) != 2 {
			t.Fatal(names, err)
		}
		here, _ := openLocal(t)
		for _, name := range names {
			if err := transfer.ReplayLog(context.Background(), openFile(t, filepath.Join(dir, name)), here, strictReplay(t)); err != nil {
				t.Fatal(err)
			}
		}
		same(t, contents(t, here, 0, 3), contents(t, s, 0, 3))
	}
}

// strictReplay fails the test for every command that is not replayed.
func strictReplay(t testing.TB) transfer.ReplayOptions {
	return transfer.ReplayOptions{
		Refused: func(place, command string, err error) { t.Errorf("%s: %s: %v", place, command, err) },
		Skipped: func(place, what string) { t.Errorf("%s: %s", place, what) },
		Seen:    func(int64) {},
		Notify:  func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) },
	}
}

// TestReplay reads valid and damaged logs and scripts.
func TestReplay(t *testing.T) {
	race.Skip(t)
	log := "#TS:1700000000\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"
	for _, test := range []struct {
		what     string
		commands transfer.Commands
		want, a  string // expected result, and the value of a
	}{
		{"a log", transfer.FromLog(strings.NewReader(log), 0), "", "2"},
		{"a log that ends early", transfer.FromLog(strings.NewReader(log[:len(log)-2]), 100), "at byte 143", "1"},
		{"a log with a huge promise", transfer.FromLog(strings.NewReader(log+"*2147483647\r\n$536870912\r\nx"), 0), "at byte 64: it ends here", "2"},
		{"a log with damage", transfer.FromLog(strings.NewReader(log+"*x\r\n"), 0), "at byte 64", "2"},
		{"a log with a wrong command", transfer.FromLog(strings.NewReader(log+"*1\r\n$4\r\nOOPS\r\n"), 0), "byte 64: OOPS: ERR unknown command", "2"},
		{"an open transaction", transfer.FromLog(strings.NewReader(log+"*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"), 0), "", "2"},
		{"a script", transfer.FromScript(bufio.NewReader(strings.NewReader("# cats\n\nset a 1\nINCR 'a'"))), "", "2"},
		{"a script with damage", transfer.FromScript(bufio.NewReader(strings.NewReader("SET a 1\nSET b \"\n"))), "line 2", "1"},
		{"a script with an error", transfer.FromScript(bufio.NewReader(strings.NewReader("SET a 1\nLPUSH a 1\nINCR a\n"))), "line 2: LPUSH: WRONGTYPE", "2"},
	} {
		s, e := openLocal(t)
		var said string
		options := strictReplay(t)
		options.Refused = func(place, command string, err error) { said = place + ": " + command + ": " + err.Error() }
		if err := transfer.Replay(context.Background(), test.commands, s, options); err != nil {
			said = err.Error()
		}
		if test.want == "" && said != "" || !strings.Contains(said, test.want) {
			t.Errorf("%s: %q, not %q", test.what, said, test.want)
		}
		if got := string(do(t, e.Session(), []byte("GET"), []byte("a")).Str); got != test.a {
			t.Errorf("%s: a is %q, not %q", test.what, got, test.a)
		}
	}
}

// TestManifest refuses names of files outside the manifest's directory.
func TestManifest(t *testing.T) {
	race.Skip(t)
	names, err := transfer.LogFiles(strings.NewReader("file b.2.incr.aof seq 2 type i\nfile \"a b.rdb\" seq 1 type b\nfile old.aof seq 1 type h\n"))
	if err != nil || strings.Join(names, "|") != "a b.rdb|b.2.incr.aof" {
		t.Errorf("%q, %v", names, err)
	}
	for _, bad := range []string{"file ../x seq 1 type b", "file x seq 1 type z", "seq 1 type b", `file "x`} {
		if names, err := transfer.LogFiles(strings.NewReader(bad)); err == nil {
			t.Errorf("%q gave %q", bad, names)
		}
	}
}

// TestDumpedModules writes JSON documents and probabilistic types to a dump file, and reads them back.
func TestDumpedModules(t *testing.T) {
	file, _ := openLocal(t)
	run(t, file, `JSON.SET doc $ '{"a":[1,2.5,"x"],"b":null}'`, "JSON.SET doc:number $ 7", "PEXPIREAT doc 9999999999999",
		"BF.RESERVE bloom 0.01 10", many("BF.MADD bloom", 100, "item#"), many("CF.INSERT cuckoo CAPACITY 10 ITEMS", 100, "item#"),
		"CMS.INITBYDIM cms 50 3", "CMS.INCRBY cms a 1 b 2", "TOPK.RESERVE topk 5", "TOPK.ADD topk a b a \"\"", "TDIGEST.CREATE tdigest", "TDIGEST.ADD tdigest 1 2 3",
		"FT.SUGADD sugg hello 1.5 PAYLOAD p", "FT.SUGADD sugg Held 2", "TS.ADD series 1000 2.5 RETENTION 9000 LABELS area north", "TS.ADD series 2000 nan", "TS.ADD plain 5 -7 ENCODING UNCOMPRESSED", "TDIGEST.CREATE one", "TDIGEST.ADD one 7")
	path := filepath.Join(t.TempDir(), "dump.rdb")
	if p := export(t, file, path); len(p) > 0 {
		t.Fatal(p)
	}
	back, _ := openLocal(t)
	if p, err := into(t, transfer.FromRDB(openFile(t, path), transfer.RDBOptions{}), back); err != nil || len(p) > 0 {
		t.Fatal(err, p)
	}
	same(t, contents(t, back, 0), contents(t, file, 0))
}
