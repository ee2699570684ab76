package inspect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// meddler is a Client that calls a function before each call, and counts bytes.
type meddler struct {
	keyspace.Client
	before  func(calls [][][]byte)
	refuses string // the name of a command
	most    int    // the most bytes of a call or its replies
	all     int    // the bytes of all calls and replies
}

func (b *meddler) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if b.before != nil {
		b.before(calls)
	}
	var refused []int
	calls = slices.Clone(calls)
	for i, call := range calls {
		if string(call[0]) == b.refuses {
			refused, calls[i] = append(refused, i), client.Command("PING")
		}
	}
	values, err := b.Client.Pipeline(ctx, calls)
	for _, i := range refused {
		values[i] = resp.MakeError("ERR " + b.refuses + " is not to be had")
	}
	sent, got := 0, 0
	for _, call := range calls {
		for _, w := range call {
			sent += len(w)
		}
	}
	for _, v := range values {
		got += bytesOf(v)
	}
	b.most = max(b.most, sent, got)
	b.all += sent + got
	return values, err
}

func bytesOf(v resp.Value) int {
	n := len(v.Str)
	for _, e := range v.Elems {
		n += bytesOf(e)
	}
	return n
}

func holdsMulti(calls [][][]byte) bool {
	return slices.ContainsFunc(calls, func(call [][]byte) bool { return string(call[0]) == "MULTI" })
}

// through makes b the session's writer.
func (f *file) through(b *meddler) {
	b.Client = f
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Unlock = func(context.Context) (keyspace.Client, error) { return b, nil }
	}
}

// runs types a command and confirms its question.
func (s *session) runs(line string) {
	s.t.Helper()
	s.press(":")
	s.typing(line)
	s.press("enter")
	if _, asks := s.model.Dialog.(*edit.Confirmation); asks {
		s.press("y")
	}
	if s.model.Failure != "" {
		s.t.Fatalf("%s: %s", line, s.model.Failure)
	}
	if s.model.Dialog != nil {
		s.press("esc")
	}
}

// redoes redoes the last undone change and confirms its question.
func (s *session) redoes() {
	s.t.Helper()
	s.press("ctrl+r")
	if c, asks := s.model.Dialog.(*edit.Confirmation); asks {
		if strings.Contains(ansi.Strip(strings.Join(c.View(s.model.PaneContext, 80, 10), "")), "nevertheless") {
			s.t.Error("it asks about changes that nobody made:", s.screen())
		}
		s.press("y")
	}
	if s.model.Failure != "" || !strings.HasPrefix(s.model.Notice, "Redone") {
		s.t.Error(s.model.Failure, s.model.Notice)
	}
}

// writes are commands of every kind that change the shop.
var writes = []string{
	"SET doc 1", "APPEND config x", "SETRANGE config 3 abc", "MSET tags 1 new 2", "INCR n", "SETBIT bits 7 1", "BITOP NOT config config",
	"GETDEL config", "GETEX config EX 10", "PFADD hll a b", "DEL doc tags board nothing", "UNLINK slots",
	"EXPIRE doc 100", "EXPIRE doc -1", "PERSIST session:00", "RENAME cart tags", "RENAMENX cart other", "COPY cart cart2", "COPY board tags DB 3 REPLACE",
	"MOVE events 2", "SORT tags ALPHA STORE board", "FLUSHDB", "FLUSHALL", "SWAPDB 0 3",
	"HSET cart apple 4 fig 1", "HDEL cart apple pear plum", "HPEXPIRE cart 5000 FIELDS 1 apple", "HPERSIST cart FIELDS 1 pear", "HINCRBY cart apple 2",
	"LPUSH cache:list:0 x", "LMOVE cache:list:0 cache:list:1 LEFT RIGHT", "LTRIM cache:list:0 1 1", "LREM cache:list:0 0 a",
	"LMPOP 2 nothing cache:list:1 RIGHT COUNT 2", "SADD tags pink", "SMOVE tags more red", "SPOP tags 2", "SDIFFSTORE tags nothing tags", "SUNIONSTORE all tags",
	"ZADD board 7 ann 8 dan", "ZPOPMIN board", "ZRANGESTORE top board 0 1", "ZUNIONSTORE board 1 board WEIGHTS 2", "ZREMRANGEBYRANK board 0 0",
	"XADD events * a b", "XTRIM events MAXLEN 1", "XDEL events 1-1", "XGROUP CREATE events more $", "XGROUP DESTROY events ops",
	"XREADGROUP GROUP ops worker COUNT 1 STREAMS events >", "XACK events ops 1-1", "XCLAIM events ops other 0 1-1", "XSETID events 9-9",
	"GEOADD cities 7 46 bern", "JSON.SET doc $.name 1", "JSON.DEL doc $.tags", "ARSET slots 7 x y", "ARDEL slots 8",
}

// TestEveryCommandIsUndone runs writes in the command line one by one, and undoes each.
func TestEveryCommandIsUndone(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	for i := range 30 {
		f.do(fmt.Sprintf("PEXPIREAT session:%02x %d", i*7, 1_800_000_000_000+i))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	for _, line := range writes {
		before := dumpAll(t, f, f.clock.now)
		s.runs(line)
		after := dumpAll(t, f, f.clock.now)
		if after == before {
			t.Errorf("%s: nothing was changed:\n%s", line, s.screen())
			continue
		}
		s.press("u")
		if got := dumpAll(t, f, f.clock.now); got != before || len(s.model.edit.Undoable()) != 0 {
			t.Errorf("%s: %d changes are left, and %s", line, len(s.model.edit.Undoable()), firstDifference(before, got))
		}
		s.redoes()
		if got := dumpAll(t, f, f.clock.now); got != after {
			t.Errorf("%s, redone: %s\n%s", line, firstDifference(after, got), s.screen())
		}
		s.press("u")
	}
}

// TestAStackIsUndone runs all writes, undoes all from the list of changes, and redoes all.
func TestAStackIsUndone(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	f.do("HPERSIST cart FIELDS 1 pear")
	for i := range 30 {
		f.do(fmt.Sprintf("PEXPIREAT session:%02x %d", i*7, 1_800_000_000_000+i))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	before := dumpAll(t, f, f.clock.now)
	for _, line := range writes {
		if !strings.HasPrefix(line, "X") {
			s.press(":")
			s.typing(line)
			s.press("enter", "y")
			s.press("esc")
		}
	}
	after, steps := dumpAll(t, f, f.clock.now), len(s.model.edit.Undoable())
	s.press("U", "end", "enter")
	s.shows(fmt.Sprintf("Undone: %d changes", steps), "^R redo")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Errorf("%s: %s\n%s", s.model.Failure, firstDifference(before, got), s.screen())
	}
	s.press("U", "home", "enter")
	for range writes {
		if s.model.Dialog != nil {
			s.press("y")
		}
	}
	s.shows(fmt.Sprintf("Redone: %d changes", steps))
	if got := dumpAll(t, f, f.clock.now); got != after {
		t.Errorf("%s: %s\n%s", s.model.Failure, firstDifference(after, got), s.screen())
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d is\n%.300s\nwant\n%.300s", i, g[i], w[i])
		}
	}
	return fmt.Sprintf("there are %d lines, want %d", len(g), len(w))
}

// TestWhatWouldHaveEnded checks that undo does not restore a key past its expiry.
func TestWhatWouldHaveEnded(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET user:short v PX 60000")
	f.do("SET user:long v PX 9000000")
	f.do("HSET user:hash a 1")
	f.do("HPEXPIRE user:hash 60000 FIELDS 1 a")
	f.do("HSET user:mixed a 1 b 2")
	f.do("HPEXPIRE user:mixed 60000 FIELDS 1 a")
	f.do("JSON.SET user:json $ 1")
	f.do("PEXPIRE user:json 60000")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "d", "y")
	s.shows("0 keys")
	s.wait(61e9)
	s.press("u")
	s.shows("2 keys")
	got := dumpAll(t, f, f.clock.now)
	f.do("DEL user:mixed")
	f.do("HSET user:mixed b 2")
	if want := dumpAll(t, f, f.clock.now); got != want {
		t.Error(firstDifference(want, got))
	}
}

// TestSomebodyElseWrites writes between the backup of a key and its change: undo restores the other
// client's value. Without WATCH, the transaction itself returns that value.
func TestSomebodyElseWrites(t *testing.T) {
	race.Skip(t)
	for _, refuses := range []string{"", "WATCH"} {
		for _, c := range []struct{ before, theirs, mine, read, want string }{
			{"SET k old", "SET k theirs", "SET k mine", "GET k", "theirs"},
			{"SET k old PX 50000", "APPEND k er", "SET k mine", "GET k", "older"},
			{"SET k old", "DEL k", "SET k mine", "EXISTS k", "0"},
			{"DEL k", "SET k theirs", "SET k mine", "GET k", "theirs"},
			{"DEL k", "PING", "SET k mine", "EXISTS k", "0"},
			{"SADD k old", "SADD k theirs", "DEL k", "SCARD k", "2"},
		} {
			t.Run(refuses+" "+c.theirs, func(t *testing.T) {
				f := newFile(t)
				f.do(c.before)
				b := &meddler{refuses: refuses}
				f.through(b)
				s := browseOn(t, f, f.fake, 80, 24)
				s.press("w")
				interfere := true
				b.before = func(calls [][][]byte) {
					if len(calls) > 2 && holdsMulti(calls) && interfere {
						interfere = false
						other := f.session
						f.session = f.another()
						f.do(c.theirs)
						f.session = other
					}
				}
				s.runs(c.mine)
				s.press("u")
				v, err := f.session.Do(context.Background(), client.Command(strings.Fields(c.read)...)...)
				if err != nil || client.Text(v) != c.want || interfere {
					t.Errorf("got %q %v, interfered %v", client.Text(v), err, !interfere)
				}
			})
		}
	}
}

// TestNothingChangesWithoutAJournal checks the error for an unwritable journal.
func TestNothingChangesWithoutAJournal(t *testing.T) {
	f := newFile(t).shop()
	before := dumpAll(t, f, f.clock.now)
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal = filepath.Join(blocked, "undo")
	}
	s := browseOn(t, f, f.fake, 160, 24)
	f.fake.options = start
	s.press("w", "d", "y")
	s.shows("Nothing was changed", "The undo data cannot be saved", blocked)
	s.press("esc", ":")
	s.typing("SET a b")
	s.press("enter")
	s.shows("Nothing was changed")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
}

// TestLongChanges checks that long changes show progress, can be stopped, and pause the computation of
// folder sizes.
func TestLongChanges(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 4 * change.FileKeysAtOnce {
		f.do(fmt.Sprintf("SET n:%d x", i))
	}
	f.do("SET other x")
	before := dumpAll(t, f, f.clock.now)
	b := &meddler{}
	f.through(b)
	s := browseOn(t, f, f.fake, 80, 24)
	var told []string
	b.before = func(calls [][][]byte) {
		if !s.model.Running(job.Writing) || !holdsMulti(calls) {
			return
		}
		told = append(told, s.model.Costs(job.Writing)[0])
		s.model.keys.RefreshAll() // its count waits for the change
		s.run(s.model.keys.Fill())
		if s.model.Running(job.MeasuringFolder) {
			t.Error("folders are added up during a change")
		}
		if len(told) == 3 {
			s.press("esc")
		}
	}
	s.press("w", "g", "d")
	s.model.Frame = 1
	s.press("y")
	s.shows("stopped (press u to undo the finished part)")
	if want := []string{"0%", "25%", "50%"}; !slices.Equal(told, want) {
		t.Errorf("it told %q, want %q", told, want)
	}
	s.press("u")
	s.shows("Undone: Deleted n:*")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
	s.press(":")
	s.typing("SET one")
	s.press("enter")
	s.shows("wrong number of arguments for 'set'")
}

// TestMemoryStaysFlat deletes and restores many keys in constant memory.
func TestMemoryStaysFlat(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	ctx := context.Background()
	do := func(words ...string) {
		if v, err := f.session.Do(ctx, client.Command(words...)...); err != nil || v.IsError() {
			t.Fatal(words[0], err, string(v.Str))
		}
	}
	for i := range 600 {
		do("SET", fmt.Sprintf("user:%d", i), strings.Repeat(fmt.Sprintf("%d,", i), 2<<10))
	}
	for i := range 20 {
		list := []string{"RPUSH", "user:list"}
		for j := range 1000 {
			list = append(list, fmt.Sprintf("%d %s", 1000*i+j, strings.Repeat("x", 100)))
		}
		do(list...)
	}
	do("SETRANGE", "user:big", fmt.Sprint(12<<20), "x")
	before := dumpAll(t, f, f.clock.now)
	b := &meddler{}
	f.through(b)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "d", "y")
	s.shows("Deleted user:*, 602 keys", "0 keys")
	s.press("u")
	s.shows("602 keys")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
	if b.all < 30<<20 || b.most > 9<<20 {
		t.Errorf("%d bytes passed, %d of them at once", b.all, b.most)
	}
}

// fillHash sets the hash h to 12,000 fields: an edit stores only the element in the journal.
func (f *file) fillHash() {
	for i := range 60 {
		words := []string{"HSET", "h"}
		for j := range 200 {
			words = append(words, fmt.Sprintf("field:%d:%d", i, j), strings.Repeat("x", 50))
		}
		f.do(strings.Join(words, " "))
	}
	f.do("PEXPIRE h 60000")
}

// TestEditsOfLargeKeys checks that the journal stores the changed elements, not the whole key.
func TestEditsOfLargeKeys(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.fillHash()
	before := dumpAll(t, f, f.clock.now)
	b := &meddler{}
	f.through(b)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("enter", "w", "e", "y", "enter")
	s.shows("Changed field:")
	s.press("esc", "r", "2", "enter")
	s.shows("Renamed to h2")
	s.press("x", "9", "enter", "@persist")
	if end := sizeOfFile(t, s.journal()); end > 2000 {
		t.Errorf("the journal has %d bytes", end)
	}
	s.press("u", "u", "u", "u")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}

	// Undo does not recreate an expired key.
	s.press("enter", "e", "y", "enter")
	s.shows("Changed field:")
	s.press("esc")
	s.wait(61e9)
	s.press("u")
	s.shows("Undone", "0 keys")
}

// TestRealRedisIsUndone runs the writes that a real server supports.
func TestRealRedisIsUndone(t *testing.T) {
	conn := oracle.Start(t).Dial(t)
	for _, line := range []string{
		"HSET cart apple 3 pear 1", "RPUSH l a b c", "SADD tags 1 2 3", "ZADD board 1.5 ann 2 bob", "SET config text PXAT 33000000000000",
		"XADD events 1-1 a b", "XADD events 2-1 a b", "XGROUP CREATE events ops 0", "XREADGROUP GROUP ops worker COUNT 1 STREAMS events >",
	} {
		if v := conn.Do(client.Command(strings.Fields(line)...)...); v.IsError() {
			t.Fatal(line, string(v.Str))
		}
	}
	// A delivery's time is computed from the time since then, so its last digits depend on the machine's load.
	times := regexp.MustCompile(`\b3137(3\d){11}\b`) // Unix ms, in hex digits
	state := func() string { return times.ReplaceAllString(dumpAll(t, real{conn: conn}, 0), "time") }
	f := newFake()
	f.options = func(o *Options) {
		o.Unlock = func(context.Context) (keyspace.Client, error) { return real{conn: conn}, nil }
	}
	s := browseOn(t, real{conn: conn}, f, 80, 24)
	s.press("w")
	for _, line := range []string{
		"SET config 1", "DEL config cart", "EXPIRE cart 100", "PERSIST config", "RENAME cart tags", "COPY cart x", "MOVE events 2", "FLUSHDB", "FLUSHALL",
		"SWAPDB 0 3", "HDEL cart apple", "LMOVE l m LEFT LEFT", "SPOP tags", "ZPOPMAX board", "XACK events ops 1-1", "XADD events * a b", "SORT l ALPHA DESC STORE l", "BLPOP l 0",
	} {
		before := state()
		s.runs(line)
		if state() == before {
			t.Errorf("%s: nothing was changed:\n%s", line, s.screen())
		}
		after := state()
		s.press("u")
		if got := state(); got != before {
			t.Errorf("%s: %s\n%s", line, firstDifference(before, got), s.screen())
		}
		s.redoes()
		if got := state(); got != after {
			t.Errorf("%s, redone: %s\n%s", line, firstDifference(after, got), s.screen())
		}
		s.press("u")
	}
	s.press(":")
	s.typing(`EVAL "return 1" 0`)
	s.press("enter")
	s.shows("cannot be undone")
	s.press("esc", ":")
	s.typing("MULTI")
	s.press("enter")
	s.shows("use meowdis repl")
}
