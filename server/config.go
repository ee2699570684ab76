package server

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// parameters are the parameters of Redis that clients and tools ask for, as they
// are here.
func parameters(c Config) map[string]string {
	return map[string]string{
		"appendonly": "no", "save": "", "databases": strconv.Itoa(translator.Databases),
		"maxclients": strconv.Itoa(c.MaxClients), "maxmemory": "0", "maxmemory-policy": "noeviction",
		"notify-keyspace-events": "", "proto-max-bulk-len": strconv.Itoa(resp.MaxBulk),
		"requirepass": c.RequirePass, "slowlog-log-slower-than": "10000", "slowlog-max-len": "128",
		"tcp-keepalive": "15", "timeout": "0",
	}
}

// harmless are the parameters that may be set because nothing depends on them:
// every commit is in the file already, and there is no slow log.
var harmless = map[string]bool{
	"appendonly": true, "save": true, "slowlog-log-slower-than": true, "slowlog-max-len": true,
}

// configGet is CONFIG GET: the parameters that match any of the patterns. One
// asked for by name is answered by the name that was used.
func (s *Server) configGet(args [][]byte) resp.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := resp.EmptyMap
	for _, name := range slices.Sorted(maps.Keys(s.params)) {
		for _, pattern := range args[2:] {
			shown := name
			if strings.EqualFold(name, string(pattern)) {
				shown = string(pattern)
			} else if ok, err := path.Match(strings.ToLower(string(pattern)), name); !ok || err != nil {
				continue
			}
			reply.Elems = append(reply.Elems, resp.MakeString(shown), resp.MakeString(s.params[name]))
			break
		}
	}
	return reply
}

// configSet is CONFIG SET: all parameters change or none.
func (s *Server) configSet(args [][]byte) resp.Value {
	if len(args)%2 != 0 {
		return syntaxError
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := maps.Clone(s.params)
	seen := map[string]bool{}
	for i := 2; i < len(args); i += 2 {
		name, value := strings.ToLower(string(args[i])), string(args[i+1])
		old, known := s.params[name]
		switch {
		case !known:
			return resp.MakeError("ERR Unknown option or number of arguments for CONFIG SET - '" + string(args[i]) + "'")
		case seen[name]:
			return refusedSetting(name, "duplicate parameter")
		case value != old && !harmless[name]:
			return refusedSetting(name, "can't set immutable config")
		}
		seen[name], changed[name] = true, value
	}
	s.params = changed
	return resp.OK
}

func refusedSetting(name, why string) resp.Value {
	return resp.MakeError("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + why)
}
