package cluster

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
)

// redirect holds a parsed MOVED or ASK.
type redirect struct {
	slot    int
	address string
	ask     bool
}

// readRedirect reads MOVED and ASK: "MOVED 3999 127.0.0.1:6381", of the node at from.
func (s *Session) readRedirect(v resp.Value, from string) (redirect, bool) {
	moved, ask := has(v, "MOVED"), has(v, "ASK")
	if !moved && !ask {
		return redirect{}, false
	}
	words := strings.Fields(string(v.Str))
	if len(words) != 3 {
		return redirect{}, false
	}
	n, err := strconv.Atoi(words[1])
	colon := strings.LastIndexByte(words[2], ':')
	if err != nil || n < 0 || n >= slot.Count || colon < 0 {
		return redirect{}, false
	}
	host := strings.Trim(words[2][:colon], "[]")
	return redirect{slot: n, address: announced(host, words[2][colon+1:], from, s.mapped), ask: ask}, true
}
