package oracle

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Version is a server version, such as "8.0.2".
type Version string

// Version asks the server for its version.
func (c *Conn) Version() Version {
	c.t.Helper()
	info := string(c.Do([]byte("INFO"), []byte("server")).Str)
	_, version, _ := strings.Cut(info, "redis_version:")
	version, _, ok := strings.Cut(version, "\r\n")
	if !ok {
		c.t.Fatalf("redis-server does not say its version: %.200q", info)
	}
	return Version(version)
}

// Before reports whether v is earlier than other. Missing components count as 0.
func (v Version) Before(other Version) bool {
	a, b := strings.Split(string(v), "."), strings.Split(string(other), ".")
	for i := range max(len(a), len(b)) {
		if x, y := number(a, i), number(b, i); x != y {
			return x < y
		}
	}
	return false
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i])
	return n
}

// Doubles returns a reply of a server of the version with its doubles, in the places of
// bulk strings too, as Redis 8.0 writes them.
func (v Version) Doubles(reply resp.Value) resp.Value {
	if !v.Before("8.0") {
		return reply
	}
	switch reply.Kind {
	case resp.Double:
		return resp.MakeDouble(reply.Float)
	case resp.Bulk:
		f, err := strconv.ParseFloat(string(reply.Str), 64)
		if err == nil && strconv.FormatFloat(f, 'g', 17, 64) == string(reply.Str) {
			reply.Str = []byte(resp.FormatDouble(f))
		}
	}
	if len(reply.Elems) > 0 {
		elems := make([]resp.Value, len(reply.Elems))
		for i, e := range reply.Elems {
			elems[i] = v.Doubles(e)
		}
		reply.Elems = elems
	}
	return reply
}
