package follow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// target returns a session on an empty file in memory, and the store.
func target(t *testing.T) (*engine.Session, *local.Store) {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine.New(file).Session(), file
}

// held is a transaction on a file, with a clock that stands still.
type held struct {
	*engine.Session
	*local.Hold
}

func hold(file *local.Store) held {
	h := file.Hold()
	return held{engine.New(h, engine.WithClock(func() int64 { return 1 })).Session(), h}
}

var start = Position{State: Following, Whole: true, ID: "id"}

// begin returns an applier, whose Refused fills the returned list.
func begin(t *testing.T, to Target, at Position) (*Applier, *[]string) {
	t.Helper()
	if err := WritePosition(t.Context(), to.Session, to.Key, at); err != nil {
		t.Fatal(err)
	}
	var refused []string
	return NewApplier(to, at, Options{
		Refused: func(command string, err error) { refused = append(refused, command+": "+err.Error()) },
		Retry:   func(context.Context, error) error { return nil },
		Now:     func() int64 { return 1_000_000 },
	}), &refused
}

// add adds commands, each of ten bytes.
func add(t *testing.T, a *Applier, lines ...string) {
	t.Helper()
	for _, line := range lines {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Add(t.Context(), args, a.next.Offset+10); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

func flush(t *testing.T, a *Applier) {
	t.Helper()
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// holds compares the reply to a command.
func holds(t *testing.T, s *engine.Session, line, want string) {
	t.Helper()
	v, err := s.Do(t.Context(), call(strings.Fields(line)...)...)
	if got := string(resp.AppendTyped(nil, v, true)); err != nil || got != want {
		t.Errorf("%s: %s, %v, not %s", line, got, err, want)
	}
}

// unreliable loses calls, or their replies, as a connection does.
type unreliable struct {
	*engine.Session
	random *rand.Rand
}

var errCut = errors.New("the connection was lost")

func (u unreliable) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	chance := u.random.IntN(10)
	if chance < 2 {
		u.Reset()
		return nil, errCut
	}
	replies, err := u.Session.Pipeline(ctx, calls)
	if chance < 4 {
		u.Reset()
		return nil, errCut
	}
	return replies, err
}

// TestLostReplies applies each command once, although a server's replies are lost.
func TestLostReplies(t *testing.T) {
	for _, watches := range []bool{true, false} {
		s, _ := target(t)
		u := unreliable{s, rand.New(rand.NewPCG(1, 2))}
		a, refused := begin(t, Target{Session: u, Key: Key("source"), Watches: watches}, start)
		for i := range 200 {
			add(t, a, fmt.Sprintf("SELECT %d", i%3), "INCR n", "PING")
			if i%4 == 0 {
				flush(t, a)
			}
		}
		flush(t, a)
		s.Select(0)
		holds(t, s, "GET n", `"67"`)
		holds(t, s, "GET meowdis:following:source", fmt.Sprintf(`"following true id %d 1"`, 200*30))
		s.Select(1)
		holds(t, s, "GET n", `"67"`)
		if len(*refused) > 0 || a.Commands != 200 || a.Position().Offset != 6000 {
			t.Error(*refused, a.Commands, a.Position())
		}
	}
}

// TestTwoFollowers refuses the commands of a second process, on both kinds of targets.
func TestTwoFollowers(t *testing.T) {
	s, file := target(t)
	for name, to := range map[string]Target{
		"server": {Session: s, Key: Key("server"), Watches: true},
		"file":   {Session: s, Transaction: hold(file), Key: Key("file")},
	} {
		first, _ := begin(t, to, start)
		add(t, first, "INCR "+name)
		flush(t, first)
		to.Session = engine.New(file).Session()
		if to.Transaction != nil {
			to.Transaction = hold(file)
		}
		second := NewApplier(to, start, first.o)
		add(t, second, "INCR "+name)
		if err := second.Flush(t.Context()); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: %v", name, err)
		}
		second.Reset()
		add(t, first, "INCR "+name)
		flush(t, first)
		holds(t, s, "GET "+name, `"2"`)
	}
}

// TestTransactions shows all of a transaction of the source or nothing, however large it is.
func TestTransactions(t *testing.T) {
	s, file := target(t)
	for name, to := range map[string]Target{
		"server": {Session: s, Key: Key("server"), Watches: true},
		"file":   {Session: s, Transaction: hold(file), Key: Key("file")},
	} {
		a, _ := begin(t, to, start)
		add(t, a, "INCR "+name, "MULTI")
		for range 3 * fileCommands {
			add(t, a, "INCR "+name)
		}
		flush(t, a) // has no effect inside a transaction
		a.Reset()   // the stream ended there
		if a.Position() != start {
			t.Error(a.Position())
		}
		holds(t, s, "GET "+name, "(nil)")
		add(t, a, "INCR "+name, "MULTI")
		for range 3 * fileCommands {
			add(t, a, "INCR "+name)
		}
		add(t, a, "EXEC")
		flush(t, a)
		holds(t, s, "GET "+name, fmt.Sprintf("%q", fmt.Sprint(3*fileCommands+1)))
	}
}

// TestRefused names the commands that the target refuses, and applies the others.
func TestRefused(t *testing.T) {
	s, file := target(t)
	for name, to := range map[string]Target{
		"server": {Session: s, Key: Key("server"), Watches: true},
		"file":   {Session: s, Transaction: hold(file), Key: Key("file")},
	} {
		a, refused := begin(t, to, start)
		add(t, a, "SET k:"+name+" text", "MOO.MOO k", "INCR k:"+name, "SET other:"+name+" 1")
		flush(t, a)
		got := strings.Join(*refused, "\n")
		if len(*refused) != 2 || !strings.Contains(got, "MOO.MOO: ERR unknown command") || !strings.Contains(got, "INCR: ERR value is not an integer") {
			t.Error(got)
		}
		holds(t, s, "GET other:"+name, `"1"`)
	}
}

// TestDatabases keeps the position in database 0 when the source swaps databases, and when it deletes all keys.
func TestDatabases(t *testing.T) {
	s, file := target(t)
	to := Target{Session: s, Transaction: hold(file), Key: Key("source")}
	a, _ := begin(t, to, start)
	add(t, a, "SET a 1", "SELECT 3", "SET b 2", "SWAPDB 0 3", "SET c 3")
	flush(t, a)
	holds(t, s, "KEYS *", "1) \"b\"\n2) \"meowdis:following:source\"")
	s.Select(3)
	holds(t, s, "KEYS *", "1) \"a\"\n2) \"c\"")
	s.Select(0)
	add(t, a, "FLUSHALL")
	flush(t, a)
	holds(t, s, "KEYS *", `1) "meowdis:following:source"`)

	at := start
	at.Whole = false
	a, _ = begin(t, to, at)
	if err := a.Add(t.Context(), call("FLUSHDB"), 10); err == nil {
		t.Error("it deletes keys that the target had before")
	}
}

// TestExpiry leaves it to the source when keys of a file expire.
func TestExpiry(t *testing.T) {
	s, file := target(t)
	a, _ := begin(t, Target{Session: s, Transaction: hold(file), Key: Key("source")}, start)
	// The times are long past: the commands arrive late.
	add(t, a, "SET kept 1 PXAT 1000", "SET gone 1 PXAT 1000", "SETEX old 9 v", "SET px v PX 7000", "SET ex v EX 9", "SET n 5", "EXPIRE n 9")
	flush(t, a)
	holds(t, s, "GET kept", "(nil)")
	add(t, a, "PERSIST kept", "INCR kept", "DEL gone")
	flush(t, a)
	holds(t, s, "GET kept", `"2"`)
	early := engine.New(file, engine.WithClock(func() int64 { return 1 })).Session()
	for key, want := range map[string]string{"old": "1009000", "px": "1007000", "ex": "1009000", "n": "1009000", "kept": "-1", "gone": "-2"} {
		holds(t, early, "PEXPIRETIME "+key, "(integer) "+want)
	}
}

// TestKept leaves keys alone that the target keeps.
func TestKept(t *testing.T) {
	s, file := target(t)
	key := Key("source")
	if err := WriteKept(t.Context(), s, key, [][]byte{[]byte(KeptName(0, []byte("own"))), []byte(KeptName(2, []byte("x")))}); err != nil {
		t.Fatal(err)
	}
	kept, err := ReadKept(t.Context(), s, key)
	if err != nil || len(kept) != 2 {
		t.Fatal(kept, err)
	}
	a, refused := begin(t, Target{Session: s, Transaction: hold(file), Key: key}, start)
	a.o.Kept = kept
	add(t, a, "SET own changed", "SET x 1", "MSET own changed y 1", "SELECT 2", "SET x changed")
	flush(t, a)
	holds(t, s, "KEYS ???", "(empty array)")
	holds(t, s, "GET x", `"1"`)
	if len(*refused) != 1 || !strings.HasPrefix((*refused)[0], "MSET: ") {
		t.Error(*refused)
	}
	if err := Forget(t.Context(), s, key); err != nil {
		t.Error(err)
	}
	holds(t, s, "KEYS meowdis:*", "(empty array)")
}

func TestPositions(t *testing.T) {
	for _, p := range []Position{start, {Loading, false, "a", 1 << 60, 15}, {Done, true, "passes", 0, 0}} {
		if got, err := ParsePosition(p.String()); err != nil || got != p {
			t.Error(got, err)
		}
	}
	for _, bad := range []string{"", "following", "lost true a 1 2", "following maybe a 1 2", "following true a x 2"} {
		if p, err := ParsePosition(bad); err == nil {
			t.Errorf("%q: %v", bad, p)
		}
	}
}
