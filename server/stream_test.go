package server_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// TestFollowing compares a copy with a replica of Redis whose link is down.
func TestFollowing(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	redis.Do(words("SET", "k", "v")...)
	redis.Do(words("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return redis.call('SET', 'a', 'b') end)\n"+
		"redis.register_function{function_name='g', callback=function() return redis.call('GET', 'k') end, flags={'no-writes'}}")...)
	redis.Do(words("REPLICAOF", "127.0.0.1", "1")...)

	path := filepath.Join(t.TempDir(), "copy.sqlite")
	file, err := local.Open(path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := serve(t, server.Config{Engine: engine.New(file)}).dial(t)
	c.do("SET", "k", "v")
	c.do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return redis.call('SET', 'a', 'b') end)\n"+
		"redis.register_function{function_name='g', callback=function() return redis.call('GET', 'k') end, flags={'no-writes'}}")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err = local.Open(path, local.Options{ReadOnly: true, WriteRefusal: "You can't write against a read only replica."}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	now := server.Following{Place: "s3://bucket/cats", TXID: 7, LastError: "no\nway", LastPoll: time.Now(), Written: time.Now()}
	c = serve(t, server.Config{Engine: engine.New(file), Replication: func() server.Replication { return server.Replication{Following: &now} }}).dial(t)

	for _, call := range [][]string{
		{"GET", "k"}, {"SET", "k", "w"}, {"EVAL", "return redis.call('SET', 'a', 'b')", "0"}, {"EVAL", "return redis.pcall('SET', 'a', 'b')", "0"},
		{"EVAL", "#!lua\nreturn redis.call('SET', 'a', 'b')", "0"}, {"EVAL", "#!lua\nreturn 1", "0"}, {"EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', 'k')", "0"},
		{"EVAL", "return redis.call('GET', 'k')", "0"}, {"FCALL", "f", "0"}, {"FCALL", "g", "0"}, {"FCALL_RO", "g", "0"},
		{"MULTI"}, {"SET", "k", "w"}, {"EXEC"}, {"MULTI"}, {"GET", "k"}, {"EXEC"}, {"PUBLISH", "a", "b"}, {"BLPOP", "l", "1"}, {"EXPIRE", "k", "1"},
		{"FLUSHALL"}, {"SWAPDB", "0", "1"}, {"FAILOVER"}, {"GETEX", "k", "PERSIST"}, {"SORT", "l", "STORE", "m"}, {"FUNCTION", "FLUSH"},
	} {
		want, got := redis.Do(words(call...)...), c.do(call...)
		if string(resp.Append2(nil, want)) != string(resp.Append2(nil, got)) {
			t.Errorf("%q: %q, not %q", call, resp.Append2(nil, got), resp.Append2(nil, want))
		}
	}
	fields := func(info string) []string { return infoFields(info)["Replication"] }
	got := fields(string(c.do("INFO", "replication").Str))
	for _, name := range fields(string(redis.Do(words("INFO", "replication")...).Str)) {
		if !slices.Contains(got, name) {
			t.Errorf("INFO has no %s", name)
		}
	}
	text := string(c.do("INFO", "replication").Str)
	for _, line := range []string{"role:slave", "master_host:s3://bucket/cats", "master_link_status:down", "slave_repl_offset:7", "follow_last_error:no; way"} {
		if !strings.Contains(text, "\r\n"+line+"\r\n") {
			t.Errorf("no %s in %s", line, text)
		}
	}
	role := c.do("ROLE")
	if want := redis.Do(words("ROLE")...); len(role.Elems) != len(want.Elems) || string(role.Elems[0].Str) != "slave" || string(role.Elems[3].Str) != "connect" || role.Elems[4].Int != 7 {
		t.Errorf("%+v, not as %+v", role, want)
	}
	now.LastError = ""
	if role := c.do("ROLE"); string(role.Elems[3].Str) != "connected" {
		t.Errorf("%+v", role)
	}
	if v := c.do("REPLICAOF", "NO", "ONE"); !v.IsError() {
		t.Error("a copy is promoted")
	}
}

// TestStreamInfo shows the state of replication to another place.
func TestStreamInfo(t *testing.T) {
	now := server.Stream{Place: "/backup", TXID: 3, LastError: errors.Join(errors.New("one"), errors.New("two")).Error(), Pending: 5}
	s := serve(t, server.Config{Replication: func() server.Replication { return server.Replication{Stream: &now} }})
	c := s.dial(t)
	text := string(c.do("INFO", "persistence").Str)
	for _, line := range []string{
		"replicate_to:/backup", "replicate_status:err", "replicate_last_time:-1", "replicate_txid:3", "replicate_pending_pages:5", "replicate_last_error:one; two",
	} {
		if !strings.Contains(text, "\r\n"+line+"\r\n") {
			t.Errorf("no %s in %s", line, text)
		}
	}
	_, page := s.get(t, "/metrics")
	for _, line := range []string{"meowdis_replicate_failing 1", "meowdis_replicate_pending_pages 5", "meowdis_replicate_last_timestamp_seconds 0"} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no %s in %s", line, page)
		}
	}
	now = server.Stream{At: time.Unix(77, 0)}
	if text := string(c.do("INFO", "persistence").Str); !strings.Contains(text, "replicate_status:ok\r\nreplicate_last_time:77\r\n") {
		t.Error(text)
	}
}
