package server_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// saver is a Config.Save that ends when the test sends its result.
type saver struct {
	begun chan struct{}
	ends  chan error
}

func newSaver() saver { return saver{make(chan struct{}, 1), make(chan error)} }

func (s saver) save(ctx context.Context) error {
	s.begun <- struct{}{}
	select {
	case err := <-s.ends:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// persistence waits until INFO has the line.
func persistence(t *testing.T, c *peer, line string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		info := string(c.do("INFO", "persistence").Str)
		if strings.Contains(info, "\r\n"+line+"\r\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %s in %s", line, info)
		}
	}
}

// TestSaves runs one save at a time. Other saves get an error at once.
func TestSaves(t *testing.T) {
	work := newSaver()
	s := serve(t, server.Config{Save: work.save})
	a, b := s.dial(t), s.dial(t)
	began := a.do("LASTSAVE").Int
	if now := time.Now().Unix(); began > now || began < now-60 {
		t.Errorf("LASTSAVE is %d", began)
	}
	want(t, a.do("BGSAVE", "x"), "(error) ERR syntax error")
	want(t, a.do("BGSAVE", "SCHEDULE", "x"), "(error) ERR syntax error")
	want(t, a.do("BGSAVE"), "Background saving started")
	<-work.begun
	want(t, b.do("SAVE"), "(error) ERR Background save already in progress")
	want(t, b.do("BGSAVE", "schedule"), "(error) ERR Background save already in progress")
	persistence(t, b, "rdb_bgsave_in_progress:1")
	work.ends <- errors.New("a secret")
	persistence(t, b, "rdb_last_bgsave_status:err")
	a.send("SAVE\r\n")
	<-work.begun
	want(t, b.do("SET", "k", "v"), "OK")
	work.ends <- nil
	want(t, a.reply(), "OK")
	persistence(t, b, "rdb_last_bgsave_status:ok")
	persistence(t, b, "rdb_saves:1")
	a.send("SAVE\r\n")
	<-work.begun
	work.ends <- errors.New("a secret")
	want(t, a.reply(), "(error) ERR saving failed: see the server's log")
	for _, args := range [][]string{{"MULTI"}, {"BGSAVE"}, {"BGREWRITEAOF"}} {
		a.do(args...)
	}
	want(t, a.do("EXEC"), "1) Background saving scheduled\n2) Background append only file rewriting scheduled")
	<-work.begun
	work.ends <- nil
	want(t, a.do("BGREWRITEAOF"), "Background append only file rewriting started")
	want(t, a.do("MULTI"), "OK")
	want(t, a.do("SAVE"), "(error) ERR Command not allowed inside a transaction")
}

// TestShutdownDuringScript stops a server whose script has written and does not end: only with NOSAVE, as in Redis. The
// script leaves no changes.
func TestShutdownDuringScript(t *testing.T) {
	stopped := make(chan struct{}, 1)
	s := serve(t, server.Config{Stop: func() { stopped <- struct{}{} }})
	a, b := s.dial(t), s.dial(t)
	want(t, a.do("CONFIG", "SET", "busy-reply-threshold", "1"), "OK")
	a.send("EVAL \"redis.call('set', 'k', 'v') while true do end\" 0\r\n")
	const busy = "(error) BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	for show(b.do("PING")) != busy {
	}
	for _, how := range []string{"", "SAVE", "NOW", "SAVE FORCE"} {
		want(t, b.do(append([]string{"SHUTDOWN"}, strings.Fields(how)...)...), busy)
	}
	b.send("SHUTDOWN NOSAVE\r\n")
	<-stopped
	b.wantClosed()
	want(t, a.reply(), "(error) ERR the script was ended because the server stops; it left no changes")
	want(t, a.do("GET", "k"), "(nil)")
}

// TestShutdown stops the server for users with permission, after a save if requested.
func TestShutdown(t *testing.T) {
	work := newSaver()
	var log logged
	stopped := make(chan struct{}, 10)
	s := serve(t, server.Config{Save: work.save, Stop: func() { stopped <- struct{}{} }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	a, b := s.dial(t), s.dial(t)
	for _, bad := range []string{"x", "SAVE NOSAVE", "ABORT NOW", "NOW x"} {
		want(t, a.do(append([]string{"SHUTDOWN"}, strings.Fields(bad)...)...), "(error) ERR syntax error")
	}
	want(t, a.do("SHUTDOWN", "ABORT"), "(error) ERR No shutdown in progress.")
	want(t, a.do("EVAL", "return redis.pcall('shutdown')['err']", "0"), `"ERR This Redis command is not allowed from script"`)
	b.do("ACL", "SETUSER", "tom", "on", "nopass", "+@all", "-@dangerous")
	b.do("AUTH", "tom", "x")
	want(t, b.do("SHUTDOWN"), "(error) NOPERM User tom has no permissions to run the 'shutdown' command")
	b.do("AUTH", "default", "")

	// A saving SHUTDOWN may be aborted, or its save may fail.
	for _, how := range []func(){
		func() {
			want(t, b.do("SHUTDOWN", "SAVE"), "(error) ERR Errors trying to SHUTDOWN. Check logs.") // it continues
			want(t, b.do("SHUTDOWN", "abort"), "OK")
		},
		func() { work.ends <- errors.New("a secret") },
	} {
		a.send("SHUTDOWN SAVE\r\n")
		<-work.begun
		how()
		want(t, a.reply(), "(error) ERR Errors trying to SHUTDOWN. Check logs.")
	}
	select {
	case <-stopped:
		t.Fatal("it stopped")
	default:
	}
	a.send("SHUTDOWN SAVE FORCE\r\n")
	<-work.begun
	work.ends <- errors.New("a secret")
	<-stopped
	a.wantClosed()
	b.send("SHUTDOWN NOSAVE NOW\r\n")
	<-stopped
	b.wantClosed()
	if status, got := s.get(t, "/shutdown"); status != 200 || got != `{"result":"OK"}` {
		t.Errorf("over REST: %d %s", status, got)
	}
	<-stopped
	want(t, serve(t, server.Config{}).dial(t).do("SHUTDOWN"), "(error) ERR Errors trying to SHUTDOWN. Check logs.")
	if said := log.String(); strings.Count(said, "a client shuts down the server") != 3 || strings.Count(said, "a secret") != 2 {
		t.Errorf("the log says %s", said)
	}
}

// TestChanges compares rdb_changes_since_last_save with Redis 8.0 after each command: alone, in pipelines, transactions
// and scripts. A save resets it.
func TestChanges(t *testing.T) {
	real := oracle.Start(t).Dial(t)
	if v := real.Version(); v.Before("8.0") || !v.Before("8.1") {
		t.Skip("the counts are those of Redis 8.0")
	}
	work := newSaver()
	c := serve(t, server.Config{Save: work.save}).dial(t)
	theirs := func(args ...string) resp.Value { return real.Do(words(args...)...) }
	changes := func(do func(...string) resp.Value) string {
		_, after, _ := strings.Cut(string(do("INFO", "persistence").Str), "rdb_changes_since_last_save:")
		n, _, _ := strings.Cut(after, "\r\n")
		return n
	}
	for line := range strings.Lines(`SET k v
SET k v NX
SET g v
SET g w GET
SET new w GET
SET new w NX GET
SET newer w nx get
SET none w XX GET
SET get GET EX 100 GET
SET k NX XX
SETNX k v
GET k
MSET a 1 b 2 c 3
MSETNX x 1 y 2
MSETNX x 1 z 2
GETSET k w
GETSET none w
APPEND k x
INCR n
DECR n
SETBIT bits 3 0
SETRANGE k 0 ""
SETRANGE k 1 x
GETEX k
GETEX k EX 100
GETEX k PERSIST
GETDEL none2
GETDEL g
DEL a b none2
EXPIRE k 100
EXPIRE none2 100
RENAME k k2
COPY k2 k3
LPUSH l 1 2 3
RPUSHX l 4 5 5 5
RPUSHX none2 1
LPOP l
LPOP l 2
LPOP none2
SORT l ALPHA
SORT l ALPHA STORE sorted
LREM l 0 5
LSET l 0 x
LINSERT l BEFORE x y
LINSERT l BEFORE none2 y
LMOVE l l2 LEFT RIGHT
LMPOP 1 l2 LEFT COUNT 2
SADD s a b c
SADD s a
SREM s a none2
SMOVE s s2 b
SPOP s 5
SADD s2 1 2 3
SPOP s2 2
SUNIONSTORE d s2
HSET h a 1 b 2
HSET h a 1 b 3
HSETNX h a 1
HINCRBY h a -1
HEXPIRE h 100 FIELDS 3 a b none2
HEXPIRE h 100 FIELDS 1 b
HPERSIST h FIELDS 2 a b
HPERSIST h FIELDS 2 a b
HSETEX h EX 100 FIELDS 2 a 1 fields 2
HSETEX h FNX FIELDS 1 a 1
HGETEX h FIELDS 2 a none2
HGETEX h PERSIST FIELDS 2 a none2
HGETEX h EX 100 FIELDS 2 a fields
HSETEX h EXAT 1 FIELDS 1 fields 1
HGETDEL h FIELDS 2 a none2
HDEL h b none2
ZADD z 1 a 2 b 3 c 4 d
ZADD z 1 a
ZADD z CH 7 a 8 b
ZADD z NX INCR 1 a
ZADD z INCR 1 a
ZINCRBY z 1 a
ZREM z a none2
ZPOPMIN z 2
ZMPOP 1 z MIN COUNT 2
GEOADD geo 1 1 a 2 2 b
GEOSEARCHSTORE near geo FROMLONLAT 1 1 BYRADIUS 1000 km
XADD st 1-1 a b
XADD st 2-1 a b
XADD st 3-1 a b
XADD st 4-1 a b
XDEL st 1-1 5-1
XGROUP CREATE st g 0
XGROUP CREATECONSUMER st g c
XREADGROUP GROUP g c STREAMS st >
XACK st g 2-1 3-1 9-1
XTRIM st MAXLEN 0
LPUSH h x
EVAL "redis.call('set','a',1) redis.call('del','a','b')" 0
MULTI
SADD s 1 2
DEL s
EXEC
CONFIG RESETSTAT
`) {
		args, err := resp.SplitLine(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		call := make([]string, len(args))
		for i, a := range args {
			call[i] = string(a)
		}
		c.do(call...)
		theirs(call...)
		if call[0] == "MULTI" || call[0] == "SADD" && call[1] == "s" && call[2] == "1" || call[0] == "DEL" && call[1] == "s" {
			continue // INFO would be queued
		}
		if got, want := changes(c.do), changes(theirs); got != want {
			t.Fatalf("after %s there are %s changes, and in Redis %s", strings.TrimSpace(line), got, want)
		}
	}
	c.send("SET p 1\r\nSET p 2\r\nSAVE\r\n")
	for range 2 {
		want(t, c.reply(), "OK")
	}
	<-work.begun
	work.ends <- nil
	want(t, c.reply(), "OK")
	if got := changes(c.do); got != "0" {
		t.Errorf("after SAVE there are %s changes", got)
	}
}
