package translator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

func byteWords(words []string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// checkZSets checks that every sorted set has the number of rows that its key counts, at least one, and that no row
// lacks a key.
func checkZSets(t *testing.T, c *client) {
	t.Helper()
	const sql = `SELECT (SELECT count(*) FROM keys k WHERE k.type = 'zset'
			AND (k.count = 0 OR k.count <> (SELECT count(*) FROM zsets z WHERE z.key_id = k.id))),
		(SELECT count(*) FROM zsets WHERE key_id NOT IN (SELECT id FROM keys WHERE type = 'zset'))`
	if row := c.exec(sql)[0]; row[0].Int() != 0 || row[1].Int() != 0 {
		t.Fatalf("%d sorted sets have another count than they say, %d members belong to none", row[0].Int(), row[1].Int())
	}
}

// TestZSetScoresAreExact stores doubles in every way that a score can be stored, and reads the same bits back.
func TestZSetScoresAreExact(t *testing.T) {
	c := newClient(t)
	scores := []float64{
		0.1 + 0.2, 1.0 / 3, math.Pi, 1e308, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), 0,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, math.Nextafter(0x1p-1022, 0),
		1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, 1 << 64, 1e15, 1e16, 1e17, 1e18, 1e21, 1e22, 1e23, 5e-324, 9007199254740993,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for len(scores) < 1500 {
		bits := random.Uint64()
		switch len(scores) % 4 {
		case 1:
			bits >>= 12 // subnormal
		case 2:
			bits = math.Float64bits(random.Float64())
		}
		if f := math.Float64frombits(bits); !math.IsNaN(f) && f != 0 {
			scores = append(scores, f)
		}
	}
	add := []string{"ZADD", "z"}
	for i, f := range scores {
		text := strconv.FormatFloat(f, 'g', -1, 64)
		add = append(add, text, strconv.Itoa(i))
		c.do("ZINCRBY", "incr", text, strconv.Itoa(i))
	}
	c.do(add...)
	c.do("ZADD", "moved", "7", strconv.Itoa(0))
	c.do(append([]string{"ZADD", "moved", "CH"}, add[2:]...)...)
	c.do("ZUNIONSTORE", "copy", "1", "z")
	for _, key := range []string{"z", "incr", "moved", "copy"} {
		for i, f := range scores {
			got := c.do("ZSCORE", key, strconv.Itoa(i))
			if math.Float64bits(got.Float) != math.Float64bits(f) {
				t.Fatalf("%s: %x came back as %x", key, f, got.Float)
			}
			if text := resp.FormatDouble(f); c.do("ZCOUNT", key, text, text).Int < 1 {
				t.Fatalf("%s: no member has the score %s", key, text)
			}
		}
	}
	checkZSets(t, c)
}

// TestZSetScan scans a big set while members are added and removed: every constant member is returned once.
func TestZSetScan(t *testing.T) {
	c := newClient(t)
	const n = 2500
	add := []string{"ZADD", "z"}
	for i := range n {
		add = append(add, strconv.Itoa(i), "stays"+strconv.Itoa(i), strconv.Itoa(i), "goes"+strconv.Itoa(i))
	}
	c.do(add...)
	seen := map[string]int{}
	cursor := "0"
	for page := 0; page == 0 || cursor != "0"; page++ {
		reply := c.do("ZSCAN", "z", cursor, "COUNT", "100", "MATCH", "stays*")
		cursor = string(reply.Elems[0].Str)
		for i := 0; i < len(reply.Elems[1].Elems); i += 2 {
			seen[string(reply.Elems[1].Elems[i].Str)]++
		}
		for i := range 10 {
			c.do("ZREM", "z", "goes"+strconv.Itoa(10*page+i))
			c.do("ZADD", "z", "1", "comes"+strconv.Itoa(10*page+i))
		}
	}
	if len(seen) != n {
		t.Errorf("the scan returned %d of %d members", len(seen), n)
	}
	for member, times := range seen {
		if times != 1 {
			t.Errorf("the scan returned %s %d times", member, times)
		}
	}
}

// TestZSetRandomMembers draws from a set large enough for probing: the results are distinct members, from every part of
// the set.
func TestZSetRandomMembers(t *testing.T) {
	c := newClient(t)
	const n, tenth = 5000, 500
	add := []string{"ZADD", "z"}
	for i := range n {
		add = append(add, strconv.Itoa(i), strconv.Itoa(i))
	}
	c.do(add...)
	seen := map[string]bool{}
	for _, e := range c.do("ZRANDMEMBER", "z", "300").Elems {
		seen[string(e.Str)] = true
	}
	if len(seen) != 300 {
		t.Errorf("300 members were wanted, %d different ones came", len(seen))
	}
	var parts [n / tenth]int
	drawn := c.do("ZRANDMEMBER", "z", "-2000", "WITHSCORES").Elems
	for i := 0; i < len(drawn); i += 2 {
		if member, score := string(drawn[i].Str), drawn[i+1].Float; member != fmt.Sprint(score) {
			t.Fatalf("%s came with the score %v", member, score)
		}
		parts[int(drawn[i+1].Float)/tenth]++
	}
	for i, times := range parts {
		if times < 100 || times > 300 {
			t.Errorf("members from %d on were drawn %d times of 2000", i*tenth, times)
		}
	}
	if got := len(c.do("ZRANDMEMBER", "z", "4999").Elems); got != 4999 {
		t.Errorf("4999 members were wanted, %d came", got)
	}
}

// TestZSetLongCalls runs calls that are split into several rounds.
func TestZSetLongCalls(t *testing.T) {
	c := newClient(t)
	add, rem := []string{"ZADD", "z", "CH"}, []string{"ZREM", "z"}
	for i := range 5000 {
		add = append(add, strconv.Itoa(i), strconv.Itoa(i%3000))
		rem = append(rem, strconv.Itoa(i%3500))
	}
	for _, step := range []struct {
		words []string
		want  int64
	}{
		{add, 5000}, {[]string{"ZCARD", "z"}, 3000}, {append([]string{"ZADD", "z"}, add[3:]...), 0},
		{append([]string{"ZADD", "z", "NX"}, add[3:]...), 0}, {[]string{"ZUNIONSTORE", "copy", "1", "z"}, 3000},
		{rem, 3000}, {[]string{"ZCARD", "z"}, 0}, {[]string{"ZCARD", "copy"}, 3000},
	} {
		if got := c.do(step.words...); got.Int != step.want {
			t.Errorf("%s of %d words: %d instead of %d", step.words[0], len(step.words), got.Int, step.want)
		}
		checkZSets(t, c)
	}
}

// TestZSetsAgainstRedis runs random commands, many of them beyond the transcripts, on the store and on redis-server,
// and compares the replies in RESP3's shape.
func TestZSetsAgainstRedis(t *testing.T) {
	c, redis := newClient(t), oracle.Start(t).Dial(t)
	redis.Do([]byte("HELLO"), []byte("3"))
	version := redis.Version()
	random := zsetCommands{rand.New(rand.NewPCG(3, 4))}
	for range 4000 {
		words := random.command()
		want, got := version.Doubles(redis.Do(byteWords(words)...)), c.do(words...)
		if a, b := resp.Append3(nil, want), resp.Append3(nil, got); string(a) != string(b) {
			t.Fatalf("%q:\nredis-server: %q\nmeowdis:      %q", words, a, b)
		}
	}
	checkZSets(t, c)
}

// TestZSetShapes compares the RESP3 shapes that random commands miss.
func TestZSetShapes(t *testing.T) {
	c, redis := newClient(t), oracle.Start(t).Dial(t)
	redis.Do([]byte("HELLO"), []byte("3"))
	version := redis.Version()
	for _, line := range []string{
		"ZADD one 1.5 a", "ZADD one INCR 1 a", "ZADD one NX INCR 1 a", "ZINCRBY one 1e300 a",
		"ZRANDMEMBER one", "ZRANDMEMBER one 1", "ZRANDMEMBER one -2", "ZRANDMEMBER one 1 WITHSCORES", "ZRANDMEMBER one -2 WITHSCORES",
		"ZRANDMEMBER one 0 WITHSCORES", "ZRANDMEMBER none", "ZRANDMEMBER none 1", "ZRANDMEMBER none 1 WITHSCORES",
		"ZSCAN one 0", "ZSCAN none 0", "ZRANK none a", "ZSCORE none a", "ZMSCORE none a", "ZMPOP 1 none MIN",
		"ZPOPMIN none", "ZPOPMIN none 1", "ZPOPMIN one 0", "ZINTERCARD 1 one", "ZUNION 1 none WITHSCORES", "ZPOPMAX one",
	} {
		words := strings.Fields(line)
		if want, got := resp.Append3(nil, version.Doubles(redis.Do(byteWords(words)...))), resp.Append3(nil, c.do(words...)); string(want) != string(got) {
			t.Errorf("%s:\nredis-server: %q\nmeowdis:      %q", line, want, got)
		}
	}
}

// zsetCommands generates commands about few keys, members and scores, so that they interact.
type zsetCommands struct{ *rand.Rand }

func (r zsetCommands) of(words ...string) string { return words[r.IntN(len(words))] }
func (r zsetCommands) key() string               { return r.of("a", "b", "c", "d") }
func (r zsetCommands) rank() string              { return strconv.Itoa(r.IntN(16) - 8) }
func (r zsetCommands) score() string {
	return r.of("1", "2", "3", "1.5", "-1", "inf", "-inf", "0.1", "0.2", "1e308", "-1e308", "1e-320", "7")
}
func (r zsetCommands) bound() string { return r.of("", "(") + r.score() }
func (r zsetCommands) member() string {
	return r.of("x", "y", "z", "xx", "", "x\x00", "m1", "m2", "m3")
}
func (r zsetCommands) lex() string { return r.of("-", "+", "["+r.member(), "("+r.member()) }

// maybe returns words, or nothing.
func (r zsetCommands) maybe(words ...string) []string {
	if r.IntN(2) == 0 {
		return nil
	}
	return words
}

func (r zsetCommands) keys() []string {
	keys := []string{strconv.Itoa(1 + r.IntN(3))}
	for n, _ := strconv.Atoi(keys[0]); n > 0; n-- {
		keys = append(keys, r.key())
	}
	return keys
}

func (r zsetCommands) limit() []string {
	return r.maybe("LIMIT", strconv.Itoa(r.IntN(5)-1), strconv.Itoa(r.IntN(5)-1))
}

// command returns a command. All scores of the key "flat" are 0, for ranges of members.
func (r zsetCommands) command() []string {
	join := func(name string, parts ...[]string) []string {
		words := []string{name}
		for _, p := range parts {
			words = append(words, p...)
		}
		return words
	}
	switch r.IntN(16) {
	case 0, 1, 2:
		return join("ZADD", []string{r.key()}, r.maybe(r.of("NX", "XX", "GT", "LT")), r.maybe("CH"), r.maybe(r.of("INCR", "XX")),
			[]string{r.score(), r.member()}, r.maybe(r.score(), r.member(), r.score(), r.member()))
	case 3:
		return []string{"ZADD", "flat", "0", r.member(), "0", r.member(), "0", r.member()}
	case 4:
		return []string{r.of("ZLEXCOUNT", "ZREMRANGEBYLEX"), r.of("flat", r.key()), r.lex(), r.lex()}
	case 5:
		return join(r.of("ZRANGEBYLEX", "ZREVRANGEBYLEX"), []string{r.of("flat", r.key()), r.lex(), r.lex()}, r.limit())
	case 6:
		return join("ZRANGE", []string{r.key(), r.rank(), r.rank()}, r.maybe("REV"), r.maybe("WITHSCORES"))
	case 7:
		return join("ZRANGE", []string{r.key(), r.bound(), r.bound(), "BYSCORE"}, r.maybe("REV"), r.limit(), r.maybe("WITHSCORES"))
	case 8:
		return join("ZRANGESTORE", []string{r.key(), r.key(), r.rank(), r.rank()}, r.maybe("REV"))
	case 9:
		return []string{"ZREMRANGEBYRANK", r.key(), r.rank(), r.rank()}
	case 10:
		return []string{r.of("ZCOUNT", "ZREMRANGEBYSCORE"), r.key(), r.bound(), r.bound()}
	case 11:
		return []string{r.of("ZREM", "ZMSCORE", "SADD"), r.key(), r.member(), r.member()}
	case 12:
		return []string{r.of("ZRANK", "ZREVRANK", "ZSCORE"), r.key(), r.member()}
	case 13:
		return join(r.of("ZPOPMIN", "ZPOPMAX"), []string{r.key()}, r.maybe(r.of("0", "1", "3")))
	case 14:
		return join("ZMPOP", r.keys(), []string{r.of("MIN", "MAX")}, r.maybe("COUNT", r.of("1", "2")))
	}
	return r.combination(r.keys())
}

func (r zsetCommands) combination(keys []string) []string {
	op := r.of("ZUNION", "ZINTER", "ZDIFF")
	words := append([]string{op}, keys...)
	store := r.IntN(2) == 0
	if store {
		words = append([]string{op + "STORE", r.key()}, keys...)
	}
	if op != "ZDIFF" && r.IntN(2) == 0 {
		words = append(words, "WEIGHTS")
		for range keys[1:] {
			words = append(words, r.of("1", "2", "-1", "0.5", "inf"))
		}
	}
	if op != "ZDIFF" {
		words = append(words, r.maybe("AGGREGATE", r.of("SUM", "MIN", "MAX"))...)
	}
	if !store {
		words = append(words, r.maybe("WITHSCORES")...)
	}
	return words
}
