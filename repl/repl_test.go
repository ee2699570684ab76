package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// typedInto runs a loop on typed input to its end, and returns the terminal's output without
// colours, and stderr.
func typedInto(t *testing.T, o Options, keys string) (out, errs string) {
	t.Helper()
	var stdout, stderr capture.Buffer
	o.In, o.Out, o.Err, o.Terminal = strings.NewReader(keys), &stdout, &stderr, true
	if o.Format == nil {
		o.Format = typedFormat
	}
	o.Target.Name = "db"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := Run(ctx, o); err != nil {
		t.Fatal(err)
	}
	return ansi.Strip(stdout.String()), stderr.String()
}

func typedFormat(out []byte, _ [][]byte, v resp.Value) []byte {
	return resp.Printer{}.Append(out, v)
}

func jsonFormat(out []byte, _ [][]byte, v resp.Value) []byte {
	return resp.Printer{Format: resp.JSON, RESP3: true}.Append(out, v)
}

func mustShow(t *testing.T, where string, want ...string) {
	t.Helper()
	for _, w := range want {
		i := strings.Index(where, w)
		if i < 0 {
			t.Fatalf("%q is missing, or out of order, in:\n%s", w, where)
		}
		where = where[i+len(w):]
	}
}

func TestTyping(t *testing.T) {
	s := newSession(t, "HSET tom name Tom")
	out, errs := typedInto(t, Options{Target: Target{Session: s}},
		"HGET tom n\t\r"+ // completes
			"MULTI\rINCR n\rSET k 'a b'\r:queue\rEXEC\r"+
			"SET two \"line one\rline two\"\rGET two\r"+
			"\x1b[200~GET tw\x1b[201~o\r"+
			":db 3\r:SELECT 0\r2 INCR n\r:nope\rGET \"a\"b\r:exit\rGET never\r")
	mustShow(t, out,
		`"Tom"`, "db> MULTI", "OK", "db(TX)>", "QUEUED", "db(TX 1)>", "db(TX 2)>", "1) INCR n\n", "2) SET k \"a b\"\n", "1) (integer) 1",
		"db> SET two \"line one", "... line two\"", "OK", `"line one\nline two"`, `"line one\nline two"`, "db[3]>", "(integer) 2\n(integer) 3\n")
	mustShow(t, errs, `unknown command ":nope"`, "Invalid argument(s): unbalanced quotes")
	if strings.Contains(out, "never") {
		t.Error("a command ran after :exit")
	}
}

func TestRedirection(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, `SET json '{"name":"Tom"}'`, `SET bytes "a\x00\xff"`, "RPUSH list a b", "HSET hash f v")
	out, errs := typedInto(t, Options{Target: Target{Session: s}}, strings.ReplaceAll(
		"GET json | cat; echo\rLRANGE list 0 -1 | wc -l\rGET bytes > DIR/bytes\rLRANGE list 0 -1 > DIR/list.txt\rLRANGE list 0 -1 >> DIR/list.txt\r"+
			"HGETALL hash > DIR/hash.json\rGET json > DIR/value.json\rLPUSH json x > DIR/never\rLPUSH json x | cat\rGET json | exit 3\rGET json | no-such-program\r"+
			"SET k '|' \rGET k\r", "DIR", dir))
	mustShow(t, out, `{"name":"Tom"}`, "2\n", "OK", `"|"`)
	mustShow(t, errs, "WRONGTYPE", "WRONGTYPE", "no-such-program")
	for name, want := range map[string]string{
		"bytes": "a\x00\xff", "list.txt": "a\nb\na\nb\n", "hash.json": "{\"f\":\"v\"}\n", "value.json": "{\"name\":\"Tom\"}\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "never")); err == nil {
		t.Error("an error made a file")
	}
}

// TestRedirectionKeepsFiles checks that only >| replaces a file, and that a command does not
// run if its output cannot be written.
func TestRedirectionKeepsFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"kept": "kept", "replaced": "a longer text", "shop.sqlite": "SQLite format 3\x00..."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, "SET k v", "RPUSH list a b")
	out, errs := typedInto(t, Options{Target: Target{Session: s}}, strings.ReplaceAll(
		"LPOP list > DIR/kept\rLPOP list >| DIR/shop.sqlite\rLPOP list >> DIR/shop.sqlite\rLLEN list\rGET k >| DIR/replaced\r", "DIR", dir))
	mustShow(t, out, "(integer) 2")
	errs = strings.Join(strings.Fields(errs), " ") // however long the path is that wrapped it
	mustShow(t, errs, "kept: the file already exists: >| replaces", ">> adds to it", "never replaced", "never replaced")
	for name, want := range map[string]string{"kept": "kept", "replaced": "v", "shop.sqlite": "SQLite format 3\x00..."} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

func TestPipesToWhatReadsJSON(t *testing.T) {
	l := &loop{Options: &Options{Format: typedFormat}}
	list := resp.MakeArray(resp.MakeString("a"), resp.MakeInt(1))
	for line, want := range map[string]string{
		"jq .name": "[\"a\",1]\n", "/usr/bin/jq .": "[\"a\",1]\n", "less -R": "1) \"a\"\n2) (integer) 1\n", "sort": "a\n1\n", " wc": "a\n1\n",
	} {
		if got := string(l.formatFor(line)(nil, nil, list)); got != want {
			t.Errorf("%s reads %q", line, got)
		}
	}
}

func TestConfirmation(t *testing.T) {
	s := newSession(t, "SET k v")
	target := Target{Session: s, Confirm: func(args [][]byte) (string, func(string) bool) {
		if strings.EqualFold(string(args[0]), "FLUSHALL") {
			return "Type prod to run it: ", func(answer string) bool { return answer == "prod" }
		}
		return "", nil
	}}
	out, errs := typedInto(t, Options{Target: target}, "FLUSHALL\ry\rDBSIZE\rFLUSHALL\rprod\rDBSIZE\r")
	mustShow(t, out, "Type prod to run it: y", "db> DBSIZE", "(integer) 1", "Type prod to run it: prod", "OK", "(integer) 0")
	mustShow(t, errs, "nothing was run")
}

func TestConnectUseAndSettings(t *testing.T) {
	closed := 0
	target := func(name string) Target {
		return Target{Session: newSession(t, "SET name "+name), Name: name, Close: func() error { closed++; return nil }}
	}
	o := Options{
		Target: target("first"),
		Connect: func(_ context.Context, spec string) (Target, error) {
			if spec == "gone" {
				return Target{}, errors.New("no answer")
			}
			return target(spec), nil
		},
		Use:        func(_ context.Context, profile string) (Target, error) { return target("@" + profile), nil },
		FormatName: "typed",
		Formats:    []string{"typed", "json"},
		FormatNamed: func(name string) (Format, error) {
			if name == "json" {
				return jsonFormat, nil
			}
			return nil, fmt.Errorf("there is no format %q", name)
		},
	}
	out, errs := typedInto(t, o, "GET name\r:connect gone\rGET name\r:connect second\rGET name\rMULTI\rPING\r:use prod\rDISCARD\r:use prod\rGET name\r"+
		":format json\rGET none\r:format xml\r:set timing on\rPING\r:set nope\r:timing maybe\r:set\r:explain GET k\r")
	mustShow(t, out, `"first"`, `"first"`, "second> ", `"second"`, "@prod> ", `"@prod"`, "null", "format        json", "timing        on")
	mustShow(t, errs, "no answer", "a transaction is open with 1 commands", `there is no format "xml"`, "µs)", `unknown setting "nope"`, `invalid value "maybe": use on or off`, "no SQL to show")
	if closed != 3 {
		t.Errorf("%d targets were closed", closed)
	}
}

// Long replies go to the pager while it is turned on.
func TestPaging(t *testing.T) {
	var paged []string
	o := Options{Target: Target{Session: newSession(t, "SET name Tom")}, Page: func(reply []byte) bool {
		paged = append(paged, string(reply))
		return true
	}}
	out, _ := typedInto(t, o, "GET name\r:set pager on\rGET name\r:set pager off\rGET name\r")
	if got := strings.Join(paged, ""); got != "\"Tom\"\n" {
		t.Errorf("the pager was given %q", got)
	}
	if n := strings.Count(out, `"Tom"`); n != 2 {
		t.Errorf("the screen shows %d replies:\n%s", n, out)
	}
}

func TestSource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cats.redis")
	script := "# cats\nSET a '> | x'\nSET b \"two\nlines\"\n\nSET c \\\n  3\nLPUSH a x\nSET d 4\n"
	later := filepath.Join(t.TempDir(), "later.redis")
	if err := os.WriteFile(later, []byte("\ufeffSET e 5\nSET f \"1\n2\" BAD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := typedInto(t, Options{Target: Target{Session: newSession(t)}}, ":source "+file+"\rMGET a b c d\r:source "+later+"\rGET e\r")
	mustShow(t, out, "OK\nOK\nOK\n(error) WRONGTYPE", `1) "> | x"`, `2) "two\nlines"`, `3) "3"`, "4) (nil)", "syntax error", `"5"`)
	mustShow(t, errs, "cats.redis stopped at line 8", "later.redis stopped at line 2")
}

func TestEditElsewhere(t *testing.T) {
	out, errs := typedInto(t, Options{Target: Target{Session: newSession(t)}, Editor: "sed -i s/cat/dog/"},
		"ECHO cat\x18\x05\r"+":edit\r\r"+"\x15:edit ECHO cats\r\r")
	mustShow(t, out, "db> ECHO cat", "db> ECHO dog", `"dog"`, "db> ECHO dog", `"dog"`, "db> ECHO dogs", `"dogs"`)
	if errs != "" {
		t.Error(errs)
	}
	_, errs = typedInto(t, Options{Target: Target{Session: newSession(t)}}, ":edit x\r")
	mustShow(t, errs, "set EDITOR")
}

// failing is a session whose connection is lost from time to time.
type failing struct {
	keyspace.Session
	errs  []error
	joins int
	lost  bool
}

func (f *failing) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	if f.lost {
		f.joins++
	}
	err := f.errs[0]
	f.errs, f.lost = f.errs[1:], err != nil
	if err != nil {
		return resp.Nil, err
	}
	return f.Session.Do(ctx, args...)
}

func TestLostConnection(t *testing.T) {
	f := &failing{Session: newSession(t), errs: []error{nil, io.ErrUnexpectedEOF, nil, nil}, joins: 1}
	out, errs := typedInto(t, Options{Target: Target{Session: f, Connections: func() int { return f.joins }}}, "PING\rPING\rPING\rPING\r")
	if strings.Count(out, "PONG") != 3 {
		t.Error(out)
	}
	mustShow(t, errs, "Error: unexpected EOF", "The next command reconnects.", "reconnected: the connection was lost")
	if strings.Count(errs, "reconnected") != 1 {
		t.Error(errs)
	}
	f = &failing{Session: newSession(t), errs: []error{nil, io.ErrUnexpectedEOF, nil}, joins: 1}
	out, _ = typedInto(t, Options{Target: Target{Session: f, Connections: func() int { return f.joins }}}, "MULTI\rPING\rDISCARD\r")
	mustShow(t, out, "db(TX)> PING", "db(TX, will abort)> DISCARD")
}

func TestListening(t *testing.T) {
	listen := func(_ context.Context, args [][]byte, each func(resp.Value) error) error {
		for _, word := range []string{"one", "two"} {
			if err := each(resp.MakeString(word)); err != nil {
				return err
			}
		}
		return io.ErrUnexpectedEOF
	}
	out, errs := typedInto(t, Options{Target: Target{Session: newSession(t), Listen: listen}}, "MONITOR\rSUBSCRIBE news | head -1\rPING\r")
	mustShow(t, out, "\"one\"\n\"two\"\n", "one\n", "PONG")
	mustShow(t, errs, "Ctrl-C ends", "unexpected EOF")
}

func TestPeek(t *testing.T) {
	s := newSession(t, `SET json '{"name":"Tom"}'`, "SET at 1700000000 EX 1000", "HSET h name Tom bin '\xff'", "RPUSH l a b", "ZADD z 1 a", "SADD s x", "XADD st 1-1 f v", `JSON.SET doc $ '[1]'`,
		"ARSET slots 7 seven eight", "VADD vec VALUES 2 1 0 e", "RPUSH long 1 2 3 4 5 6 7 8 9 10 11")
	out, errs := typedInto(t, Options{Target: Target{Session: s}}, ":peek slots\r:peek vec\r:peek long\r:peek json\r:peek at\r:peek h\r:peek l\r:peek z\r:peek s\r:peek st\r:peek doc\r:peek 'no key'\r:peek\r")
	mustShow(t, out, "key   slots\ntype  array\n", "size  2 values\n", "7  seven\n8  eight\n", "key   vec\ntype  vectorset\n", "size  1 element\n", "\ne\n", "10\n… and 1 more\n",
		"key   json\ntype  string\nform  embstr, by OBJECT ENCODING\nttl   none\nsize  14 bytes\n", "JSON 14 B\n{\n  \"name\": \"Tom\"\n}\n",
		"key   at\ntype  string\n", "ttl   16m", "1700000000\nas a time: 2023-11-14",
		"type  hash\n", "name  Tom\n", `bin   (binary 1 B) "\xff"`, "type  list\n", "a\nb\n", "type  zset\n", "a  1\n",
		"type  set\n", "size  1 member\n", "\nx\n", "type  stream\n", "1-1  f v\n", "type  json\n", "JSON 3 B\n[\n  1\n]\n")
	mustShow(t, errs, `no such key: "no key"`, "usage: :peek KEY")
}

// before84 is a session without VRANGE, as Redis 8.0 is.
type before84 struct{ keyspace.Session }

func (s before84) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	if strings.EqualFold(string(args[0]), "VRANGE") {
		return resp.MakeError("ERR unknown command 'VRANGE', with args beginning with: "), nil
	}
	return s.Session.Do(ctx, args...)
}

// TestPeekWithoutRange peeks at a vector set on a server without VRANGE. Typed commands still
// go to the server.
func TestPeekWithoutRange(t *testing.T) {
	s := newSession(t)
	for i := range 12 {
		if v, err := s.Do(context.Background(), []byte("VADD"), []byte("vec"), []byte("VALUES"), []byte("1"), []byte("1"), fmt.Appendf(nil, "e%02d", i)); err != nil || v.IsError() {
			t.Fatal(err, v)
		}
	}
	out, _ := typedInto(t, Options{Target: Target{Session: before84{s}}}, ":peek vec\rVRANGE vec - +\r")
	mustShow(t, out, "key   vec\ntype  vectorset\n", "size  12 elements\n", "\ne00\n", "e09\n… and 2 more\n", "unknown command 'VRANGE'")
}

// TestAbortingPrompt checks that the prompt announces a transaction that will abort.
func TestAbortingPrompt(t *testing.T) {
	changed := false
	o := Options{Target: Target{Session: newSession(t), Aborts: func(context.Context) (bool, error) { return changed, nil }}}
	out, _ := typedInto(t, o, "MULTI\rMULTI\rINCR n\rNOPE\rINCR n\rEXEC\rMULTI\rDISCARD\rNOPE\rMULTI\rGET\rRESET\r")
	mustShow(t, out, "db(TX)> MULTI", "can not be nested", "db(TX)> INCR n", "db(TX 1)> NOPE", "db(TX 1, will abort)> INCR n",
		"db(TX 2, will abort)> EXEC", "EXECABORT", "db> MULTI", "db(TX)> DISCARD", "db> NOPE", "db> MULTI", "db(TX)> GET", "db(TX, will abort)> RESET", "db> ")
	changed = true
	out, _ = typedInto(t, o, "MULTI\rDISCARD\r")
	mustShow(t, out, "db> MULTI", "db(TX, will abort)> DISCARD", "db> ")
}

// TestGluedPipe checks the question about a | without blanks.
func TestGluedPipe(t *testing.T) {
	s := newSession(t, "SET s value", "SET s|cat other", "SET a|b third")
	out, errs := typedInto(t, Options{Target: Target{Session: s}},
		"GET s|cat\rpipe\rGET s|cat\rarg\rGET s|cat\r\rGET s |cat -n\rp\rGET a|b\rGET \"s|cat\"\rSET k v|cat\rGET k\rGET s|tr a-z A-Z\rp\r")
	mustShow(t, out, "(p)ipe or an (a)rgument? pipe", "value\n", "(a)rgument? arg", `"other"`, "(a)rgument? ", "1\tvalue", `"third"`, `"other"`, "OK", `"v|cat"`, "VALUE")
	mustShow(t, errs, `GET s | cat`, `GET "s|cat"`, "nothing was run", "GET s | cat -n", "GET s | tr a-z A-Z")
}

// TestHelpFits checks that :help fits a usual window, with the prompt below it.
func TestHelpFits(t *testing.T) {
	for _, columns := range []int{80, 200} {
		text := Help(commands.Ours, nil, columns)
		if lines := strings.Count(text, "\n"); lines > 23 {
			t.Errorf("%d lines at %d columns:\n%s", lines, columns, text)
		}
		for line := range strings.Lines(text) {
			if ansi.StringWidth(strings.TrimRight(line, "\n")) > columns {
				t.Errorf("too wide: %q", line)
			}
		}
	}
	out, _ := typedInto(t, Options{Target: Target{Session: newSession(t)}}, ":keys\r")
	mustShow(t, out, "TAB", "Completes", "Ctrl-R", "Ctrl-D")
}
