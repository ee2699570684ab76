package keyspace

import (
	"bytes"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Refusal is the error reply to a command that the operation cannot do without.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Refusals remembers the commands that a server refuses to run for a client, so they are not
// sent again and their results are left out. The zero Refusals is empty. It is safe for
// concurrent use.
type Refusals struct{ replies sync.Map } // error replies by command

// Record records a refusal if v, the reply to call, is one.
func (r *Refusals) Record(call [][]byte, v resp.Value) {
	if len(call) > 0 && Refused(v) {
		r.replies.Store(strings.ToUpper(string(call[0])), v)
	}
}

// Add records that the server does not have a command or an option.
func (r *Refusals) Add(name string) { r.replies.Store(name, resp.MakeError("ERR unknown command")) }

// Has reports whether a command is known to be refused.
func (r *Refusals) Has(name string) bool {
	_, refused := r.replies.Load(name)
	return refused
}

// lacks reports whether the server is known to lack a command.
func (r *Refusals) lacks(name string) bool {
	v, _ := r.replies.Load(name)
	reply, refused := v.(resp.Value)
	return refused && Unknown(reply)
}

// forbids returns the error reply to a command that the server has but the client may not run.
func (r *Refusals) forbids(name string) (resp.Value, bool) {
	v, _ := r.replies.Load(name)
	reply, refused := v.(resp.Value)
	return reply, refused && !Unknown(reply)
}

// Clear forgets all refusals, as permissions and servers change.
func (r *Refusals) Clear() { r.replies.Clear() }

// Unknown reports whether v says that the server does not have the command, in the words of
// Redis, Upstash, early meowdis or other servers.
func Unknown(v resp.Value) bool {
	if !v.IsError() {
		return false
	}
	text := strings.ToLower(strings.TrimPrefix(string(v.Str[:min(len(v.Str), 64)]), "ERR "))
	for _, beginning := range []string{"unknown command", "command is not available", "unsupported command", "command not supported", `command "`} {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

// Forbidden reports whether v says that the client may not access the key or run the command.
func Forbidden(v resp.Value) bool { return v.IsError() && bytes.HasPrefix(v.Str, []byte("NOPERM")) }

// Refused reports whether v refuses a command regardless of its arguments: unknown or not
// permitted.
func Refused(v resp.Value) bool {
	return Unknown(v) || Forbidden(v) && !bytes.Contains(v.Str, []byte(" key"))
}
