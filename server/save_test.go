package server_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

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
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(5 * time.Millisecond) {
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
	want(t, a.reply(), "(error) ERR it was not saved: the server's log says why")
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
	if said := log.String(); strings.Count(said, "a client ends the server") != 3 || strings.Count(said, "a secret") != 2 {
		t.Errorf("the log says %s", said)
	}
}
