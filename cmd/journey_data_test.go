package cmd_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

var largeElement = flag.Int("large", 3<<20, "bytes of the large elements that travel")

// belongings is the data set that travels: the same keys in each of 16 databases, of which
// one has elements that are large, too.
func belongings(now oracle.Version) (lines []string) {
	for db := range 16 {
		lines = append(lines, fmt.Sprintf("SELECT %d", db), fmt.Sprintf("SET which %d", db))
		one, _, _ := strings.Cut(everyType, "SELECT ")
		lines = append(lines, strings.Split(strings.TrimSpace(one), "\n")...)
		lines = append(lines, trimmedStreams...)
		if !now.Before("7.4") {
			lines = append(lines,
				`HSET fading f v "g\xff" "\x00" stays v`, `HPEXPIREAT fading 4102444800123 FIELDS 1 f`, `HPEXPIREAT fading 4102444800999 FIELDS 1 "g\xff"`,
				`HSET leaving f v g w`, `HEXPIREAT leaving 4102444800 FIELDS 2 f g`)
		}
	}
	lines = append(lines, "SELECT 2")
	for i := range 5000 { // more than one part of a dump file
		lines = append(lines, fmt.Sprintf("XADD crowd %d-1 f v", i+1))
	}
	return append(lines, "XGROUP CREATE crowd g 0", "XREADGROUP GROUP g c COUNT 4990 STREAMS crowd >", "XDEL crowd 2000-1 4980-1", "XTRIM crowd MINID 1000-1")
}

// trimmedStreams make streams with what was delivered and is not there any more.
var trimmedStreams = func() []string {
	lines := []string{"XGROUP CREATE emptied g 0 MKSTREAM", "XGROUP CREATE trimmed g 0 MKSTREAM", "XGROUP CREATE deleted g 0 MKSTREAM"}
	for i := 1; i <= 6; i++ {
		for _, key := range []string{"emptied", "trimmed", "deleted"} {
			lines = append(lines, fmt.Sprintf(`XADD %s %d-1 "f\xff" "%d\x00"`, key, i, i))
		}
	}
	return append(lines,
		`XREADGROUP GROUP g "c\xff" COUNT 3 STREAMS emptied trimmed deleted > > >`, "XREADGROUP GROUP g d COUNT 2 STREAMS trimmed >",
		`XCLAIM trimmed g "c\xff" 0 4-1 TIME 1700000000123 RETRYCOUNT 9`,
		"XTRIM emptied MAXLEN 0", "XTRIM trimmed MAXLEN 2", "XDEL deleted 2-1 3-1",
		"XGROUP CREATE trimmed unread $", "XGROUP CREATE trimmed half 3-1 ENTRIESREAD 3", "XGROUP CREATECONSUMER trimmed g idle")
}()

// vectorBelongings are the vector sets that travel.
func vectorBelongings() []string {
	lines := []string{
		`VADD v:attributes VALUES 3 1 2 3 "a\xff" NOQUANT SETATTR '{"n":1}'`, `VADD v:attributes VALUES 3 0 0 0 zero NOQUANT`,
		"SELECT 7", "VADD v:q8 VALUES 2 1 2 other Q8", "SELECT 0",
	}
	for i := range 30 {
		at := fmt.Sprintf("%d.5 %d %d 7 %d.25 1 2 3", i, -i, i*i%11, i%3)
		lines = append(lines, fmt.Sprintf("VADD v:q8 VALUES 8 %s e%d Q8", at, i), fmt.Sprintf("VADD v:bin VALUES 8 %s e%d BIN", at, i),
			fmt.Sprintf("VADD v:reduced REDUCE 4 VALUES 8 %s e%d NOQUANT M 8", at, i))
	}
	return append(lines, "VREM v:q8 e7", "PEXPIREAT v:bin 4102444800321")
}

// packLarge adds a large element of each type to database 5.
func packLarge(t *testing.T, c *oracle.Conn, size int) {
	large := make([]byte, size)
	for i := range large {
		large[i] = byte(i * (i>>9 | 1))
	}
	tell(t, c, "SELECT 5")
	for _, call := range [][]string{
		{"SET", "large:string", ""}, {"RPUSH", "large:list", "a", "", "b"}, {"SADD", "large:set", "a", ""},
		{"HSET", "large:hash", "a", "b", "f", ""}, {"ZADD", "large:zset", "1.5", "a", "0.1", ""}, {"XADD", "large:stream", "1-1", "f", ""},
	} {
		var args [][]byte
		for i, word := range call {
			args = append(args, []byte(word))
			if word == "" && i > 0 {
				args[i] = large
			}
		}
		if v := c.Do(args...); v.IsError() {
			t.Fatalf("%s: %s", call[0], v.Str)
		}
	}
}

// tell has the server run lines, none of which may fail.
func tell(t *testing.T, c *oracle.Conn, lines ...string) (last resp.Value) {
	t.Helper()
	for _, line := range lines {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if last = c.Do(args...); last.IsError() {
			t.Fatalf("%.80s: %s", line, last.Str)
		}
	}
	return last
}
