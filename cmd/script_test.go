package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/meowdis/meowdis/cmd"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/internal/test/hermetic"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/bus"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/server"
)

var updateScripts = flag.Bool("update", false, "write the output of meowdis into the scripts")

// TestMain makes the program a command of the scripts: this test binary, run
// under its name.
func TestMain(m *testing.M) {
	// A slow machine ends no scripts and completions.
	if !slices.Contains(os.Environ(), shortWriterLimit) {
		cmd.SetWriterLimit(5 * time.Second)
	}
	cmd.SetWaits(time.Minute, 10*time.Second)
	testscript.Main(hermetically{m}, map[string]func(){"meowdis": meowdis, "measure": measure, "resident": serveResident})
}

// shortWriterLimit in the environment leaves explain the time that users give it, for a script that does not end.
const shortWriterLimit = "SHORT_WRITER_LIMIT=1"

// meowdis is the program.
func meowdis() { os.Exit(cmd.Main()) }

// hermetically runs the tests in an environment of their own.
type hermetically struct{ *testing.M }

// Most of the time is spent waiting for processes and terminals: more tests run at once
// than there are processors. A process that ends soon starts faster with one thread.
func (h hermetically) Run() int {
	parallel := strconv.Itoa(3 * runtime.GOMAXPROCS(0))
	if err := errors.Join(hermetic.Clear(), flag.Set("test.parallel", parallel), os.Setenv("GOMAXPROCS", "1")); err != nil {
		panic(err)
	}
	return h.M.Run()
}

// restToken is the token of the endpoint in TestScripts.
const restToken = "purr"

// serveMemory serves an empty database over REST and RESP until the test ends.
func serveMemory(t *testing.T) (rest, redis string) {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	srv := server.New(server.Config{Engine: engine.New(file), Token: restToken})
	web := httptest.NewServer(srv.REST())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.ServeRESP(ctx, ln) }()
	t.Cleanup(func() {
		web.Close()
		cancel()
		if err := errors.Join(<-served, file.Close()); err != nil {
			t.Error(err)
		}
	})
	return web.URL, "redis://" + ln.Addr().String()
}

// serveEvents is an endpoint with Upstash's server-sent events, and nothing else.
func serveEvents(t *testing.T) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch kind, name, _ := strings.Cut(r.URL.Path[1:], "/"); kind {
		default:
			http.Error(w, `{"error":"ERR unknown command"}`, http.StatusBadRequest)
			return
		case "subscribe":
			fmt.Fprintf(w, "data: subscribe,%s,1\n\ndata: message,%s,one, two\n\n", name, name)
		case "psubscribe":
			fmt.Fprintf(w, "data: psubscribe,%s,1\n\ndata: pmessage,%s,news,hello\n\n", name, name)
		case "monitor":
			fmt.Fprint(w, "data: \"OK\"\n\ndata: 1721284005.242090 [0 0.0.0.0:0] \"GET\" \"k\"\n\n")
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// serveOriginal is an endpoint as the first meowdis was: few commands, one database, no transactions, and
// replies of its own shape.
func serveOriginal(t *testing.T) string {
	const has = "PING SET GET DEL EXISTS KEYS TYPE TTL EXPIRE MGET MSET STRLEN APPEND HSET HGET HGETALL HDEL HLEN LPUSH RPUSH LRANGE LLEN SADD SREM SMEMBERS SCARD"
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	session := engine.New(file).Session()
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		run := func(words []string) json.RawMessage {
			v := resp.MakeError("Unsupported command: " + words[0])
			if slices.Contains(strings.Fields(has), strings.ToUpper(words[0])) {
				args := make([][]byte, len(words))
				for i, word := range words {
					args[i] = []byte(word)
				}
				if v, err = session.Do(r.Context(), args...); err != nil {
					v = resp.MakeError(err.Error())
				}
			}
			if v.IsError() {
				text, _ := json.Marshal(map[string]string{"error": string(v.Str)})
				return text
			}
			return resp.AppendJSON(nil, resp.Downgrade(v))
		}
		var body json.RawMessage
		json.NewDecoder(r.Body).Decode(&body)
		var one []string
		var many [][]string
		w.Header().Set("Content-Type", "application/json")
		if json.Unmarshal(body, &one) == nil {
			if reply := run(one); bytes.HasPrefix(reply, []byte(`{"error"`)) {
				w.Write(reply)
			} else {
				fmt.Fprintf(w, `{"result":%s}`, reply)
			}
			return
		}
		json.Unmarshal(body, &many)
		replies := []json.RawMessage{}
		for _, words := range many {
			replies = append(replies, run(words))
		}
		json.NewEncoder(w).Encode(map[string]any{"result": replies})
	}))
	t.Cleanup(func() { srv.Close(); file.Close() })
	return srv.URL
}

// TestScripts runs testdata/script. Beside testscript's own commands there is
//
//	code N PROGRAM ARG...   runs a program that must end with the exit code N
//	foreign KIND FILE       makes a SQLite file of another program
//	serving ARG...          starts "meowdis serve ARG..." in the background and
//	                        sets REST, TOKEN, RESP and CERTIFICATE to what it prints
//	heard [URL] WHAT...     waits until a client listens to LISTENED_REDIS_URL or
//	                        another server: to channels, patterns, or "monitor"
//	beside FILE WHAT...     waits until a process listens so to others that use FILE
//
// EVENTS_URL is an endpoint that sends a message of each channel that is subscribed
// to, and what MONITOR would show. REST_URL and REST_TOKEN are an endpoint with an empty database, RESP_URL the
// same over RESP, and REAL_REDIS_URL and LISTENED_REDIS_URL real Redises, of which [redis:VERSION] says that
// it is that version or a later one. CLUSTER_NODE_URL is a real Redis that is a node of a cluster,
// and ORIGINAL_URL an endpoint as the first meowdis was.
func TestScripts(t *testing.T) {
	t.Parallel()
	rest, redis := serveMemory(t)
	events := serveEvents(t)
	real := oracle.Start(t)
	version := real.Dial(t).Version()
	listened := oracle.Start(t) // where MONITOR shows what one script does
	listened.Dial(t)
	node := oracle.StartCluster(t)
	original := serveOriginal(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *updateScripts,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			for _, dir := range []string{"DATA", "STATE", "CONFIG", "CACHE"} {
				env.Setenv("XDG_"+dir+"_HOME", env.WorkDir+"/"+strings.ToLower(dir))
			}
			env.Setenv("MEOWDIS_KEYRING", "off") // the user who runs the tests may have one
			env.Setenv("REST_URL", rest)
			env.Setenv("REST_TOKEN", restToken)
			env.Setenv("EVENTS_URL", events)
			env.Setenv("RESP_URL", redis)
			env.Setenv("REAL_REDIS_URL", "unix://"+real.Socket)
			env.Setenv("ORIGINAL_URL", original)
			env.Setenv("CLUSTER_NODE_SOCKET", node.Socket)
			env.Setenv("CLUSTER_NODE_URL", "unix://"+node.Socket)
			env.Setenv("LISTENED_REDIS_URL", "unix://"+listened.Socket)
			return nil
		},
		Condition: func(condition string) (bool, error) {
			since, ok := strings.CutPrefix(condition, "redis:")
			if !ok {
				return false, fmt.Errorf("no condition %q", condition)
			}
			return !version.Before(oracle.Version(since)), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "foreign": foreign, "serving": serving, "heard": heard(t, listened), "beside": beside, "until": until,
		},
	})
}

func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// until runs a program until it succeeds, and what it prints matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM ARG...")
	}
	match := regexp.MustCompile("(?m)" + args[0])
	// Starting programs all the time would slow down what they wait for.
	awaitEvery(100*time.Millisecond, ts, args[0], func() bool { return ts.Exec(args[1], args[2:]...) == nil && match.MatchString(ts.ReadFile("stdout")) })
}

func foreign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: foreign KIND FILE")
	}
	ts.Check(foreignfile.Make(args[0], ts.MkAbs(args[1])))
}

// heard polls the server, which does not report a new listener.
func heard(t *testing.T, real *oracle.Server) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		do := real.Dial(t).Do
		if strings.Contains(args[0], "://") {
			c, err := remote.OpenRedis(context.Background(), args[0], false, remote.Options{})
			ts.Check(err)
			defer c.Close()
			do = func(words ...[]byte) resp.Value {
				v, err := c.Do(context.Background(), words...)
				ts.Check(err)
				return v
			}
			args = args[1:]
		}
		for _, what := range args {
			await(ts, what, func() bool { return isHeard(do, what) })
		}
	}
}

func await(ts *testscript.TestScript, what string, is func() bool) {
	awaitEvery(5*time.Millisecond, ts, what, is)
}

// patience limits each wait of the tests. It is long enough for a slow, busy machine.
const patience = 3 * time.Minute

func awaitEvery(pause time.Duration, ts *testscript.TestScript, what string, is func() bool) {
	deadline := time.Now().Add(patience)
	for !is() {
		if time.Now().After(deadline) {
			ts.Fatalf("%s: it does not come", what)
		}
		<-time.After(pause)
	}
}

func isHeard(do func(...[]byte) resp.Value, what string) bool {
	switch {
	case what == "monitor":
		return bytes.Contains(do([]byte("CLIENT"), []byte("LIST")).Str, []byte("cmd=monitor"))
	case strings.Contains(what, "*"):
		return do([]byte("PUBSUB"), []byte("NUMPAT")).Int > 0
	}
	return do([]byte("PUBSUB"), []byte("NUMSUB"), []byte(what)).Elems[1].Int > 0
}

// beside polls the processes that use a file, in one of its own.
func beside(ts *testscript.TestScript, _ bool, args []string) {
	hub := pubsub.New()
	node := bus.New(ts.MkAbs(args[0]), hub)
	defer node.Close()
	ask := func(words ...string) resp.Value {
		var args [][]byte
		for _, word := range words {
			args = append(args, []byte(word))
		}
		v, _ := hub.Info(words[1], args, nil)
		return v
	}
	for _, what := range args[1:] {
		await(ts, what, func() bool {
			switch {
			case what == "monitor":
				return hub.Watched()
			case strings.Contains(what, "*"):
				return ask("PUBSUB", "NUMPAT").Int > 0
			}
			return ask("PUBSUB", "NUMSUB", what).Elems[1].Int+ask("PUBSUB", "SHARDNUMSUB", what).Elems[1].Int > 0
		})
	}
}

// manyThreads is the environment of a program that runs for long, or whose memory is measured.
func manyThreads() []string { return append(os.Environ(), "GOMAXPROCS=") }

var serveResult = regexp.MustCompile(`(?m)^(REST|token|storage|RESP|certificate) (\S+)\n`)

func serving(ts *testscript.TestScript, _ bool, args []string) {
	program, err := exec.LookPath("meowdis")
	ts.Check(err)
	run := exec.Command(program, append([]string{"serve"}, args...)...)
	run.Dir = ts.Getenv("WORK")
	run.Env = append(manyThreads(), "XDG_DATA_HOME="+ts.Getenv("XDG_DATA_HOME"), "XDG_STATE_HOME="+ts.Getenv("XDG_STATE_HOME"),
		"MEOWDIS_REQUIREPASS="+ts.Getenv("MEOWDIS_REQUIREPASS"), "MEOWDIS_READ_ONLY_TOKEN="+ts.Getenv("MEOWDIS_READ_ONLY_TOKEN"))
	var log bytes.Buffer
	run.Stderr = &log
	out, err := run.StdoutPipe()
	ts.Check(err)
	ts.Check(run.Start())
	var text strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(text.String(), "RESP ") || !strings.HasSuffix(text.String(), "\n") {
		n, err := out.Read(buf)
		if err != nil {
			run.Wait()
			ts.Fatalf("serve ended: %s", log.String())
		}
		text.Write(buf[:n])
	}
	ts.Defer(func() {
		ts.Check(run.Process.Signal(os.Interrupt))
		ts.Check(run.Wait())
	})
	for _, m := range serveResult.FindAllStringSubmatch(text.String(), -1) {
		ts.Setenv(strings.ToUpper(m[1]), m[2])
	}
}
