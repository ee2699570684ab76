package server_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// infoSteps lists calls; after each, CLIENT INFO must equal redis-server's.
var infoSteps = []string{
	"PING", "SELECT 3", "CLIENT SETNAME tom", "CLIENT SETINFO lib-name cat", "CLIENT SETINFO lib-ver 1.2",
	"WATCH a b", "WATCH a c", "UNWATCH", "CLIENT NO-EVICT on", "CLIENT NO-TOUCH on", "CLIENT NO-EVICT off", "CLIENT NO-TOUCH off",
	"CLIENT NO-TOUCH on", "CLIENT NO-EVICT on", "HELLO 3", "WATCH a", "RESET", "HELLO 2", "SUBSCRIBE x", "UNSUBSCRIBE x", "CONFIG GET x",
}

func TestClientInfo(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	if redis.Version().Before("8.0") {
		t.Log("the fields are those of 8.0")
		return
	}
	c := serve(t, server.Config{}).dial(t)
	for _, call := range infoSteps {
		got, want := clientInfo(c.do, call), clientInfo(func(args ...string) resp.Value { return redis.Do(words(args...)...) }, call)
		if got != want {
			t.Errorf("after %s\nserver:       %s\nredis-server: %s", call, got, want)
		}
	}
}

// clientInfo returns CLIENT INFO after a call, without addresses, times and sizes.
func clientInfo(do func(...string) resp.Value, call string) string {
	do(strings.Fields(call)...)
	if strings.HasPrefix(call, "SUBSCRIBE") {
		return ""
	}
	var fields []string
	for _, field := range strings.Fields(string(do("CLIENT", "INFO").Str)) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "id", "addr", "laddr", "fd", "age", "idle", "qbuf", "qbuf-free", "argv-mem", "rbs", "rbp", "tot-mem":
			value = ""
		case "flags":
			if value = strings.ReplaceAll(value, "U", ""); value == "" {
				value = "N"
			}
		}
		fields = append(fields, name+"="+value)
	}
	return strings.Join(fields, " ")
}

// CLIENT LIST shows a client's unsent output and the commands queued by MULTI.
func TestClientSizes(t *testing.T) {
	s := serve(t, server.Config{})
	c, other := s.dial(t), s.dial(t)
	other.do("MULTI")
	other.do("SET", "k", strings.Repeat("x", 1000))
	for _, field := range strings.Fields(string(c.do("CLIENT", "LIST", "ID", "2").Str)) {
		name, value, _ := strings.Cut(field, "=")
		if (name == "multi-mem" || name == "tot-mem") && len(value) != 4 {
			t.Errorf("%s is %s", name, value)
		}
		if name == "multi" && value != "1" {
			t.Errorf("multi is %s", value)
		}
	}
}
