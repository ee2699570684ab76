package server_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/server"
)

// leftOut lists the fields of INFO that redis-server has and meowdis does not, because their subject does not exist
// here or is not measured.
var leftOut = strings.Fields(`
	atomicvar_api gcc_version listener1
	client_recent_max_input_buffer client_recent_max_output_buffer
	used_memory_overhead used_memory_dataset used_memory_dataset_perc used_memory_lua used_memory_lua_human
	used_memory_vm_eval used_memory_scripts_eval number_of_functions number_of_libraries used_memory_vm_functions
	used_memory_vm_total used_memory_vm_total_human used_memory_functions used_memory_scripts used_memory_scripts_human
	mem_clients_normal io_thread_0
	expired_stale_perc expired_time_cap_reached_count expire_cycle_cpu_milliseconds
	reply_buffer_shrinks reply_buffer_expands
	eventloop_cycles eventloop_duration_sum instantaneous_eventloop_cycles_per_sec instantaneous_eventloop_duration_usec
	used_cpu_sys_main_thread used_cpu_user_main_thread
	mem_fragmentation_bytes_human total_blocking_keys_on_nokey`)

// infoFields returns the names of the fields that a server shows, by section.
func infoFields(info string) map[string][]string {
	fields, section := map[string][]string{}, ""
	for _, line := range strings.Split(info, "\r\n") {
		if name, is := strings.CutPrefix(line, "# "); is {
			section = name
			fields[section] = []string{}
		} else if name, _, is := strings.Cut(line, ":"); is {
			fields[section] = append(fields[section], name)
		}
	}
	return fields
}

// Every field of redis-server's INFO exists here or is in leftOut, and every additional field is known.
func TestInfoFields(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	c := serve(t, server.Config{}).dial(t)
	for _, call := range []string{"SET k v", "GET k", "NOSUCH"} {
		redis.Do(words(strings.Fields(call)...)...)
		c.do(strings.Fields(call)...)
	}
	want, got := infoFields(string(redis.Do(words("INFO", "everything")...).Str)), infoFields(string(c.do("INFO", "everything").Str))
	old := redis.Version().Before("8.0")
	for section, names := range want {
		switch section {
		case "Threads", "Keysizes": // meowdis has no Threads; Keysizes is shown only by name
			continue
		}
		for _, name := range names {
			if !slices.Contains(got[section], name) && !slices.Contains(leftOut, name) {
				t.Errorf("%s is missing in %s", name, section)
			}
		}
	}
	for section, names := range got {
		for _, name := range names {
			if !old && name != "meowdis" && name != "listener0" && name != "executable" && !slices.Contains(want[section], name) {
				t.Errorf("%s has %s, which redis-server has not", section, name)
			}
			if slices.Contains(leftOut, name) && section != "Clients" {
				t.Errorf("%s is not left out of %s", name, section)
			}
		}
	}
}

// statOf returns the value of a field of INFO.
func statOf(p *peer, name string) string {
	_, after, _ := strings.Cut(string(p.do("INFO", "everything").Str), "\r\n"+name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

// infoCalls lists commands; after them, the fields of INFO must equal redis-server's.
var infoCalls = strings.Split(strings.TrimSpace(`
SET k v
GET k
GET nokey
EVAL return{err='zz'} 0
DEBUG SLEEP 0
MGET k nokey k
EXISTS k nokey k
TTL k
TTL nokey
TYPE k
TYPE nokey
STRLEN k
LPUSH l a
LRANGE l 0 -1
LRANGE nokey 0 -1
HSET h f v
HGETALL h
HGETALL nokey
GETDEL nokey
GETEX k
INCR k
LPUSH k a
GET
NOSUCH a b
CONFIG NOSUCH
MULTI
GET k
LPUSH k a
EXEC
EVAL return{redis.call('GET','k'),redis.pcall('LPUSH','k','a')} 0
EVAL return(redis.call('LPUSH','k','a')) 0
EVAL nonsense 0
SCRIPT EXISTS x
EVAL return(redis.pcall('SUBSCRIBE','x')) 0
EVAL redis.pcall('GET') 0
EVAL return(redis.call('NOSUCH','x')) 0
EVAL redis.pcall('NOSUCH','x')redis.pcall('CONFIG','SET','a','b') 0
EVAL_RO return(redis.pcall('SET','k','v')) 0
DEL k l h
`), "\n")

func TestInfoCounts(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	if redis.Version().Before("8.0") {
		redis = nil // this version counts differently
	}
	c := serve(t, server.Config{}).dial(t)
	var infos [2]string
	for i, do := range []func(...string) string{
		func(args ...string) string { return string(c.do(args...).Str) },
		func(args ...string) string { return string(redis.Do(words(args...)...).Str) },
	} {
		if i == 1 && redis == nil {
			return
		}
		do("CONFIG", "RESETSTAT")
		for _, call := range infoCalls {
			do(strings.Fields(call)...)
		}
		infos[i] = do("INFO", "all")
	}
	for _, name := range []string{"keyspace_hits", "keyspace_misses", "total_commands_processed", "total_error_replies"} {
		if got, want := budgetReader(infos[0], name), budgetReader(infos[1], name); !slices.Equal(got, want) {
			t.Errorf("%s is %s, with redis-server %s", name, got, want)
		}
	}
	for _, prefix := range []string{"cmdstat_", "errorstat_"} {
		got, want := budgetReader(infos[0], prefix), budgetReader(infos[1], prefix)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\nserver:       %q\nredis-server: %q", prefix, got, want)
		}
	}
}

// budgetReader returns the lines that begin with prefix, without times.
func budgetReader(info, prefix string) (lines []string) {
	for _, line := range strings.Split(info, "\r\n") {
		if strings.HasPrefix(line, prefix) {
			if calls, rest, is := strings.Cut(line, ",usec="); is {
				_, failed, _ := strings.Cut(rest, ",rejected_calls")
				line = calls + ",rejected_calls" + failed
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// Redis 8.0's module provides the commands of vector sets.
func TestModuleCommands(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	if redis.Version().Before("8.0") {
		t.Log("there are no vector sets before 8.0")
		return
	}
	c := serve(t, server.Config{}).dial(t)
	ours := map[string]bool{}
	for _, v := range c.do("COMMAND", "LIST", "FILTERBY", "MODULE", "vectorset").Elems {
		ours[string(v.Str)] = true
	}
	for _, v := range redis.Do(words("COMMAND", "LIST", "FILTERBY", "MODULE", "vectorset")...).Elems {
		if !ours[string(v.Str)] {
			t.Errorf("%s is missing", v.Str)
		}
	}
	if len(ours) == 0 || ours["SET"] || ours["json.get"] {
		t.Errorf("the commands of vector sets are %v", ours)
	}
}

// TestEvictedScripts compares the scripts kept in the cache with redis-server.
func TestEvictedScripts(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	if redis.Version().Before("8.0") {
		t.Skip("redis-server before 7.4 keeps all scripts")
	}
	c := serve(t, server.Config{}).dial(t)
	var told [2][]string
	for i, do := range []func(...string) resp.Value{
		c.do, func(args ...string) resp.Value { return redis.Do(words(args...)...) },
	} {
		tell := func(what string, v resp.Value) { told[i] = append(told[i], what+": "+corpus.Show(v)) }
		look := func(what string) {
			info := string(do("INFO", "everything").Str)
			told[i] = append(told[i], what+": "+strings.Join(budgetReader(info, "evicted_scripts"), "")+" "+strings.Join(budgetReader(info, "number_of_cached_scripts"), ""))
		}
		source := func(n int) string { return "return " + strconv.Itoa(n) }
		exists := func(what string, numbers ...int) {
			args := []string{"SCRIPT", "EXISTS"}
			for _, n := range numbers {
				args = append(args, script.SHA1([]byte(source(n))))
			}
			tell(what, do(args...))
		}
		do("CONFIG", "RESETSTAT")
		do("SCRIPT", "FLUSH")
		for n := range 500 {
			do("EVAL", source(n), "0")
		}
		look("full")
		do("SCRIPT", "LOAD", source(1)) // may be evicted again
		do("SCRIPT", "LOAD", source(1000))
		look("loaded")
		do("EVAL", source(0), "0")
		do("EVALSHA", script.SHA1([]byte(source(2))), "0")
		exists("looked at", 3)
		for n := 500; n < 504; n++ {
			do("EVAL", source(n), "0")
		}
		do("EVAL", "nonsense", "0")
		look("beyond")
		exists("beyond", 0, 1, 2, 3, 4, 5, 6, 7, 1000)
		do("CONFIG", "RESETSTAT")
		look("reset")
		do("SCRIPT", "FLUSH")
		do("EVAL", source(0), "0")
		look("flushed")
	}
	if !slices.Equal(told[0], told[1]) {
		t.Errorf("\nserver:       %q\nredis-server: %q", told[0], told[1])
	}
}
