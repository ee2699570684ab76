package tenants_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/server/tenants"
)

// No tenant sees what another does, over either protocol.
func TestIsolation(t *testing.T) { bothWays(t, testIsolation) }

func testIsolation(t *testing.T) {
	h := open(t, 4, "tom", "kitty")
	tom, other, kitty := h.of("tom"), h.of("tom"), h.of("kitty")

	tom.want("OK", "SET", "k", "secret")
	tom.want("OK", "SELECT", "7")
	tom.want("OK", "SET", "k", "secret")
	kitty.want("(integer) 0", "DBSIZE")
	kitty.want("(nil)", "GET", "k")
	kitty.want("OK", "FLUSHALL")
	tom.want(`"secret"`, "GET", "k")
	h.wantREST(http.StatusOK, `{"result":"secret"}`, h.token["tom"], "/get/k")
	h.wantREST(http.StatusOK, `{"result":null}`, h.token["kitty"], "/get/k")
	h.wantREST(http.StatusOK, `{"result":"secret"}`, "", "/get/k?_token="+h.token["tom"])

	// Channels, keyspace events, tracking, and MONITOR.
	other.want(`1) "subscribe"
2) "news"
3) (integer) 1`, "SUBSCRIBE", "news")
	kitty.want("(integer) 0", "PUBLISH", "news", "from kitty")
	h.wantREST(http.StatusOK, `{"result":1}`, h.token["tom"], "/publish/news/hello")
	if got := other.reply(); !strings.Contains(got, `"hello"`) {
		t.Errorf("the listener got %s", got)
	}
	kitty.want("(empty array)", "PUBSUB", "CHANNELS")
	watcher := h.of("kitty")
	watcher.want("OK", "MONITOR")
	tom.want("OK", "SET", "k", "still secret")
	kitty.want("(nil)", "GET", "mine")
	if got := watcher.reply(); !strings.Contains(got, `"GET" "mine"`) {
		t.Errorf("MONITOR shows %s", got)
	}

	// Clients.
	tom.want("OK", "CLIENT", "SETNAME", "tomcat")
	if got := kitty.do("CLIENT", "LIST"); strings.Contains(got, "tomcat") || strings.Count(got, " addr=") != 2 {
		t.Errorf("kitty's clients are %s", got)
	}
	id := strings.TrimPrefix(tom.do("CLIENT", "ID"), "(integer) ")
	kitty.want("(integer) 0", "CLIENT", "KILL", "ID", id, "SKIPME", "no")
	kitty.want("(integer) 0", "CLIENT", "UNBLOCK", id)
	kitty.want("(error) ERR No such client", "CLIENT", "KILL", tom.LocalAddr().String())
	kitty.want("(integer) 1", "CLIENT", "KILL", "TYPE", "normal") // the client that monitors
	kitty.want("OK", "CLIENT", "PAUSE", "100000", "WRITE")
	tom.want("OK", "SET", "other", "x")
	kitty.want("OK", "CLIENT", "UNPAUSE")

	// Statistics of commands, scripts and functions.
	tom.want("OK", "CONFIG", "RESETSTAT")
	tom.want(`"x"`, "EVAL", "return 'x'", "0")
	tom.want(`"lib"`, "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
	kitty.want("(error) NOSCRIPT No matching script. Please use EVAL.", "EVALSHA", "df1d4a9ae24bf9e5ca2a9e8e2a0ee6fe9b4f5f0a", "0")
	kitty.want("(error) ERR Function not found", "FCALL", "f", "0")
	if got := kitty.do("INFO", "commandstats"); strings.Contains(got, "cmdstat_eval:") || !strings.Contains(got, "cmdstat_flushall:calls=1") {
		t.Errorf("kitty's commands are %s", got)
	}
	if got := kitty.do("SLOWLOG", "GET", "-1"); strings.Contains(got, "tomcat") || strings.Contains(got, "EVAL\"") {
		t.Errorf("kitty's slow commands are %s", got)
	}
	for _, word := range []string{"used_memory_rss", "process_id", "executable", "config_file", "used_cpu", "os:", "listener0"} {
		if got := kitty.do("INFO", "everything"); strings.Contains(got, word) {
			t.Errorf("INFO tells a tenant of %s: %s", word, got)
		}
	}
	kitty.want("(empty array)", "CONFIG", "GET", "requirepas")
	kitty.want("1) \"dir\"\n2) \"\"\n3) \"requirepass\"\n4) \"\"", "CONFIG", "GET", "dir", "requirepass")
}

// refused lists the commands that a tenant may not run: commands about the process, its users and its replicas.
var refused = strings.Fields(`SHUTDOWN CONFIG|SET CONFIG|REWRITE DEBUG|SLEEP DEBUG|OBJECT SAVE BGSAVE BGREWRITEAOF REPLICAOF SLAVEOF FAILOVER
	MODULE|LOAD MODULE|LOADEX MODULE|UNLOAD PSYNC SYNC REPLCONF MEMORY|STATS MEMORY|MALLOC-STATS MEMORY|DOCTOR
	ACL|SETUSER ACL|DELUSER ACL|GETUSER ACL|LIST ACL|USERS ACL|LOAD ACL|SAVE ACL|LOG ACL|RESTTOKEN ACL|DRYRUN`)

func TestRefused(t *testing.T) {
	h := open(t, 1, "tom")
	p := h.of("tom")
	for _, name := range refused {
		words := strings.Split(name, "|")
		cmd := commands.Lookup(strings.Join(words, " "))
		if cmd == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		for len(words) < max(cmd.Arity, -cmd.Arity) {
			words = append(words, "0")
		}
		if got := p.do(words...); !strings.HasPrefix(got, "(error) NOPERM User default has no permissions to run the '") {
			t.Errorf("%q answers %s", words, got)
		}
		if got := p.do(append([]string{"EVAL", "return redis.call(unpack(ARGV))", "0"}, words...)...); !strings.HasPrefix(got, "(error) ERR") {
			t.Errorf("%q in a script answers %s", words, got)
		}
	}
	// Every command in the category admin is refused or explicitly allowed.
	allowed := "CLIENT|KILL CLIENT|LIST CLIENT|NO-EVICT CLIENT|PAUSE CLIENT|UNBLOCK CLIENT|UNPAUSE CONFIG|GET CONFIG|RESETSTAT " +
		"LASTSAVE LATENCY|DOCTOR LATENCY|GRAPH LATENCY|HISTOGRAM LATENCY|HISTORY LATENCY|LATEST LATENCY|RESET MODULE|LIST MONITOR ROLE " +
		"SLOWLOG|GET SLOWLOG|LEN SLOWLOG|RESET"
	for _, cmd := range commands.All() {
		name := strings.ReplaceAll(cmd.Name, " ", "|")
		if strings.HasPrefix(name, "CLUSTER|") || strings.HasPrefix(name, "DEBUG") || strings.HasPrefix(name, "PF") {
			continue
		}
		for _, category := range cmd.ACLCategories() {
			if category == "admin" && !strings.Contains(" "+strings.Join(refused, " ")+" "+allowed+" ", " "+name+" ") {
				t.Errorf("%s is administrative: may a tenant run it?", name)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	h := open(t, 4, "tom")
	h.add("kitty", tenants.Limits{Bytes: 1 << 20, Clients: 2})
	kitty := h.of("kitty")
	kitty.want("1) \"maxmemory\"\n2) \"1048576\"", "CONFIG", "GET", "maxmemory")
	big := strings.Repeat("x", 500_000)
	kitty.want("OK", "SET", "a", big)
	full := func() bool {
		return kitty.do("SET", "b"+kitty.do("DBSIZE"), big) == "(error) OOM command not allowed when used memory > 'maxmemory'."
	}
	h.eventually("kitty's file is full", full)
	h.of("tom").want("OK", "SET", "a", big)
	kitty.want("1) \"client-query-buffer-limit\"\n2) \"67108864\"\n3) \"proto-max-bulk-len\"\n4) \"67108864\"",
		"CONFIG", "GET", "proto-max-bulk-len", "client-query-buffer-limit")

	second := h.of("kitty")
	third := h.stranger()
	third.want("(error) ERR max number of clients reached", "AUTH", h.token["kitty"])
	third.want(noAuth, "PING")
	h.wantREST(http.StatusServiceUnavailable, `{"error":"ERR max number of clients reached"}`, h.token["kitty"], "/get/k")
	second.want("OK", "QUIT")
	h.eventually("a client of kitty has left", func() bool {
		status, _ := h.get(h.token["kitty"], "/get/k")
		return status == http.StatusOK
	})

	// New limits apply at once.
	if _, err := h.book.Change(t.Context(), "kitty", false, func(l *tenants.Limits) { l.Bytes, l.Clients = 0, 0 }); err != nil {
		t.Fatal(err)
	}
	h.eventually("kitty has room again", func() bool { return kitty.do("SET", "c", big) == "OK" })
	for range 5 {
		h.of("kitty").want("(integer) 1", "EXISTS", "c")
	}
}

// A removed tenant, or one with a new token, is disconnected at once. A removed tenant's data is deleted.
func TestOut(t *testing.T) { bothWays(t, testOut) }

func testOut(t *testing.T) {
	h := open(t, 4, "tom", "kitty")
	idle, waits, kitty := h.of("tom"), h.of("tom"), h.of("kitty")
	idle.want("OK", "SET", "k", "1")
	waits.send("BLPOP", "list", "0")
	old := h.token["tom"]
	token, err := h.book.Change(t.Context(), "tom", true, func(*tenants.Limits) {})
	if err != nil {
		t.Fatal(err)
	}
	idle.wantClosed()
	waits.wantClosed()
	h.wantREST(http.StatusUnauthorized, `{"error":"WRONGPASS`, old, "/get/k")
	h.stranger().want(wrongPass, "AUTH", old)
	h.token["tom"] = token
	idle = h.of("tom")
	idle.want(`"1"`, "GET", "k")

	path := h.path("tom")
	if err := h.book.Remove(t.Context(), "tom"); err != nil {
		t.Fatal(err)
	}
	idle.wantClosed()
	h.stranger().want(wrongPass, "AUTH", token)
	if err := h.book.Remove(t.Context(), "tom"); err != tenants.ErrNoTenant {
		t.Errorf("removing it twice is %v", err)
	}
	h.add("tom", tenants.Limits{})
	if h.path("tom") == path {
		t.Error("the new tenant has the file of the old one")
	}
	h.of("tom").want("(nil)", "GET", "k")
	kitty.want("OK", "SET", "k", "2")
}

// A REST request for events is a client of its tenant, too.
func TestEvents(t *testing.T) {
	h := open(t, 1, "tom", "kitty")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.rest+"/subscribe/news", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token["tom"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	event := func(want string) {
		t.Helper()
		for lines.Scan() {
			if line := lines.Text(); line == want {
				return
			} else if line != "" {
				t.Fatalf("the stream has %s in place of %s", line, want)
			}
		}
		t.Fatalf("the stream ends without %s: %v", want, lines.Err())
	}
	event("data: subscribe,news,1")
	h.wantREST(http.StatusOK, `{"result":0}`, h.token["kitty"], "/publish/news/x")
	h.wantREST(http.StatusOK, `{"result":1}`, h.token["tom"], "/publish/news/hello")
	event("data: message,news,hello")
	if err := h.book.Remove(t.Context(), "tom"); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		if line := lines.Text(); line != "" {
			t.Errorf("the stream of a tenant that is gone goes on with %s", line)
		}
	}
}

// TestRemovedAtWork stops the server while a call of a removed tenant runs: the call fails and counts, and its file is
// closed.
func TestRemovedAtWork(t *testing.T) {
	h := open(t, 4, "tom")
	ended, err := h.Writes(t.Context(), h.token["tom"])
	if err != nil {
		t.Fatal(err)
	}
	if err := h.book.Remove(t.Context(), "tom"); err != nil {
		t.Fatal(err)
	}
	h.eventually("tom is not in memory", func() bool { return h.Live() == 0 })
	if n := h.OpenFiles(); n != 1 {
		t.Fatalf("%d files are open while the call runs", n)
	}
	h.Abandon()
	select {
	case err = <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the call still runs")
	}
	if err == nil {
		t.Error("the call succeeded")
	}
	if n := h.Abandoned(); n != 1 {
		t.Errorf("%d calls failed", n)
	}
	h.stop()
	if n := h.OpenFiles(); n != 0 {
		t.Errorf("%d files are open after the end", n)
	}
}

// TestPanickingTenant makes a script of one tenant panic: its connection closes. The other tenants and its own next
// command work.
func TestPanickingTenant(t *testing.T) { bothWays(t, testPanickingTenant) }

func testPanickingTenant(t *testing.T) {
	script.Hook = func(st *lua.State) {
		st.Globals.Field("string").AsTable().SetField("reverse", lua.Of(lua.GoFunc("reverse", func(*lua.State, []lua.Value) []lua.Value {
			panic("injected")
		})))
	}
	defer func() { script.Hook = nil }()
	h := open(t, 4, "tom", "kitty")
	tom, kitty := h.of("tom"), h.of("kitty")
	tom.want("OK", "SET", "k", "of tom")
	kitty.want("OK", "SET", "k", "of kitty")
	if got := h.of("tom").do("EVAL", "redis.call('SET', 'k', 'x') return string.reverse('x')", "0"); !strings.Contains(got, "internal error: injected") {
		t.Errorf("the script replies %s", got)
	}
	kitty.want(`"of kitty"`, "GET", "k")
	kitty.want("OK", "SET", "k", "again")
	tom.want(`"of tom"`, "GET", "k")
	tom.want("OK", "SET", "k", "again")
	h.of("tom").want(`"again"`, "GET", "k")
	h.wantREST(http.StatusOK, `{"result":"again"}`, h.token["tom"], "/get/k")
}

// TestPanickingOpener makes the opening of a file panic under a command and under the sweep, and a job: the log has the
// stacks, and the next command, sweep and run of the job work.
func TestPanickingOpener(t *testing.T) {
	h := open(t, 1, "tom", "kitty")
	var panics atomic.Bool
	h.WhenOpened(func() {
		if panics.CompareAndSwap(true, false) {
			panic("injected")
		}
	})
	for range 3 { // more often than there are slots
		panics.Store(true)
		p := h.of("tom")
		if got := p.do("SET", "k", "v"); !strings.Contains(got, "internal error: injected") {
			t.Errorf("the command replies %s", got)
		}
		p.wantClosed()
		h.of("tom").want("OK", "SET", "k", "v")
		h.of("kitty").want("OK", "SET", "k", "v")
		h.Rest()
		panics.Store(true)
		if err := h.SweepClosed(t.Context(), "tom"); err == nil || !strings.Contains(err.Error(), "injected") {
			t.Errorf("the sweep: %v", err)
		}
		if err := h.SweepClosed(t.Context(), "tom"); err != nil {
			t.Errorf("the next sweep: %v", err)
		}
	}
	runs := make(chan bool)
	h.RunJob(func() {
		if <-runs {
			panic("injected into a job")
		}
	})
	runs <- true
	runs <- false
	log := h.log.String()
	if commands, jobs := strings.Count(log, "panic=injected stack="), strings.Count(log, `panic="injected into a job" stack=`); commands != 3 || jobs != 1 {
		t.Errorf("%d panics of commands and %d of jobs in the log:\n%s", commands, jobs, log)
	}
}
