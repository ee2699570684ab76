package server_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// told is a command and the events that a subscriber gets: database, event and key.
type told struct {
	line   string
	events []string
}

// toldBy8 returns the events of Redis 8.0.2 from testdata/notify.txt.
func toldBy8(t *testing.T) (all []told) {
	t.Helper()
	text, err := os.ReadFile("testdata/notify.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if event, is := strings.CutPrefix(line, "  "); is {
			last := &all[len(all)-1]
			last.events = append(last.events, event)
		} else {
			all = append(all, told{line: line})
		}
	}
	return all
}

// follows runs commands of one client and compares the events that another client gets after each, or after EXEC for a
// transaction.
func follows(t *testing.T, do func(args ...string) resp.Value, hear func() resp.Value) {
	t.Helper()
	if v := do("CONFIG", "SET", "notify-keyspace-events", "KEAn"); v.IsError() {
		t.Fatal(show(v))
	}
	multi := false
	for _, step := range toldBy8(t) {
		args, err := resp.SplitLine(step.line)
		if err != nil {
			t.Fatal(err)
		}
		words := make([]string, len(args))
		for i, arg := range args {
			words[i] = string(arg)
		}
		v := do(words...)
		if multi = words[0] == "MULTI" || multi && words[0] != "EXEC"; multi {
			continue
		}
		do("PUBLISH", "__key done", "")
		if got := heard(t, hear); strings.Join(got, "\n") != strings.Join(step.events, "\n") {
			t.Errorf("%s answers %.80s and tells\n%q, Redis\n%q", step.line, show(v), got, step.events)
		}
	}
}

// heard returns the events up to the mark. Each event arrives twice: for the key and for the event.
func heard(t *testing.T, hear func() resp.Value) (events []string) {
	t.Helper()
	before := ""
	for {
		m := hear().Elems
		if string(m[2].Str) == "__key done" {
			return events
		}
		channel, payload := string(m[2].Str), string(m[3].Str)
		if rest, is := strings.CutPrefix(channel, "__keyevent@"); is {
			db, name, _ := strings.Cut(rest, "__:")
			if want := "__keyspace@" + db + "__:" + payload + " " + name; before != want {
				t.Errorf("%q comes before %q", before, channel)
			}
			events = append(events, db+" "+name+" "+payload)
		}
		before = channel + " " + payload
	}
}

func TestNotify(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/notify.sqlite", server.Config{})
	c, ear := s.dial(t), s.dial(t)
	ear.do("PSUBSCRIBE", "__key*")
	follows(t, c.do, ear.reply)
}

func TestNotifyOracle(t *testing.T) {
	redis := oracle.Start(t)
	c := redis.Dial(t)
	if c.Version().Before("8.0") {
		return // this version has fewer commands
	}
	ear := dial(t, "unix", redis.Socket)
	ear.do("PSUBSCRIBE", "__key*")
	follows(t, func(args ...string) resp.Value { return c.Do(words(args...)...) }, ear.reply)
}

// TestNotifyExpired expires keys and fields, by the sweep and by a write that finds them.
func TestNotifyExpired(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/notify.sqlite", server.Config{})
	c, ear := s.dial(t), s.dial(t)
	c.do("CONFIG", "SET", "notify-keyspace-events", "EA")
	ear.do("PSUBSCRIBE", "__keyevent@0__:expired")
	c.do("SET", "at once", "v", "PXAT", "1")
	if m := ear.reply().Elems; string(m[3].Str) != "at once" {
		t.Errorf("%s has expired", m[3].Str)
	}
	ear.do("PUNSUBSCRIBE")
	c.do("SET", "by sweep", "v", "PX", "10")
	c.do("SET", "by write", "v", "PX", "1000")
	c.do("HSET", "all", "f", "v")
	c.do("HPEXPIRE", "all", "10", "FIELDS", "1", "f")
	c.do("HSET", "some", "f", "v", "g", "w")
	c.do("HPEXPIRE", "some", "10", "FIELDS", "1", "f")
	ear.do("PSUBSCRIBE", "__key*")
	next := func() string {
		m := ear.reply().Elems
		return strings.TrimPrefix(string(m[2].Str), "__keyevent@0__:") + " " + string(m[3].Str)
	}
	sweep := func() {
		if _, err := s.store.Sweep(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(events ...string) {
		t.Helper()
		for _, want := range events {
			if got := next(); got != want {
				t.Errorf("heard %q, not %q", got, want)
			}
		}
	}
	s.clock.Add(100)
	sweep()
	sweep()
	wants("expired by sweep", "hexpired all", "del all", "hexpired some")
	s.clock.Add(1000)
	c.do("LPUSH", "by write", "x")
	wants("expired by write", "lpush by write")
}

// TestNotifyWaiting blocks clients on keys that other clients write. The events of both arrive in order.
func TestNotifyWaiting(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/notify.sqlite", server.Config{})
	c, waiting, ear := s.dial(t), s.dial(t), s.dial(t)
	c.do("CONFIG", "SET", "notify-keyspace-events", "EA")
	ear.do("PSUBSCRIBE", "__key*")
	waiting.send(string(resp.AppendCommand(nil, words("BLMOVE", "from", "to", "LEFT", "RIGHT", "0")...)))
	for deadline := time.Now().Add(time.Minute); !strings.Contains(string(c.do("INFO", "clients").Str), "blocked_clients:1"); {
		if time.Now().After(deadline) {
			t.Fatal("the client does not wait")
		}
	}
	c.do("RPUSH", "from", "v")
	waiting.reply()
	c.do("PUBLISH", "__key done", "")
	var got []string
	for {
		m := ear.reply().Elems
		if string(m[2].Str) == "__key done" {
			break
		}
		got = append(got, strings.TrimPrefix(string(m[2].Str), "__keyevent@0__:")+" "+string(m[3].Str))
	}
	if all := strings.Join(got, ", "); all != "rpush from, rpush to, lpop from, del from" {
		t.Error(all)
	}
	c.do("CONFIG", "SET", "notify-keyspace-events", "KElx")
	c.do("SET", "s", "v")
	c.do("LPUSH", "l", "v")
	if m := ear.reply().Elems; string(m[2].Str) != "__keyspace@0__:l" {
		t.Errorf("a class that is off is told: %s", m[2].Str)
	}
	ear.reply()
	c.do("CONFIG", "SET", "notify-keyspace-events", "")
	c.do("LPUSH", "l", "v")
	c.do("PUBLISH", "__key done", "")
	if m := ear.reply().Elems; string(m[2].Str) != "__key done" {
		t.Errorf("what is off is told: %s", m[2].Str)
	}
}

// TestNotifyOwn sends a client the events of its own writes, after the reply.
func TestNotifyOwn(t *testing.T) {
	redis := oracle.Start(t)
	if redis.Dial(t).Version().Before("8.0") {
		return // this version sends it before the reply
	}
	s := serve(t, server.Config{})
	for _, c := range []*peer{dial(t, "unix", redis.Socket), s.dial(t)} {
		c.do("HELLO", "3")
		c.do("CONFIG", "SET", "notify-keyspace-events", "EA")
		c.do("SUBSCRIBE", "__keyevent@0__:set")
		if v := c.do("SET", "k", "v"); v.Kind != resp.Status {
			t.Errorf("the reply to SET is %s", show(v))
		}
		if v := c.reply(); v.Kind != resp.Push || string(v.Elems[2].Str) != "k" {
			t.Errorf("the event is %s", show(v))
		}
		c.do("CONFIG", "SET", "notify-keyspace-events", "")
	}
}

// TestNotifyTogether checks that events of a long pipeline arrive in the order of the commands.
func TestNotifyTogether(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/notify.sqlite", server.Config{})
	c, ear := s.dial(t), s.dial(t)
	c.do("CONFIG", "SET", "notify-keyspace-events", "E$")
	ear.do("PSUBSCRIBE", "__key*")
	const calls = 1500
	var raw []byte
	for i := range calls {
		raw = resp.AppendCommand(raw, words("SET", "k"+strconv.Itoa(i), "v")...)
		raw = resp.AppendCommand(raw, words("APPEND", "k"+strconv.Itoa(i), "v")...)
	}
	go c.Write(raw)
	for range 2 * calls {
		c.reply()
	}
	for i := range calls {
		for _, name := range []string{"set", "append"} {
			m := ear.reply().Elems
			if got := string(m[2].Str) + " " + string(m[3].Str); got != "__keyevent@0__:"+name+" k"+strconv.Itoa(i) {
				t.Fatalf("event %d of %s is %q", i, name, got)
			}
		}
	}
}

// TestNotifyEvicted gets one evicted event for each evicted key, and no other event.
func TestNotifyEvicted(t *testing.T) {
	s := serve(t, server.Config{})
	c, ear := s.dial(t), s.dial(t)
	want(t, c.do("CONFIG", "SET", "maxmemory", "3mb", "maxmemory-policy", "allkeys-random", "notify-keyspace-events", "Eeg"), "OK")
	ear.do("PSUBSCRIBE", "__key*")
	value := strings.Repeat("x", 20_000)
	made, left := int64(0), int64(0)
	for ; made == left && made < 20_000; left = c.do("DBSIZE").Int { // the file's size is checked now and then
		want(t, c.do("SET", "k"+strconv.FormatInt(made, 10), value), "OK")
		made++
	}
	c.do("PUBLISH", "__key done", "")
	gone := map[string]bool{}
	for m := ear.reply().Elems; string(m[2].Str) != "__key done"; m = ear.reply().Elems {
		if string(m[2].Str) != "__keyevent@0__:evicted" || gone[string(m[3].Str)] {
			t.Errorf("heard %s of %s", m[2].Str, m[3].Str)
		}
		gone[string(m[3].Str)] = true
	}
	if len(gone) == 0 || int64(len(gone))+left != made {
		t.Errorf("of %d keys %d are left, and %d evicted", made, left, len(gone))
	}
}

func TestNotifyMisses(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	if v := c.do("CONFIG", "SET", "notify-keyspace-events", "KEAm"); !strings.Contains(string(v.Str), "events of missing keys (m) are not supported") {
		t.Error(show(v))
	}
	want(t, c.do("CONFIG", "SET", "notify-keyspace-events", "KEAn"), "OK")
	if v := c.do("CONFIG", "GET", "notify-keyspace-events"); string(v.Elems[1].Str) != "AKE" {
		t.Errorf("shows %s", show(v)) // like Redis
	}
}
