package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// The samples are a redis-server's samples of DEBUG SLEEP, and the graph is the one that it drew.
func TestGraph(t *testing.T) {
	all := New()
	now := int64(1795403276)
	all.Latency.now = func() int64 { return now }
	all.SetLatency(10 * time.Millisecond)
	debug := commands.Lookup("DEBUG SLEEP")
	for i, millis := range []time.Duration{50, 20, 111, 30, 82, 60, 90, 100, 70, 40, 21, 20, 9} {
		if i == 8 {
			now++
		}
		all.Ran(debug, nil, millis*time.Millisecond, &resp.OK)
		now++
	}
	now--
	const want = `command - high 111 ms, low 20 ms (all time high 111 ms)
--------------------------------------------------------------------------------
  #   _o    
  | # ||_   
_ | |#|||   
|_|o|||||#__
            
111198764321
3210ssssssss
ssss        
`
	if got, ok := all.Latency.Graph("command"); !ok || got != want {
		t.Errorf("the graph is\n%s\nwant\n%s", got, want)
	}
	if got, want := shown(all.Latency.Latest()), "[[command 1795403288 20 111]]"; got != want {
		t.Errorf("latest is %s, want %s", got, want)
	}
	if report := all.Latency.Report(); !strings.Contains(report, "command: 12 slow seconds, 57 ms on average, at most 111 ms ever, the last one 1s ago.") {
		t.Errorf("the report is\n%s", report)
	}
	if n := all.Latency.Reset([]string{"nosuch", "command"}); n != 1 || shown(all.Latency.History("command")) != "[]" {
		t.Errorf("%d events were reset", n)
	}
}

// A second has one sample, the longest, and an event keeps 160 samples.
func TestSamples(t *testing.T) {
	all := New()
	now := int64(0)
	all.Latency.now = func() int64 { return now }
	all.SetLatency(time.Millisecond)
	get := commands.Lookup("GET")
	for ; now < 200; now++ {
		all.Ran(get, nil, 2*time.Millisecond, &resp.OK)
		all.Ran(get, nil, 3*time.Millisecond, &resp.OK)
		all.Ran(get, nil, time.Millisecond, &resp.OK)
	}
	h := all.Latency.History("fast-command").Elems
	if len(h) != 160 || shown(h[0]) != "[40 3]" || shown(h[159]) != "[199 3]" {
		t.Errorf("the history is %s", shown(all.Latency.History("fast-command")))
	}
}

// The slow log keeps at most its limit of calls, and a limited part of each call.
func TestSlowLog(t *testing.T) {
	all := New()
	all.SetSlow(0, 2)
	get := commands.Lookup("GET")
	for i := range 3 {
		all.Slow.Add(time.Unix(int64(i), 0), get, [][]byte{[]byte("GET"), []byte("k")}, 7*time.Microsecond, "a:1", "n")
	}
	if got, want := shown(all.Slow.Get(-1)), "[[2 2 7 [GET k] a:1 n] [1 1 7 [GET k] a:1 n]]"; got != want {
		t.Errorf("the log is %s, want %s", got, want)
	}
	all.SetSlow(0, 1)
	if n := all.Slow.Len(); n != 1 {
		t.Errorf("there are %d entries", n)
	}
	all.SetSlow(-1, 10)
	if all.Ran(get, nil, time.Hour, &resp.OK) {
		t.Error("a log that is off wants a call")
	}
}

// shown writes a reply as nested lists.
func shown(v resp.Value) string {
	switch v.Kind {
	case resp.Array:
		words := make([]string, len(v.Elems))
		for i, e := range v.Elems {
			words[i] = shown(e)
		}
		return "[" + strings.Join(words, " ") + "]"
	case resp.Int:
		return fmt.Sprint(v.Int)
	}
	return string(v.Str)
}
