package cmd_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// attack sets a terminal's title and the clipboard, moves the cursor, turns the
// direction of writing, and says the same in the control characters beyond ASCII.
const attack = "\x1b]52;c;b3duZWQ=\a\x1b]0;owned\a\x1b[5A\r\u009b31m\u202eowned"

// acts are the beginnings of what acts on a terminal in attack.
var acts = []string{"\x1b]52", "\x1b]0;", "\x1b[5A", "\u009b", "\u202e"}

// showsTypes matches verbs that read types, and listens one verb that listens and some that do not expect it.
var (
	showsTypes = regexp.MustCompile("^(keys|scan|peek|stats|bigkeys|dump|export|diff|__)")
	listens    = regexp.MustCompile("^(exec URL GET|status|keys URL|monitor|subscribe)")
)

// A server may answer anything. Whatever the verb, none of it acts on the terminal.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	refusing := hostileRedis(t, func(call []string) string { return "-ERR " + attack[:strings.IndexByte(attack, '\r')] + "\r\n" })
	lying := hostileRedis(t, hostileReply)
	untyped := hostileRedis(t, func(call []string) string {
		if strings.EqualFold(call[0], "TYPE") {
			return "+" + attack[:strings.IndexByte(attack, '\r')] + "\r\n"
		}
		return hostileReply(call)
	})
	failing := "http://" + hostileHTTP(t, http.StatusInternalServerError, attack)
	denying := "http://" + hostileHTTP(t, http.StatusBadRequest, `{"error":"ERR \u001b]52;c;b3duZWQ=\u0007\u001b]0;owned\u0007\u009b31m\u202e"}`)
	talking := "http://" + hostileHTTP(t, http.StatusOK, "data: message,c,"+attack[:strings.IndexByte(attack, '\r')]+"\n\n")

	s := openScreen(t, 100, 40, "PATH="+os.Getenv("PATH"))
	record := filepath.Join(t.TempDir(), "bytes")
	s.check(s.Record(record))
	var script strings.Builder
	servers := []string{refusing, lying, untyped, failing, denying, talking}
	for n, url := range servers {
		token := ""
		if strings.HasPrefix(url, "http:") {
			token = " --token t"
		}
		verbs := []string{
			"exec URL GET k", "exec URL --raw GET k", "exec URL --csv HGETALL k", "exec URL --json GET k", "exec URL -o table HGETALL k",
			"exec URL -o ndjson LRANGE k 0 -1", "exec URL INFO", "exec URL PING", "exec -3 URL HGETALL k",
			"status URL", "keys URL", "keys -l URL", "scan URL k", "peek URL k", "stats URL", "bigkeys URL",
			"latency URL --limit 2", "watch URL --limit 2 -i 0.01 GET k", "watch URL --limit 2 -i 0.01 INFO",
			"monitor URL --limit 1", "subscribe URL --limit 1 c", "dump URL out.dump", "export URL out.rdb", "diff BARE to.sqlite",
			"__complete peek URL '' | cat", "__line bash 'meowdis peek URL k' '' 63 80 | cat",
		}
		switch url { // the rest shows what other servers send
		case untyped:
			verbs = slices.DeleteFunc(verbs, func(words string) bool { return !showsTypes.MatchString(words) })
		case talking:
			verbs = slices.DeleteFunc(verbs, func(words string) bool { return !listens.MatchString(words) })
		}
		for _, words := range verbs {
			words = strings.NewReplacer("URL", "-t "+url+token, "BARE", url).Replace(words)
			fmt.Fprintf(&script, "timeout 180 meowdis %s </dev/null\n", words)
		}
		fmt.Fprintf(&script, "timeout 180 meowdis copy %s to.sqlite </dev/null\n", url)
		fmt.Fprintf(&script, "printf 'GET k\\nINFO\\nHGETALL k\\n:peek k\\n:explain GET k\\n' | timeout 180 meowdis repl -t %s%s\n", url, token)
		fmt.Fprintf(&script, "echo 'done with' server %d\n", n)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "verbs"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.check(s.Run("cd " + dir + "; export MEOWDIS_DB=$PWD/default.sqlite; sh ./verbs"))
	for n := range servers { // a slow machine takes its time for so many programs
		done := fmt.Sprintf("done with server %d", n)
		_, err := s.Wait(done, func(string) bool { // it may leave the screen before anyone looks
			written, err := os.ReadFile(record)
			return err == nil && strings.Contains(string(written), done)
		})
		s.check(err)
	}
	interactively(s, refusing)
	interactively(s, lying)

	written, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range acts {
		for rest := string(written); ; {
			before, after, found := strings.Cut(rest, act)
			if !found {
				break
			}
			t.Errorf("%q reached the terminal, after\n%s", act, before[max(0, len(before)-300):])
			rest = after
		}
	}
	if n := strings.Count(string(written), `\x1b]52`); n < 60 {
		t.Errorf("the attack was seen %d times: the verbs did not show what the servers sent", n)
	}
}

// interactively uses the prompt and the inspector.
func interactively(s *screen, url string) {
	s.t.Helper()
	s.check(s.Run("clear; meowdis repl -t " + url + "; echo prompt 'left'"))
	s.lastLine(">")
	for _, line := range []string{"GET k", "INFO", "HGETALL k", ":peek k", "GET k | cat -v"} {
		s.check(s.Type(line))
		_, err := s.Wait(line, func(screen string) bool { // a hint may stand after it
			lines := strings.Split(strings.TrimRight(screen, " \n"), "\n")
			return strings.Contains(lines[len(lines)-1], "> "+line)
		})
		s.check(err)
		s.press(">", "Enter")
	}
	s.check(s.Type("GET "))
	s.check(s.Press("Tab"))
	s.press(">", "C-c")
	s.types("quit", "> quit")
	s.press("$", "Enter")
	// What refuses everything ends it, and the rest is typed at the shell.
	s.check(s.Run("clear; meowdis inspect -t " + url + "; echo inspector 'left'"))
	left := func(screen string) bool { return strings.Contains(screen, "inspector left") }
	screen, err := s.Wait("the inspector, or its refusal", func(screen string) bool { return strings.Contains(screen, "x1b") || left(screen) })
	s.check(err)
	if !left(screen) {
		s.check(s.Press("Enter"))
		s.check(s.Press("Escape", "Escape", "q"))
		_, err = s.Wait("the end of the inspector", left)
		s.check(err)
	}
}

// hostileReply is what a server could send that is like a reply to call.
func hostileReply(call []string) string {
	bulk := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	evil := bulk(attack)
	switch strings.ToUpper(call[0]) {
	case "HELLO":
		if len(call) > 1 && call[1] == "3" {
			return "%2\r\n" + bulk("server") + evil + bulk("proto") + ":3\r\n"
		}
		return "*4\r\n" + bulk("server") + evil + bulk("proto") + ":2\r\n"
	case "SELECT", "CLIENT", "AUTH":
		return "+OK\r\n"
	case "DBSIZE", "STRLEN", "HLEN", "EXISTS":
		return ":1\r\n"
	case "PTTL", "TTL", "PEXPIRETIME":
		return ":-1\r\n"
	case "SCAN":
		return "*2\r\n" + bulk("0") + "*1\r\n" + evil
	case "TYPE":
		return "+string\r\n"
	case "INFO":
		return bulk("# Server" + attack + "\r\nredis_version:7" + attack + "\r\n# Keyspace\r\ndb0:keys=1,expires=0\r\n")
	case "HGETALL", "LRANGE", "CONFIG":
		return "*2\r\n" + evil + evil
	case "PING":
		return "+" + attack[:strings.IndexByte(attack, '\r')] + "\r\n"
	case "SUBSCRIBE":
		return "*3\r\n" + bulk("subscribe") + evil + ":1\r\n*3\r\n" + bulk("message") + evil + evil
	case "MONITOR":
		return "+OK\r\n+1.0 [0 " + attack[:strings.IndexByte(attack, '\r')] + "] \"GET\"\r\n"
	}
	return evil
}

// hostileRedis answers each command as reply says, and returns its URL.
func hostileRedis(t *testing.T, reply func(call []string) string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go answerAll(conn, reply)
		}
	}()
	return "redis://" + ln.Addr().String()
}

func answerAll(conn net.Conn, reply func(call []string) string) {
	defer conn.Close()
	for in := resp.NewReader(conn); ; {
		call, err := in.ReadCommand()
		if err != nil {
			return
		}
		var words []string
		for _, arg := range call {
			words = append(words, string(arg))
		}
		if len(words) == 0 {
			continue
		}
		if _, err := io.WriteString(conn, reply(words)); err != nil {
			return
		}
	}
}

// hostileHTTP answers every request with a status and a body, and returns its
// address.
func hostileHTTP(t *testing.T, status int, body string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(body, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(web.Close)
	return strings.TrimPrefix(web.URL, "http://")
}
