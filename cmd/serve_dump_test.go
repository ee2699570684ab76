package cmd_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

// serveProcess starts meowdis serve on a file, and returns the address of RESP.
func serveProcess(t *testing.T, args ...string) string {
	t.Helper()
	run := exec.Command("meowdis", append([]string{"serve", "--resp", "127.0.0.1:0"}, args...)...)
	run.Dir, run.Env = t.TempDir(), manyThreads()
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Kill()
		run.Wait()
	})
	buf := make([]byte, 1000)
	n, err := out.Read(buf)
	address, ok := strings.CutPrefix(strings.TrimSpace(string(buf[:n])), "RESP redis://")
	if err != nil || !ok {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	return address
}

// TestRealReplica lets redis-server follow us, and redis-cli fetch a dump.
func TestRealReplica(t *testing.T) {
	t.Parallel()
	address := serveProcess(t, ":memory:")
	url := "redis://" + address
	for _, line := range []string{"MSET a 1 b 2", "RPUSH list x y", "HSET hash f v", "EXPIRE a 1000"} {
		if out, err := exec.Command("meowdis", append([]string{"exec", "-t", url}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	replica := oracle.Start(t)
	c := replica.Dial(t)
	ask := func(words ...string) string {
		args := make([][]byte, len(words))
		for i, word := range words {
			args[i] = []byte(word)
		}
		return string(c.Do(args...).Str)
	}
	host, port, _ := strings.Cut(address, ":")
	ask("REPLICAOF", host, port)
	for deadline := time.Now().Add(patience); !strings.Contains(ask("INFO", "replication"), "master_link_status:up"); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the replica does not follow: %s", ask("INFO", "replication"))
		}
	}
	ask("REPLICAOF", "NO", "ONE")
	diff := exec.Command("meowdis", "diff", url, "unix://"+replica.Socket)
	if out, err := diff.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}

	dump := filepath.Join(t.TempDir(), "dump.rdb")
	if out, err := exec.Command("redis-cli", "-u", url, "--rdb", dump).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(t.TempDir(), "copy.sqlite")
	if out, err := exec.Command("meowdis", "import", "-t", file, dump).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("meowdis", "diff", file, url).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDigest compares DEBUG DIGEST with that of a redis-server with the same keys.
func TestDigest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cats.sqlite")
	ours := connect(t, "tcp", serveProcess(t, file))
	theirs := connect(t, "unix", oracle.Start(t).Socket)
	if v := theirs.info("server", "redis_version"); !strings.HasPrefix(v, "8.") {
		t.Skip("digests are compared with Redis 8, not " + v)
	}
	same := func(when string) string {
		t.Helper()
		want, got := theirs.must("DEBUG", "DIGEST"), ours.must("DEBUG", "DIGEST")
		if string(want.Str) != string(got.Str) {
			t.Errorf("%s: %s here, %s there", when, got.Str, want.Str)
		}
		return string(got.Str)
	}
	seen := map[string]bool{same("empty"): true}
	for _, line := range []string{
		"SET a 1", "SELECT 3", "SET a 1", "SELECT 9", "PEXPIREAT a 1", "SET b x EXAT 33333333333", "RPUSH l a b 1", "SADD s 1 2", "SADD s a", "SADD ints 1 2",
		"ZADD z inf a 0.1 b 1e16 c 1e300 d -0 e 3.0000000001 f", "HSET h a 1 b 2", "HPEXPIREAT h 33333333333000 FIELDS 1 a", "XADD x 1-1 a b", "SETRANGE big 3000000 x", "SELECT 0", "DEL a",
	} {
		ours.must(strings.Fields(line)...)
		theirs.must(strings.Fields(line)...)
		seen[same(line)] = true
	}
	if len(seen) != 14 { // SELECT three times, and an expiry in a database without keys
		t.Errorf("%d digests at 18 moments", len(seen))
	}
}
