package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

// everyType is a key of each type that a Redis of 7.0 has, with a time to live,
// with bytes for a name and for a value, and in another database.
const everyType = `SET string "va\xffl\x00ue" EX 100000
SET "k\xff\x00ey" 1
SETRANGE long 100000 end
RPUSH list a "" "b\x00" a
SADD ints 3 1 2
SADD set a "b\xff" ""
ZADD zset 0.1 a -inf b 3e300 "c\x00" 1 ""
HSET hash f v "f\x00" "" "" v
EXPIREAT hash 4102444800
PFADD hll a b c
SETBIT bits 1000 1
GEOADD geo 13.361389 38.115556 Palermo
XADD stream 1-1 f v
XADD stream 2-1 f v g w
XADD stream 3-1 f v
XDEL stream 2-1
XGROUP CREATE stream g 0
XREADGROUP GROUP g c COUNT 1 STREAMS stream >
XGROUP CREATECONSUMER stream g d
SELECT 3
SET other database
`

var elements = flag.Int("elements", 100_000, "elements of the long list of TestRoundTrip")

// TestRoundTrip sends keys, one of them too long for a page or a command, from a file to a
// REST endpoint, on to a real Redis, through its dump file into another file, and
// through a dump file of ours into a third.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(input, name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir, c.Stdin = dir, strings.NewReader(input)
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.Bytes())
		}
		return string(out)
	}
	var script strings.Builder
	script.WriteString("SELECT 0\n")
	for i := range *elements {
		if i%1000 == 0 {
			script.WriteString("\nRPUSH long:list")
		}
		fmt.Fprintf(&script, " e%d", i)
	}
	script.WriteString("\n")
	run(everyType+script.String(), "meowdis", "exec", "-t", "a.sqlite")

	rest, _ := serveMemory(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	real := "unix://" + redis.Socket
	for db := range []int{0, 3} { // an endpoint has them one by one
		n := fmt.Sprint(3 * db)
		run("", "meowdis", "copy", "a.sqlite", rest, "--dst-token", restToken, "-n", n, "--to-database", n)
		run("", "meowdis", "copy", rest, real, "--src-token", restToken, "-n", n, "--to-database", n)
	}
	run("", "meowdis", "exec", "-t", real, "SAVE")
	run("", "meowdis", "import", "-t", "b.sqlite", filepath.Join(filepath.Dir(redis.Socket), "dump.rdb"))
	run("", "meowdis", "export", "-t", "b.sqlite", "ours.rdb")
	run("", "redis-check-rdb", "ours.rdb")
	run("", "meowdis", "import", "-t", "c.sqlite", "ours.rdb")
	for _, place := range []string{real, "b.sqlite", "c.sqlite"} {
		if out := run("", "meowdis", "diff", "a.sqlite", place); out != "" {
			t.Errorf("a.sqlite and %s differ:\n%s", place, out)
		}
	}
	if n := run("", "meowdis", "exec", "-t", "c.sqlite", "LLEN", "long:list"); n != fmt.Sprintln(*elements) {
		t.Errorf("the list has %s elements", n)
	}
}
