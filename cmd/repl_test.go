package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/terminal"
)

// screen drives a terminal for a test.
type screen struct {
	*terminal.Session
	t *testing.T
}

func openScreen(t *testing.T, columns, rows int, env ...string) *screen {
	t.Helper()
	dir := t.TempDir()
	s, err := terminal.Start(columns, rows, append([]string{"PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + dir + "/state", "XDG_CONFIG_HOME=" + dir + "/config", "INPUTRC=/dev/null", "PAGER=cat"}, env...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &screen{s, t}
}

func (s *screen) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// press presses keys and waits until the last line that is not blank is want.
func (s *screen) press(want string, keys ...string) {
	s.t.Helper()
	s.check(s.Press(keys...))
	s.lastLine(want)
}

// types types text and waits until the last line that is not blank is want.
func (s *screen) types(text, want string) {
	s.t.Helper()
	s.check(s.Type(text))
	s.lastLine(want)
}

// runs types a line, presses Enter, and waits for what follows the line.
func (s *screen) runs(line string, want ...string) {
	s.t.Helper()
	s.check(s.Run(line))
	s.ends(append([]string{"> " + line}, want...)...)
}

func (s *screen) shows(text string) {
	s.t.Helper()
	_, err := s.WaitFor(text)
	s.check(err)
}

func (s *screen) lastLine(want string) {
	s.t.Helper()
	s.ends(want)
}

// slowness is what the shell says after a command that took long, as any may on a
// machine that does other things, too.
var slowness = regexp.MustCompile(`(?m)^\(\d+(\.\d+)? m?s\) *\n`)

// ends waits until the last lines that are not blank end in want, each.
func (s *screen) ends(want ...string) {
	s.t.Helper()
	_, err := s.Wait(fmt.Sprintf("%q", want), func(text string) bool {
		lines := strings.Split(strings.TrimRight(slowness.ReplaceAllString(text, ""), " \n"), "\n")
		if len(lines) < len(want) {
			return false
		}
		for i, line := range lines[len(lines)-len(want):] {
			if !strings.HasSuffix(strings.TrimRight(line, " "), want[i]) {
				return false
			}
		}
		return true
	})
	s.check(err)
}

func TestREPLOnATerminal(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openScreen(t, size[0], size[1], "XDG_STATE_HOME="+dir+"/state")
			s.check(s.Run("cd " + dir + " && clear && exec meowdis repl -t t.sqlite"))
			s.shows(":help shows help, TAB completes, Ctrl-D quits.")
			s.lastLine("t.sqlite>")

			// The arguments that are still missing stand after the cursor, and go
			// when the line is run.
			s.types("SETEX user:1", "t.sqlite> SETEX user:1 seconds value")
			s.types(" 1000 ", "t.sqlite> SETEX user:1 1000 value")
			s.check(s.Type(`"h\xc3\xa9llo"`))
			s.press("t.sqlite>", "Enter")
			s.ends(`> SETEX user:1 1000 "h\xc3\xa9llo"`, "OK", "t.sqlite>")

			// TAB completes commands in the case of what is typed, and keys.
			s.check(s.Type("gets"))
			s.press("t.sqlite> getset key value", "Tab")
			s.press("t.sqlite>", "C-c")
			s.ends("> getset ^C", "t.sqlite>")
			s.check(s.Type("GET us"))
			s.press("t.sqlite> GET user:1", "Tab")
			s.press("t.sqlite>", "Enter")
			s.ends(`"héllo"`, "t.sqlite>")
			// A menu lists what there is, with what it does; Enter takes, Escape leaves.
			s.check(s.Type("SETN"))
			s.press("t.sqlite> SETNX key value", "Tab")
			s.press("t.sqlite>", "C-c")
			s.check(s.Type("GETR"))
			s.check(s.Press("BSpace", "Tab"))
			s.shows("GETRANGE  Returns the bytes of a string")
			s.check(s.Press("Tab", "Tab"))
			s.shows("t.sqlite> GETBIT key offset")
			s.check(s.Press("Escape", "Escape"))
			// The history suggests how a text goes on; what may follow is below then.
			s.ends("t.sqlite> GET user:1", "          key")
			s.press("t.sqlite> GET user:1 x  too many arguments", "Right", "Space", "x")
			s.press("t.sqlite>", "C-c")
			s.types("SETEX", "          key seconds value")
			s.press("          seconds value", "M-Right") // a word of it
			s.ends(`t.sqlite> SETEX user:1 1000 "h\xc3\xa9llo"`, "          seconds value")
			s.press("t.sqlite>", "C-c")
			// Up walks through what begins with the text, and Down back to that.
			s.check(s.Type("g"))
			s.press("t.sqlite> GET user:1", "Up")
			s.check(s.Press("Down"))
			s.ends("t.sqlite> gET user:1")
			s.press("t.sqlite>", "C-c")

			// Mistakes are shown while they are typed.
			s.types("SETEX k soon", "t.sqlite> SETEX k soon  seconds: not an integer")
			s.press("t.sqlite>", "C-c")
			s.types("NOPE ", "t.sqlite> NOPE  unknown command")
			s.press("t.sqlite>", "C-c")

			// The prompt shows the transaction and the database.
			s.runs("MULTI", "OK", "t.sqlite(TX)>")
			s.runs("INCR n", "QUEUED", "t.sqlite(TX 1)>")
			s.runs(":queue", "1) INCR n", "t.sqlite(TX 1)>")
			s.runs("EXEC", "1) (integer) 1", "t.sqlite>")
			s.runs("WATCH n", "OK", "t.sqlite>")
			s.runs("SET n 1", "OK", "t.sqlite>")
			s.runs("MULTI", "OK", "t.sqlite(TX, will abort)>")
			s.runs("EXEC", "(nil)", "t.sqlite>")
			s.runs("2 INCR n", "(integer) 2", "(integer) 3", "t.sqlite>")
			s.runs(":db 3", "t.sqlite[3]>")
			s.runs("SELECT 0", "OK", "t.sqlite>")
			s.runs("NOPE", "(error) ERR unknown command 'NOPE', with args beginning with:", "t.sqlite>")
			s.runs("HELP INCR", "", "  INCR key", "  Adds one to the integer at a key, which starts at 0", "", "  complexity  O(1)", "  since       1.0.0", "  group       string",
				"  related     INCRBY, INCRBYFLOAT, INCREX, DECR, GETSET, PSETEX", "", "  > INCR visits", "  (integer) 1", "  > INCR visits", "  (integer) 2", "", "t.sqlite>")

			// An open quote goes on in the next line; pipes and files take replies.
			s.runs(`SET two "one`, "...")
			s.check(s.Run(`two"`))
			s.ends(`... two"`, "OK", "t.sqlite>")
			s.runs("GET two | tr a-z A-Z", "ONE", "TWO", "t.sqlite>")
			s.check(s.Run("GET two|wc"))
			s.ends("pipe:      GET two | wc", `argument:  GET "two|wc"`, "Is it a (p)ipe or an (a)rgument?")
			s.check(s.Run("a"))
			s.ends("(nil)", "t.sqlite>")
			s.check(s.Run("clear"))
			s.check(s.Run(":help"))
			s.lastLine("t.sqlite>")
			s.shows("HELP SET, HELP @list ") // its first line is not out of sight
			s.check(s.Run("clear"))
			s.runs("GET two > two.txt", "t.sqlite>")
			s.runs("ECHO x >> two.txt", "t.sqlite>")
			if got, err := os.ReadFile(filepath.Join(dir, "two.txt")); err != nil || string(got) != "one\ntwox\n" {
				t.Errorf("two.txt holds %q, %v", got, err)
			}

			s.check(s.Press("C-l"))
			// The history keeps no passwords, and comes back the next time.
			s.check(s.Run("AUTH secret"))
			s.ends("t.sqlite>")
			s.press("t.sqlite> ECHO x >> two.txt", "Up")
			s.press("t.sqlite>", "C-c")
			s.check(s.Press("C-r"))
			s.check(s.Type("user"))
			s.shows("search: user_  2 of ")
			s.shows("> GET user:1")
			s.shows("  SETEX user:1 1000")
			s.shows("t.sqlite> GET user:1")
			s.check(s.Press("Enter"))
			s.ends(`"héllo"`, "t.sqlite>")

			// vi's keys, whose mode the prompt says; completion is there, too.
			s.check(s.Run(":set editing-mode vi"))
			s.ends("(ins)t.sqlite>")
			s.check(s.Type("TYPE tw"))
			s.press("(ins)t.sqlite> TYPE two", "Tab")
			s.press("(cmd)t.sqlite> TYPE two", "Escape")
			s.press("(cmd)t.sqlite> two", "0", "d", "w")
			s.press("(ins)t.sqlite> NOPEtwo", "i", "NOPE")
			s.press("(ins)t.sqlite>", "C-c")
		})
	}
}

func TestREPLHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 80, 24, "XDG_STATE_HOME="+dir+"/state")
	repl := "cd " + dir + " && clear && meowdis repl -t t.sqlite; echo left"
	s.check(s.Run(repl))
	s.lastLine("t.sqlite>")
	s.check(s.Run("AUTH secret"))
	s.ends("t.sqlite>")
	s.runs("SET k v", "OK", "t.sqlite>")
	s.check(s.Run("hello 2 auth default secret"))
	s.ends("t.sqlite>")
	s.check(s.Run("quit"))
	s.shows("\nleft\n")

	file := filepath.Join(dir, "state", "meowdis", "history")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the history has mode %o", info.Mode().Perm())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != "SET k v\nquit\n" {
		t.Errorf("the history holds %q", text)
	}

	s.check(s.Run(repl))
	s.lastLine("t.sqlite>")
	s.check(s.Press("Up", "Up"))
	s.shows("t.sqlite> SET k v")
	s.press("t.sqlite>", "C-c")
	s.check(s.Press("C-d"))
	s.shows("\nleft\n")

	// A terminal that cannot move its cursor gets a prompt all the same.
	s.check(s.Run("clear; TERM=dumb meowdis repl -t t.sqlite; echo left"))
	s.ends("TERM=dumb: no key bindings and no completion. :help shows help, Ctrl-D quits.", "t.sqlite>")
	s.runs("GET k", `"v"`, "t.sqlite>")
	s.check(s.Press("C-d"))
	s.ends("t.sqlite>", "left", "$")

	// The figures of stats --live stay when Ctrl-C has ended it.
	s.check(s.Run("clear; meowdis stats --live -i 0.1 -t t.sqlite; echo status $?"))
	s.shows("t.sqlite  every 0.1s, Ctrl-C ends")
	s.shows("A file does not count clients, commands and hits")
	s.check(s.Press("C-c"))
	s.ends("A file does not count clients, commands and hits: a server does (meowdis serve).", "status 0", "$")
}

// What is typed without waiting goes to the program that has the terminal then.
func TestREPLTypedAhead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 80, 24, "XDG_STATE_HOME="+dir+"/state")
	s.check(s.Run("cd " + dir + " && clear && meowdis repl -t t.sqlite"))
	s.lastLine("t.sqlite>")
	s.check(s.Send("DBSIZE | { read -r line </dev/tty; echo got $line; }\nof the pager\nquit\necho the shell got this\n"))
	s.shows("got of the pager")
	s.ends("the shell got this", "$")
}

// Ctrl-Z goes back to the shell, and fg to the text as it was.
func TestREPLSuspended(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 80, 24, "XDG_STATE_HOME="+dir+"/state")
	s.check(s.Run("cd " + dir + " && clear && meowdis repl -t t.sqlite"))
	s.lastLine("t.sqlite>")
	s.types("ECHO 猫", "t.sqlite> ECHO 猫")
	s.check(s.Press("C-z"))
	s.shows("Stopped")
	s.lastLine("$")
	s.check(s.Run("echo in the $0; fg"))
	s.shows("in the /bin/sh")
	s.lastLine("t.sqlite> ECHO 猫")
	s.press("t.sqlite>", "Enter")
	s.ends(`"猫"`, "t.sqlite>")

	// The keys go over letters as they are seen.
	s.check(s.Type("ECHO e\u0301👩\u200d👧x"))
	s.check(s.Press("Left", "BSpace", "BSpace"))
	s.lastLine("t.sqlite> ECHO x")
	s.press("t.sqlite>", "Enter")
	s.ends(`"x"`, "t.sqlite>")
}

func TestREPLOnAServer(t *testing.T) {
	t.Parallel()
	server := oracle.Start(t)
	client := server.Dial(t)
	s := openScreen(t, 200, 24, "XDG_STATE_HOME="+t.TempDir()) // the path may be long
	s.check(s.Run("clear && exec meowdis repl -t unix://" + server.Socket))
	s.ends("redis.sock>")
	s.check(s.Run("SUBSCRIBE news"))
	s.ends("messages appear here; UNSUBSCRIBE, or Ctrl-C on an empty line, ends them", `1) "subscribe"`, `2) "news"`, "3) (integer) 1", "redis.sock(SUB 1)>")
	client.Do([]byte("PUBLISH"), []byte("news"), []byte("hello"))
	s.ends(`1) "message"`, `2) "news"`, `3) "hello"`, "redis.sock(SUB 1)>")
	s.runs("PUBLISH other x", "(integer) 0", "redis.sock(SUB 1)>")
	s.types("GET half", "redis.sock(SUB 1)> GET half")
	client.Do([]byte("PUBLISH"), []byte("news"), []byte("again"))
	s.ends(`3) "again"`, "redis.sock(SUB 1)> GET half")
	s.press("redis.sock(SUB 1)>", "C-c")
	s.press("redis.sock>", "C-c")
	s.runs("SET k v", "OK", "redis.sock>")
	s.check(s.Type("GET "))
	s.press("redis.sock> GET k", "Tab")
	s.press("redis.sock>", "C-c")
	s.check(s.Type("CONFIG GET maxmemory-p"))
	s.press("redis.sock> CONFIG GET maxmemory-policy [parameter ...]", "Tab")
	s.press("redis.sock>", "C-c")
	s.check(s.Type("GET nope"))
	s.press("no string key begins with nope", "Tab")
	s.press("redis.sock>", "C-c")
	s.check(s.Run("BLPOP queue 0"))
	until := func(want string, args ...[]byte) {
		for !strings.Contains(string(client.Do(args...).Str), want) {
			<-time.After(5 * time.Millisecond)
		}
	}
	until("blocked_clients:1", []byte("INFO"), []byte("clients"))
	s.check(s.Press("C-c"))
	s.ends("interrupted: whether the command took effect is not known", "redis.sock>")
	s.runs("GET k", `"v"`, "redis.sock>")
	s.check(s.Run("MONITOR"))
	until("cmd=monitor", []byte("CLIENT"), []byte("LIST"))
	client.Do([]byte("SET"), []byte("seen"), []byte("1"))
	s.shows(`"SET" "seen" "1"`)
	s.press("redis.sock>", "C-c")
}

func TestREPLOnAnEndpoint(t *testing.T) {
	t.Parallel()
	s := openScreen(t, 80, 24, "XDG_STATE_HOME="+t.TempDir())
	s.check(s.Run("clear && exec meowdis repl -t " + serveEvents(t) + " --token T"))
	s.shows(">")
	s.check(s.Run("SUBSCRIBE news"))
	s.ends(`1) "message"`, `2) "news"`, `3) "one, two"`, "(SUB 1)>")
	s.check(s.Press("C-c"))
	s.ends("^C", "unsubscribed from news", ">")
	s.check(s.Run("MONITOR"))
	s.ends("OK", `1721284005.242090 [0 0.0.0.0:0] "GET" "k"`)
	s.check(s.Press("C-c"))
	s.ends("^C", ">")
}

// A line that is longer than the window is edited where it stands, and again in a
// window of another width.
func TestREPLInANarrowWindow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 40, 10, "XDG_STATE_HOME="+dir)
	s.check(s.Run("cd " + dir + " && clear && exec meowdis repl -t t.sqlite"))
	s.lastLine("t.sqlite>")
	s.check(s.Type("ECHO 猫猫猫猫猫猫猫猫猫猫猫猫猫猫"))
	s.ends("t.sqlite> ECHO 猫猫猫猫猫猫猫猫猫猫猫猫", "猫猫")
	s.check(s.Press("Left", "Left", "Left"))
	s.check(s.Type("x"))
	s.ends("t.sqlite> ECHO 猫猫猫猫猫猫猫猫猫猫猫x猫", "猫猫")
	s.check(s.Press("Home"))
	s.check(s.Press("Delete"))
	s.ends("t.sqlite> CHO 猫猫猫猫猫猫猫猫猫猫猫x猫", "猫猫")
	s.check(s.Type("E"))
	s.check(s.Press("End"))
	s.check(s.Resize(80, 24))
	s.ends("t.sqlite> ECHO 猫猫猫猫猫猫猫猫猫猫猫x猫猫猫")
	s.check(s.Type("y"))
	s.press("t.sqlite>", "Enter")
	s.ends(`"猫猫猫猫猫猫猫猫猫猫猫x猫猫猫y"`, "t.sqlite>")
	s.check(s.Type("HGETALL " + strings.Repeat("k", 3000)))
	s.press("t.sqlite>", "C-c")
	s.runs("PING", "PONG", "t.sqlite>")
}
