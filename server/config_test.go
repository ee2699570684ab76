package server_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/server"
)

// CONFIG SET accepts the values of CONFIG GET, all at once or one by one, unless Redis refuses to set the parameter.
func TestConfigSetsWhatItGot(t *testing.T) {
	c := serve(t, server.Config{RequirePass: "s3cret"}).dial(t)
	c.do("AUTH", "s3cret")
	got := c.do("CONFIG", "GET", "*")
	all := []string{"CONFIG", "SET"}
	for pair := range slices.Chunk(got.Elems, 2) {
		name, value := string(pair[0].Str), string(pair[1].Str)
		switch v := c.do("CONFIG", "SET", name, value); {
		case show(v) == "OK":
			all = append(all, name, value)
		case !strings.HasSuffix(show(v), "can't set immutable config") && !strings.HasSuffix(show(v), "can't set protected config"):
			t.Errorf("CONFIG SET %s %q: %s", name, value, show(v))
		}
	}
	if len(all) < 2*160 {
		t.Fatalf("CONFIG SET takes only %q", all)
	}
	want(t, c.do(all...), "OK")
	if again := c.do("CONFIG", "GET", "*"); show(again) != show(got) {
		t.Errorf("CONFIG GET * was\n%s\nand is\n%s", show(got), show(again))
	}
}

// A value that is not UTF-8, or changes its length with its case, is refused like any other.
func TestConfigSetNoText(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	for _, value := range []string{"1\xffKB", "\xff\xff\xff", "İb"} {
		if v := c.do("CONFIG", "SET", "hash-max-listpack-value", value); !v.IsError() || !strings.HasSuffix(string(v.Str), "argument must be a memory value") {
			t.Errorf("CONFIG SET hash-max-listpack-value %q: %s", value, show(v))
		}
	}
}

// A memory value beyond 63 bits is out of the range of its parameter.
func TestConfigSetTooMuch(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	for _, value := range []string{"9223372036854775808", "9007199254740992kb", "99999999999999999999"} {
		if v := c.do("CONFIG", "SET", "hash-max-listpack-value", value); !strings.HasSuffix(string(v.Str), "argument must be between 0 and 9223372036854775807 inclusive") {
			t.Errorf("CONFIG SET hash-max-listpack-value %s: %s", value, show(v))
		}
	}
}

// The parameters of modules: redis.io/docs/latest/develop/data-types/timeseries/configuration,
// …/probabilistic/configuration and …/ai/search-and-query/administration/configuration.
func TestConfigOfModules(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	failed := func(name string) string {
		return "(error) ERR CONFIG SET failed (possibly related to argument '" + name + "') - "
	}
	for _, step := range [][2]string{
		{"CONFIG GET search-timeout", `1) "search-timeout" 2) "0"`}, {"CONFIG SET search-timeout 100", "OK"}, {"FT.CONFIG GET TIMEOUT", `1) 1) "TIMEOUT" 2) "100"`},
		{"FT.CONFIG SET DEFAULT_DIALECT 2", "OK"}, {"CONFIG SET timeout 9", "OK"}, {"CONFIG GET search-default-dialect", `1) "search-default-dialect" 2) "2"`},
		{"CONFIG SET search-timeout 7 search-default-dialect 9", failed("search-default-dialect") + "argument has an invalid value"},
		{"CONFIG GET search-timeout", `1) "search-timeout" 2) "100"`},
		{"CONFIG SET search-min-prefix 3", failed("search-min-prefix") + "can't set immutable config"},
		{"CONFIG SET bf-initial-size 50 cf-bucket-size 4 cf-max-expansions 2", "OK"},
		{"BF.ADD b x", "(integer) 1"}, {"BF.INFO b CAPACITY", "1) (integer) 50"},
		{"CF.ADD c x", "(integer) 1"}, {"CF.INFO c", "1) Size 2) (integer) 1080 3) Number of buckets 4) (integer) 256 5) Number of filters 6) (integer) 1 " +
			"7) Number of items inserted 8) (integer) 1 9) Number of items deleted 10) (integer) 0 11) Bucket size 12) (integer) 4 13) Expansion rate 14) (integer) 1 15) Max iterations 16) (integer) 20"},
		{"CONFIG SET cf-max-expansions 1", "OK"}, {"CF.ADD c x", "(error) Maximum expansions reached"},
		{"CONFIG SET ts-duplicate-policy LAST ts-retention-policy 1000", "OK"}, {"TS.ADD t 1 1", "(integer) 1"}, {"TS.ADD t 1 2", "(integer) 1"},
		{"TS.GET t", "1) (integer) 1 2) 2"}, {"TS.ADD t 2000 2", "(integer) 2000"}, {"TS.RANGE t - +", "1) 1) (integer) 2000 2) 2"},
		{"CONFIG SET bf-error-rate 1", failed("bf-error-rate") + "argument must be between 0 and 1 exclusive"},
		{"CONFIG SET ts-retention-policy 0 ts-compaction-policy max:1M:1h;avg:2s:0:1s", "OK"}, {"CONFIG GET ts-compaction-policy", `1) "ts-compaction-policy" 2) "max:1M:1h;avg:2s:0:1s"`},
		{"SET p_MAX_60000 taken", "OK"}, {"TS.ADD p 1500 4 LABELS a b", "(integer) 1500"}, {"TS.ADD p 2000 8", "(integer) 2000"}, {"TS.ADD p 3500 1", "(integer) 3500"},
		{"TS.RANGE p_AVG_2000_1000 - + ", "1) 1) (integer) 1000 2) 6"}, {"GET p_MAX_60000", `"taken"`},
		{"TS.QUERYINDEX a=b aggregation=AVG time_bucket=2000", `1) "p_AVG_2000_1000"`},
		{"TS.INCRBY q 3 TIMESTAMP 10", "(integer) 10"}, {"TS.GET q_MAX_60000 LATEST", "1) (integer) 0 2) 3"}, {"TS.CREATE r", "OK"}, {"TS.ADD r 1 1", "(integer) 1"}, {"EXISTS r_AVG_2000_1000", "(integer) 0"},
		{"CONFIG SET ts-compaction-policy max:1M", failed("ts-compaction-policy") + "argument must be aggregation:bucket:retention[:alignment], separated by semicolons, such as max:1M:1h"},
		{"CONFIG SET ts-num-threads 2", failed("ts-num-threads") + "can't set immutable config"},
		{"CONFIG SET ts-chunk-size-bytes 50", failed("ts-chunk-size-bytes") + "argument must be a multiple of 8"},
	} {
		if got := strings.Join(strings.Fields(show(c.do(strings.Fields(step[0])...))), " "); got != step[1] {
			t.Errorf("%s: %s, want %s", step[0], got, step[1])
		}
	}
}

// hll-sparse-max-bytes sets the size at which a HyperLogLog becomes dense.
func TestConfigSetHLLSparse(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	for _, step := range [][2]string{
		{"PFADD small a b c d", "1"}, {"PFDEBUG ENCODING small", "sparse"},
		{"CONFIG SET hll-sparse-max-bytes 20b", "OK"}, {"PFDEBUG ENCODING small", "sparse"},
		{"PFADD small e", "1"}, {"PFDEBUG ENCODING small", "dense"}, {"PFCOUNT small", "5"},
	} {
		if v := c.do(strings.Fields(step[0])...); !strings.HasSuffix(show(v), step[1]) {
			t.Errorf("%s: %s, want %s", step[0], show(v), step[1])
		}
	}
}

// limited is a store that records the time limit.
type limited struct {
	storeFunc
	limit atomic.Int64
}

func (l *limited) SetTimeLimit(d time.Duration) { l.limit.Store(int64(d)) }

// The store learns the time limit from its parameter.
func TestConfigSetTimeLimit(t *testing.T) {
	l := &limited{}
	c := serve(t, server.Config{Engine: engine.New(l), TimeLimit: 10 * time.Second}).dial(t)
	value := func() string { return string(c.do("CONFIG", "GET", "command-time-limit").Elems[1].Str) }
	if value() != "10000" || l.limit.Load() != int64(10*time.Second) {
		t.Errorf("it is %s at first, and %d for the store", value(), l.limit.Load())
	}
	want(t, c.do("CONFIG", "SET", "command-time-limit", "50"), "OK")
	if value() != "50" || l.limit.Load() != int64(50*time.Millisecond) {
		t.Errorf("it is %s then, and %d for the store", value(), l.limit.Load())
	}
	if v := c.do("CONFIG", "SET", "command-time-limit", "-1"); !v.IsError() {
		t.Errorf("-1: %s", show(v))
	}
}

// TestScriptTimeLimit exempts scripts from the time limit unless it was set for them or by CONFIG SET.
func TestScriptTimeLimit(t *testing.T) {
	const late = "(error) ERR time limit of 1ms exceeded; nothing was changed"
	long := []string{"EVAL", "redis.call('set', 'k', 'v') for i = 1, 1000000 do end return 7", "0"}
	c := serve(t, server.Config{TimeLimit: time.Millisecond}).dial(t)
	want(t, c.do(long...), "(integer) 7")
	want(t, c.do("CONFIG", "SET", "command-time-limit", "1"), "OK")
	want(t, c.do(long...), late)
	want(t, serve(t, server.Config{TimeLimit: time.Millisecond, LimitScripts: true}).dial(t).do(long...), late)
}

// CONFIG GET uses the patterns of KEYS, ignoring case. An empty or unclosed class is not an error.
func TestConfigGetPatterns(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	for pattern, name := range map[string]string{"MAXMEMOR[Y]": "maxmemory", "[^a-z]axclients": "", "maxclient[r-t": "maxclients", "max[!a]lients": "", `\maxclients`: "maxclients"} {
		got := ""
		if v := c.do("CONFIG", "GET", pattern); len(v.Elems) > 0 {
			got = string(v.Elems[0].Str)
		}
		if got != name {
			t.Errorf("CONFIG GET %s: %q, want %q", pattern, got, name)
		}
	}
}
