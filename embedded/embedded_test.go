package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/embedded"
)

func TestReplies(t *testing.T) {
	db := embedded.RunT(t)
	db.Run("SET", "text", "a\x00b")
	db.Run("SET", "number", 42)
	db.Run("SET", "float", 1.5)
	db.Run("RPUSH", "list", []string{"a", "b"}, []byte("c"), true)
	db.Run("HSET", "hash", "one", 1, "two", uint8(2))
	db.Run("ZADD", "z", float32(0.5), "half", -1e300, "low")
	db.Run("JSON.SET", "doc", "$", `{"a":[1,null]}`)

	for _, c := range []struct{ got, want any }{
		{all(db.Run("GET", "text").Text()), "a\x00b"},
		{all(db.Run("GET", "text").Bytes()), []byte("a\x00b")},
		{all(db.Run("GET", "number").Int()), int64(42)},
		{all(db.Run("STRLEN", "text").Int()), int64(3)},
		{all(db.Run("STRLEN", "text").Text()), "3"},
		{all(db.Run("GET", "float").Float()), 1.5},
		{all(db.Run("ZSCORE", "z", "low").Float()), -1e300},
		{all(db.Run("ZSCORE", "z", "half").Text()), "0.5"},
		{all(db.Run("EXISTS", "text").Bool()), true},
		{all(db.Run("SET", "text", "x", "NX").Bool()), false},
		{all(db.Run("SET", "text", "x", "XX").Bool()), true},
		{all(db.Run("LRANGE", "list", 0, -1).Strings()), []string{"a", "b", "c", "1"}},
		{all(db.Run("MGET", "float", "missing").Strings()), []string{"1.5", ""}},
		{all(db.Run("HGETALL", "hash").Map()), map[string]string{"one": "1", "two": "2"}},
		{all(db.Run("HGETALL", "missing").Map()), map[string]string{}},
		{db.Run("GET", "missing").IsNil(), true},
		{db.Run("HGETALL", "hash").Any(), map[string]any{"one": "1", "two": "2"}},
		{db.Run("ZRANGE", "z", 0, 0, "WITHSCORES").Any(), []any{[]any{"low", -1e300}}},
		{all(db.Run("ZRANGE", "z", 0, -1, "WITHSCORES").Map()), map[string]string{"low": "-1e+300", "half": "0.5"}},
		{db.Run("XRANGE", "missing", "-", "+").Any(), []any{}},
		{db.Run("GET", "missing").String(), "(nil)"},
		{db.Run("LLEN", "list").String(), "(integer) 4"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %#v, want %#v", c.got, c.want)
		}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(db.Run("GET", "missing").Text()), embedded.ErrNil.Error()},
		{second(db.Run("GET", "missing").Slice()), embedded.ErrNil.Error()},
		{second(db.Run("GET", "text").Int()), `the reply is not an integer: "x"`},
		{second(db.Run("LRANGE", "list", 0, 0).Text()), `the reply is not a string: 1) "a"`},
		{second(db.Run("GET", "text").Strings()), `the reply is not an array: "x"`},
		{second(db.Run("LRANGE", "list", 0, 0).Map()), `the reply is not a map: 1) "a"`},
		{second(db.Do(t.Context(), "INCR", "text").Int()), "ERR value is not an integer or out of range"},
		{db.Do(t.Context()).Err(), "empty command"},
		{db.Do(t.Context(), "SET", "k", time.Second).Err(), "argument 2 is a time.Duration: pass seconds, or Milliseconds() with PX"},
		{db.Do(t.Context(), "SET", "k", struct{}{}).Err(), "argument 2 has the unsupported type struct {}: pass a string, []byte or number"},
		{db.Do(t.Context(), "GET k").Err(), `"GET k" is one argument: pass each word separately, as in "GET", "k"`},
		{db.Do(t.Context(), "SELECT", 1).Err(), "SELECT acts on a connection: use DB.Conn, or a client with DB.Dialer"},
		{db.Do(t.Context(), "SUBSCRIBE", "c").Err(), "SUBSCRIBE acts on a connection: use DB.Conn, or a client with DB.Dialer"},
		{db.Conn().Do(t.Context(), "SUBSCRIBE", "c").Err(), "ERR SUBSCRIBE needs a connection of its own and is not available here"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("the error is %v, want %s", c.err, c.want)
		}
	}
	var wrong embedded.Error
	if err := db.Do(t.Context(), "LPUSH", "text", "x").Err(); !errors.As(err, &wrong) || wrong.Code() != "WRONGTYPE" {
		t.Errorf("LPUSH on a string: %v", err)
	}
	db.Check([]any{"OK", errors.New("ERR value is not an integer or out of range")}, "EVAL",
		`return {redis.call('SET', KEYS[1], 'v'), redis.pcall('INCR', KEYS[1])}`, 1, "scripted")
}

func all[T any](v T, err error) any {
	if err != nil {
		return err
	}
	return v
}

func second[T any](_ T, err error) error { return err }

func TestConn(t *testing.T) {
	db := embedded.RunT(t)
	c := db.Conn()
	for _, call := range [][]any{{"SELECT", 3}, {"SET", "k", 1}, {"WATCH", "k"}, {"MULTI"}, {"INCR", "k"}, {"GET", "k"}} {
		if err := c.Do(t.Context(), call...).Err(); err != nil {
			t.Fatal(call, err)
		}
	}
	if got := c.Do(t.Context(), "EXEC").Any(); !reflect.DeepEqual(got, []any{int64(2), "2"}) {
		t.Errorf("EXEC: %v", got)
	}
	db.Check(nil, "GET", "k") // Do uses database 0
	other := db.Conn()
	other.Do(t.Context(), "SELECT", 3)
	c.Do(t.Context(), "WATCH", "k")
	other.Do(t.Context(), "SET", "k", "other")
	c.Do(t.Context(), "MULTI")
	c.Do(t.Context(), "SET", "k", "lost")
	if r := c.Do(t.Context(), "EXEC"); !r.IsNil() {
		t.Errorf("EXEC after a change of a watched key: %v", r)
	}
	if want := "SELECT 3\nSET k other\n"; db.Dump() != want {
		t.Errorf("the keys are\n%s", db.Dump())
	}
}

// ACL rules apply to clients only, so the program can undo them.
func TestRules(t *testing.T) {
	db := embedded.RunT(t)
	client := dial(t, db)
	db.Run("ACL", "SETUSER", "default", "-get")
	client.check("GET k", "-NOPERM User default has no permissions to run the 'get' command")
	db.Check(nil, "GET", "k")
	db.Run("ACL", "SETUSER", "default", "+get")
	client.check("GET k", "$-1")
	db.Run("CONFIG", "SET", "requirepass", "secret")
	dial(t, db).check("GET k", "-NOAUTH Authentication required.")
	db.Check("default", "ACL", "WHOAMI")
	if got := db.Run("CONFIG", "GET", "requirepass").Any(); !reflect.DeepEqual(got, map[string]any{"requirepass": "secret"}) {
		t.Errorf("CONFIG GET: %v", got)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	if _, err := embedded.Open(path, embedded.ReadOnly()); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("a missing file, to be read: %v", err)
	}
	if _, err := embedded.Open(""); err == nil {
		t.Error("an empty path is no error")
	}
	db := open(t, path, embedded.Full())
	if err := db.Do(t.Context(), "SET", "k", "v").Err(); err != nil {
		t.Fatal(err)
	}
	other := open(t, path)
	subscriber := dial(t, other)
	subscriber.check("SUBSCRIBE news", "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1")
	if got := db.Do(t.Context(), "PUBLISH", "news", "hello"); got.Any() != int64(1) {
		t.Errorf("PUBLISH to another opener of the file: %v", got)
	}
	subscriber.expect("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello")

	seen := open(t, path, embedded.ReadOnly())
	if got := seen.Do(t.Context(), "GET", "k").Any(); got != "v" {
		t.Errorf("GET: %v", got)
	}
	var no embedded.Error
	if err := seen.Do(t.Context(), "SET", "k", "w").Err(); !errors.As(err, &no) || no.Code() != "READONLY" {
		t.Errorf("SET where only reading is allowed: %v", err)
	}
	dial(t, seen).check("GET k", "$1\r\nv")
	seen.FastForward(time.Hour) // deletes nothing

	// Committed data exists after opening again.
	if err := errors.Join(db.Close(), other.Close(), seen.Close()); err != nil {
		t.Fatal(err)
	}
	if got := open(t, path).Do(t.Context(), "GET", "k").Any(); got != "v" {
		t.Errorf("GET after opening again: %v", got)
	}
}

func open(t *testing.T, path string, with ...embedded.Option) *embedded.DB {
	t.Helper()
	db, err := embedded.Open(path, with...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Close ends blocked clients, and later calls fail.
func TestClose(t *testing.T) {
	db := embedded.RunT(t)
	client := dial(t, db)
	client.send("BLPOP queue 0")
	waiting := make(chan error, 1)
	go func() { waiting <- db.Do(context.Background(), "BLPOP", "queue", 0).Err() }()
	waits(t, db.DB, "2")
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, embedded.ErrClosed) {
		t.Errorf("BLPOP: %v", err)
	}
	if _, err := client.in.ReadByte(); err == nil {
		t.Error("the connection goes on")
	}
	if err := db.Do(t.Context(), "PING").Err(); !errors.Is(err, embedded.ErrClosed) {
		t.Errorf("a command on a closed database: %v", err)
	}
	if _, err := db.Dialer(t.Context(), "", ""); !errors.Is(err, embedded.ErrClosed) {
		t.Errorf("dialing a closed database: %v", err)
	}
	db.FastForward(time.Hour)
	// A database without clients.
	other := embedded.RunT(t)
	other.Close()
	if _, err := other.Dialer(t.Context(), "", ""); !errors.Is(err, embedded.ErrClosed) {
		t.Errorf("dialing a closed database: %v", err)
	}
}

func TestCancel(t *testing.T) {
	db := embedded.RunT(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Do(ctx, "BLPOP", "queue", 0).Err() }()
	waits(t, db.DB, "1")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("BLPOP: %v", err)
	}
	db.Run("RPUSH", "queue", "x")
	db.Check(1, "LLEN", "queue")
}

func TestDump(t *testing.T) {
	db := embedded.RunT(t)
	if got := db.Dump(); got != "" {
		t.Errorf("an empty database is %q", got)
	}
	db.SetTime(time.Unix(1_000_000_000, 0))
	db.Run("SET", "greeting", "hello there", "EX", 60)
	db.Run("RPUSH", "list", "a", "b\n")
	db.Run("XADD", "events", "*", "f", "v")
	want := `XADD events 1000000000000-0 f v
SET greeting "hello there" PXAT 1000000060000
RPUSH list a "b\n"
`
	if got := db.Dump(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSeed(t *testing.T) {
	draw := func(seed uint64) (drawn []any) {
		db := embedded.RunT(t, embedded.WithSeed(seed))
		for i := range 100 {
			db.Run("SADD", "numbers", i)
		}
		for range 20 {
			drawn = append(drawn, db.Run("SPOP", "numbers").Any())
		}
		return drawn
	}
	one := draw(1)
	if again := draw(1); !reflect.DeepEqual(one, again) {
		t.Errorf("drew %v, and then %v", one, again)
	}
	if other := draw(2); reflect.DeepEqual(one, other) {
		t.Errorf("two seeds drew %v", one)
	}
}

// TestCheckFails checks that Check and Run report failures.
func TestCheckFails(t *testing.T) {
	var told recorder
	db := embedded.RunT(&told)
	defer told.end()
	db.Run("SET", "k", "v")
	db.Check("w", "GET", "k")
	db.Check(nil, "GET", "k")
	db.Check(1, "GET", "k")
	db.Check([]string{}, "GET", "k")
	db.Check(errors.New("ERR"), "INCR", "k")
	db.Run("INCR", "k")
	want := []string{
		`[GET k]: got "v", want w`, `[GET k]: got "v", want <nil>`, `[GET k]: got "v", want 1`, `[GET k]: got "v", want []`,
		`[INCR k]: got (error) ERR value is not an integer or out of range, want ERR`,
		`[INCR k]: ERR value is not an integer or out of range`,
	}
	if !reflect.DeepEqual(told.says, want) {
		t.Errorf("the test was told\n%s", strings.Join(told.says, "\n"))
	}
}

// recorder is a TB that records failures.
type recorder struct {
	says []string
	ends []func()
}

func (r *recorder) Helper()                      {}
func (r *recorder) Cleanup(fn func())            { r.ends = append(r.ends, fn) }
func (r *recorder) Errorf(f string, args ...any) { r.says = append(r.says, fmt.Sprintf(f, args...)) }
func (r *recorder) Fatalf(f string, args ...any) { r.Errorf(f, args...) }
func (r *recorder) end() {
	for _, fn := range r.ends {
		fn()
	}
}

// TestParallel uses many independent databases at once.
func TestParallel(t *testing.T) {
	for i := range 50 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			db := embedded.RunT(t)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 5 {
						if err := db.Do(context.Background(), "INCR", "n").Err(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			db.Check("20", "GET", "n")
		})
	}
}

func BenchmarkRunT(b *testing.B) {
	for range b.N {
		var t recorder
		embedded.RunT(&t)
		t.end()
	}
}
