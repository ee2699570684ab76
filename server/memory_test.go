package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/server"
)

// statsLeftOut lists the fields of redis-server's MEMORY STATS that meowdis lacks.
var statsLeftOut = strings.Fields(`clients.normal lua.caches functions.caches script.VMs db.0 overhead.total
	db.dict.rehashing.count keys.bytes-per-key dataset.percentage overhead.db.hashtable.lut overhead.db.hashtable.rehashing
	overhead.hashtable.main overhead.hashtable.expires`)

func TestMemoryStats(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	c := serve(t, server.Config{}).dial(t)
	c.do("SET", "k", "v")
	redis.Do(words("SET", "k", "v")...)
	names := map[string]string{}
	got := c.do("MEMORY", "STATS").Elems
	for pair := range slices.Chunk(got, 2) {
		names[string(pair[0].Str)] = show(pair[1])
	}
	if names["keys.count"] != "(integer) 1" {
		t.Errorf("there are %s keys", names["keys.count"])
	}
	for pair := range slices.Chunk(redis.Do(words("MEMORY", "STATS")...).Elems, 2) {
		if name := string(pair[0].Str); names[name] == "" && !slices.Contains(statsLeftOut, name) {
			t.Errorf("%s is missing", name)
		}
	}
	if text := string(c.do("MEMORY", "MALLOC-STATS").Str); !strings.Contains(text, "/memory/classes/heap/objects:bytes ") {
		t.Errorf("MEMORY MALLOC-STATS: %s", text)
	}
	// A script may hold the only connection to the store.
	want(t, c.do("EVAL", "return redis.call('MEMORY', 'STATS')", "0"),
		"(error) ERR This Redis command is not allowed from script script: "+strings.TrimPrefix(string(c.do("SCRIPT", "LOAD", "return redis.call('MEMORY', 'STATS')").Str), " ")+", on @user_script:1.")
}
