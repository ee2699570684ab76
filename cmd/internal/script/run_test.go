package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// newSession is a session on an empty database.
func newSession(t *testing.T) *engine.Session {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return engine.New(file).Session()
}

// ran is a run and what it wrote.
type ran struct {
	Run
	out, notes bytes.Buffer
}

func newRun(t *testing.T, input io.Reader) *ran {
	r := &ran{Run: Run{In: cmdfile.NewReader(input), Session: newSession(t), Exact: true}}
	r.Out, r.Notes = &r.out, &r.notes
	r.Print = func(out io.Writer, _ [][]byte, v resp.Value) error {
		_, err := out.Write(append(resp.AppendTyped(nil, v, true), '\n'))
		return err
	}
	r.Suggest = func([][]byte, resp.Value) {}
	return r
}

// modes are the ways to run a script.
var modes = map[string]func(*ran) error{
	"script":      func(r *ran) error { return r.Script(context.Background()) },
	"keep going":  func(r *ran) error { r.KeepGoing = true; return r.Script(context.Background()) },
	"load":        func(r *ran) error { return r.Load(context.Background()) },
	"transaction": func(r *ran) error { return r.Transaction(context.Background()) },
}

const wrongType = "(error) WRONGTYPE Operation against a key holding the wrong kind of value\n"

// inProtocol are lines as clients send them to a server.
func inProtocol(t *testing.T, lines string) string {
	t.Helper()
	var b []byte
	for line := range strings.Lines(lines) {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		b = resp.AppendCommand(b, args...)
	}
	return string(b)
}

// TestModes runs the same input in each way, as lines and, where all of it are commands,
// in the protocol: what is printed, what is said, and what is left.
func TestModes(t *testing.T) {
	const failing = "SET a 1\nLPUSH a x\nINCR a\n"
	for _, test := range []struct {
		mode, input, out, notes, a string
		failed                     bool
	}{
		{mode: "script", input: "SET a 1\nINCR a\n", out: "OK\n(integer) 2\n", a: "2"},
		{mode: "transaction", input: "SET a 1\nINCR a\n", out: "OK\n(integer) 2\n", a: "2"},
		{mode: "load", input: "SET a 1\nINCR a\n", out: "errors: 0, replies: 2\n", a: "2"},
		{mode: "script", input: failing, out: "OK\n" + wrongType, notes: "WHERE 2 failed: LPUSH a x\n", a: "1", failed: true},
		{mode: "keep going", input: failing, out: "OK\n" + wrongType + "(integer) 2\n", notes: "WHERE 2 failed: LPUSH a x\n", a: "2", failed: true},
		{mode: "transaction", input: failing, out: "OK\n" + wrongType + "(integer) 2\n", notes: "WHERE 2 failed: LPUSH a x\n", a: "2", failed: true},
		{mode: "load", input: failing, out: "errors: 1, replies: 3\n", a: "2", failed: true,
			notes: "WHERE 2 failed: LPUSH a x: WRONGTYPE Operation against a key holding the wrong kind of value\n"},
		{mode: "transaction", input: "SET a 1\nNOPE\n", notes: "WHERE 2 failed: NOPE: ERR unknown command 'NOPE', with args beginning with: \nnothing was run\n", failed: true},
		{mode: "transaction", input: "SET a 1\nMULTI\n", notes: "WHERE 2: MULTI cannot be part of --transaction\nnothing was run\n", failed: true},
		// What was meant for another place does not run here.
		{mode: "keep going", input: "SELECT 99\nSET a 1\n", out: "(error) ERR DB index is out of range\n", notes: "WHERE 1 failed: SELECT 99\n", failed: true},
		{mode: "load", input: "SELECT 99\nSET a 1\n", out: "errors: 1, replies: 1\n",
			notes: "WHERE 1 failed: SELECT 99: ERR DB index is out of range\nthe remaining commands were not loaded\n", failed: true},
		// A MULTI without an EXEC has run nothing.
		{mode: "script", input: "MULTI\nSET a 1\n", out: "OK\nQUEUED\n", notes: "the script ended inside MULTI: the queued commands did not run\n", failed: true},
		{mode: "load", input: "MULTI\nSET a 1\n", out: "errors: 1, replies: 2\n", notes: "the script ended inside MULTI: the queued commands did not run\n", failed: true},
		{mode: "load", input: "", out: "errors: 0, replies: 0\n"},
		{mode: "script", input: ""},
	} {
		for where, input := range map[string]string{"line": test.input, "command": inProtocol(t, test.input)} {
			r := newRun(t, strings.NewReader(input))
			err := modes[test.mode](r)
			notes := strings.ReplaceAll(test.notes, "WHERE", where)
			if notes != "" {
				notes = "meowdis: " + strings.ReplaceAll(strings.TrimSuffix(notes, "\n"), "\n", "\nmeowdis: ") + "\n"
			}
			if r.out.String() != test.out || r.notes.String() != notes || errors.Is(err, exit.ErrReported) != test.failed || err != nil && !test.failed {
				t.Errorf("%s of %q: %v\n%s%s\nwant\n%s%s", test.mode, input, err, &r.out, &r.notes, test.out, notes)
			}
			if r.Session.InMulti() {
				r.drop(context.Background())
			}
			if a, err := r.Session.Do(context.Background(), []byte("GET"), []byte("a")); err != nil || string(a.Str) != test.a {
				t.Errorf("%s of %q: a is %q, %v\nwant %q", test.mode, input, a.Str, err, test.a)
			}
		}
	}
}

// newSortedRun returns a run on an empty file that sorts loads.
func newSortedRun(t *testing.T, input io.Reader, bytes int) *ran {
	t.Helper()
	file, err := local.Open(filepath.Join(t.TempDir(), "cats.sqlite"), local.Options{SweepEvery: -1, SingleConn: true, BulkLoad: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r := newRun(t, input)
	hold := file.Hold()
	r.Session = engine.New(file).Session()
	r.Sorted = &Sorted{struct {
		*engine.Session
		*local.Hold
	}{engine.New(hold).Session(), hold}, bytes}
	return r
}

// TestSortedLoad loads the same commands sorted and in their order. Refusals, counts and what is left are the same.
func TestSortedLoad(t *testing.T) {
	var input strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 12_000 {
		k := random.IntN(2_000)
		switch i % 6 {
		case 0:
			fmt.Fprintf(&input, "SET k%d %d EX 9999\n", k, i)
		case 1:
			fmt.Fprintf(&input, "INCRBY k%d %d\n", k, i)
		case 2:
			fmt.Fprintf(&input, "rpush l%d a %d \"x y\"\n", k, i)
		case 3:
			fmt.Fprintf(&input, "APPEND l%d refused\n", k) // mostly
		case 4:
			fmt.Fprintf(&input, "HSET h%d f%d %d\n", k, i%3, i)
		default:
			fmt.Fprintf(&input, "SET k%d %d NX\n", k, i)
		}
		switch i {
		case 3_000:
			input.WriteString("SELECT 1\n")
		case 5_000:
			input.WriteString("MULTI\nSET k1 multi\nRENAME k1 k2\nEXEC\n")
		case 8_000:
			input.WriteString("SELECT 0\n")
		case 9_000:
			input.WriteString("DEL k1 k2 k3\nGET k4\nNOPE\n")
		}
	}
	plain := newRun(t, strings.NewReader(input.String()))
	if err := plain.Load(context.Background()); !errors.Is(err, exit.ErrReported) {
		t.Fatal(err)
	}
	left := func(r *ran) (all []string) {
		for db := range 2 {
			do := func(words ...string) resp.Value {
				args := make([][]byte, len(words))
				for i, w := range words {
					args[i] = []byte(w)
				}
				v, err := r.Session.Do(context.Background(), args...)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			do("SELECT", fmt.Sprint(db))
			for _, k := range do("SCAN", "0", "COUNT", "100000").Elems[1].Elems {
				name := string(k.Str)
				read := map[byte][]string{'k': {"GET", name}, 'l': {"LRANGE", name, "0", "-1"}, 'h': {"HGETALL", name}}[name[0]]
				if string(do("TYPE", name).Str) == "string" {
					read = []string{"GET", name}
				}
				all = append(all, fmt.Sprintf("%d %s %s", db, name, resp.AppendTyped(nil, do(read...), false)))
			}
		}
		slices.Sort(all)
		return all
	}
	want := left(plain)
	for _, bytes := range []int{1, 100_000, 0} {
		r := newSortedRun(t, strings.NewReader(input.String()), bytes)
		seen := int64(0)
		r.Seen = func(n int64) { seen += n }
		if err := r.Load(context.Background()); !errors.Is(err, exit.ErrReported) {
			t.Fatal(err)
		}
		if r.out.String() != plain.out.String() || r.notes.String() != plain.notes.String() || seen != int64(plain.replies) {
			t.Errorf("%d bytes: %d seen\n%s%s\nwant\n%s%s", bytes, seen, &r.out, &r.notes, &plain.out, &plain.notes)
		}
		if got := left(r); !slices.Equal(got, want) {
			t.Errorf("%d bytes: the keys differ: %d, want %d", bytes, len(got), len(want))
		}
	}
}

// failing is a transaction that fails at a call.
type failing struct {
	Transaction
	calls int
}

func (f *failing) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if f.calls--; f.calls < 0 {
		return nil, errors.New("disk full")
	}
	return f.Transaction.Pipeline(ctx, calls)
}

// TestFailedSortedLoad: no command of a run that failed takes effect, and the error names its first line.
func TestFailedSortedLoad(t *testing.T) {
	var input strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&input, "SET k%d v\n", (i*7919)%20_000)
	}
	for n := range 3 {
		r := newSortedRun(t, strings.NewReader(input.String()), 0)
		r.Sorted.Transaction = &failing{r.Sorted.Transaction, n}
		err := r.Load(context.Background())
		if err == nil || !strings.Contains(err.Error(), "line 1: disk full: the lines before it have run, it has not; to continue: tail -n +1 ") {
			t.Errorf("%d: %v", n, err)
		}
		if v, err := r.Session.Do(context.Background(), []byte("DBSIZE")); err != nil || v.Int != 0 {
			t.Errorf("%d: %d keys, %v", n, v.Int, err)
		}
	}
}

// TestTransactionProgress: a transaction counts what is queued, and says when it waits for EXEC.
func TestTransactionProgress(t *testing.T) {
	r := newRun(t, strings.NewReader("SET a 1\nINCR a\n"))
	seen, waited := int64(0), ""
	r.Seen = func(n int64) { seen += n }
	r.Wait = func() func() {
		waited += "waits"
		return func() { waited += ", over" }
	}
	if err := r.Transaction(context.Background()); err != nil || seen != 2 || waited != "waits, over" {
		t.Error(err, seen, waited)
	}
}

// TestNoCommand holds all ways to one error for a line that is no command, with its number.
func TestNoCommand(t *testing.T) {
	for _, test := range []struct{ input, says string }{
		{"\n# a comment\nSET a \"b\nSET after 1\n", `line 3: unbalanced quotes: SET a "b`},
		{"SET a 1\nSET b x\x00y\nSET after 1", `line 2: a NUL byte, which is written "\x00" in double quotes: SET b x` + "\x00y"},
		{"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*2\r\n$4\r\nIN", "command 2: unexpected EOF"},
		{"*1\r\n$4\r\nPING\r\n*2\r\n+OK\r\n*1\r\n$4\r\nPING\r\n", "command 2: Protocol error: expected '$', got '+'"},
	} {
		for mode, run := range modes {
			r := newRun(t, strings.NewReader(test.input))
			if err := run(r); !errors.Is(err, exit.ErrReported) || !strings.Contains(r.notes.String(), "meowdis: "+test.says+"\n") {
				t.Errorf("%s of %q: %v, %s\nwant %s", mode, test.input, err, &r.notes, test.says)
			}
			after, err := r.Session.Do(context.Background(), []byte("EXISTS"), []byte("after"))
			if err != nil || after.Int != 0 != (mode == "keep going" && strings.HasPrefix(test.says, "line")) {
				t.Errorf("%s of %q: what follows: %d, %v", mode, test.input, after.Int, err)
			}
		}
	}
}

// TestUnreadable ends with what kept the script from being read.
func TestUnreadable(t *testing.T) {
	broken := errors.New("the disk is gone")
	for mode, run := range modes {
		err := run(newRun(t, io.MultiReader(strings.NewReader("SET a 1\n"), iotest.ErrReader(broken))))
		if !errors.Is(err, broken) || errors.Is(err, exit.ErrReported) || !strings.Contains(err.Error(), "reading the script") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// breaking is a session that hangs up after some calls.
type breaking struct {
	keyspace.Session
	left int
}

func (b *breaking) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	n := min(b.left, len(calls))
	replies, err := b.Session.Pipeline(ctx, calls[:n])
	if b.left -= n; err == nil && n < len(calls) {
		err = errors.New("it hung up")
	}
	return replies, err
}

func (b *breaking) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return b.Pipeline(ctx, calls)
}

// TestBrokenOff says where the script broke off, what took effect, and how to go on.
func TestBrokenOff(t *testing.T) {
	for _, test := range []struct {
		mode, input string
		exact       bool
		left        int
		says        string
	}{
		{"script", "# a\nSET a 1\nINCR a\n", false, 1, "line 3: it hung up: the lines before it have run; it is unknown whether it took effect; to continue: tail -n +3 SCRIPT | meowdis exec …"},
		{"script", "SET a 1\nINCR a\nINCR a\nINCR a\n", false, 1, "line 2: it hung up: the lines before it have run; it is unknown whether lines 2 to 4 took effect; to continue: tail -n +2 SCRIPT | meowdis exec …"},
		{"script", "SET a 1\nINCR a\n", true, 1, "line 2: it hung up: the lines before it have run, it has not; to continue: tail -n +2 SCRIPT | meowdis exec …"},
		{"keep going", "SELECT 3\nSET a 1\nMULTI\nINCR a\nINCR a\n", false, 4, "line 5: it hung up: the lines before 3 have run, the transaction that it begins has not; to continue: tail -n +3 SCRIPT | meowdis exec -n 3 …"},
		{"load", "SET a 1\nINCR a\n", true, 0, "line 1: it hung up: the lines before it have run, it has not; to continue: tail -n +1 SCRIPT | meowdis exec --pipe …"},
		{"load", "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n", false, 1, "command 2: it hung up: the commands before it have run; it is unknown whether commands 2 to 3 took effect"},
	} {
		r := newRun(t, strings.NewReader(test.input))
		r.Exact, r.Session = test.exact, &breaking{r.Session, test.left}
		if err := modes[test.mode](r); err == nil || err.Error() != test.says {
			t.Errorf("%s of %q: %v\nwant %s", test.mode, test.input, err, test.says)
		}
	}
}

// A script whose writer is slow has each reply before it writes on; a load is in no hurry.
func TestSlowWriter(t *testing.T) {
	in, write := io.Pipe()
	r := newRun(t, in)
	answers, out := io.Pipe()
	r.Out = out
	ended := make(chan error)
	go func() { ended <- r.Script(context.Background()) }()
	for _, line := range []string{"SET a 1\n", "\n# nothing\nINCR a\n"} {
		if _, err := io.WriteString(write, line); err != nil {
			t.Fatal(err)
		}
		if _, err := answers.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	write.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStopped learns where a script stands that waits for its next line.
func TestStopped(t *testing.T) {
	in, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	r := newRun(t, in)
	r.Print = func(io.Writer, [][]byte, resp.Value) error { cancel(exit.StoppedBy(15)); return nil }
	ended := make(chan error)
	go func() { ended <- r.Script(ctx) }()
	if _, err := io.WriteString(write, "SET a 1\n"); err != nil {
		t.Fatal(err)
	}
	const says = "line 2: terminated: the lines before it have run, it has not; to continue: tail -n +2 SCRIPT | meowdis exec …"
	if err := <-ended; exit.Code(err) != 143 || err.Error() != says {
		t.Errorf("%v\nwant %s", err, says)
	}
}

// TestManyErrors shows the first ones of a load.
func TestManyErrors(t *testing.T) {
	r := newRun(t, strings.NewReader(strings.Repeat("NOPE\n", 30)))
	if err := r.Load(context.Background()); !errors.Is(err, exit.ErrReported) || r.out.String() != "errors: 30, replies: 30\n" {
		t.Errorf("%v, %s", err, &r.out)
	}
	if said := r.notes.String(); strings.Count(said, "failed: NOPE") != shownErrors || !strings.HasSuffix(said, "further errors are counted, but not shown\n") {
		t.Error(said)
	}
}
