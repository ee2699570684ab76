package keyspace

import (
	"bytes"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Refusal is an error reply to a command that the work could not do without.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Refusals remembers the commands that a server does not run for a client, so that what
// they would report is left out, and not asked again and again. The zero Refusals has none.
// Many goroutines may use it.
type Refusals struct{ replies sync.Map } // the error replies by command

// Learn takes the reply to a call in.
func (r *Refusals) Learn(call [][]byte, v resp.Value) {
	if len(call) > 0 && Refused(v) {
		r.replies.Store(strings.ToUpper(string(call[0])), v)
	}
}

// Add notes that the server does not have a command, or one of its options.
func (r *Refusals) Add(name string) { r.replies.Store(name, resp.MakeError("ERR unknown command")) }

// Has reports whether a command is known to be refused.
func (r *Refusals) Has(name string) bool {
	_, refused := r.replies.Load(name)
	return refused
}

// lacks reports whether the server is known not to have a command.
func (r *Refusals) lacks(name string) bool {
	v, _ := r.replies.Load(name)
	reply, refused := v.(resp.Value)
	return refused && Unknown(reply)
}

// forbids is the reply to a command that the server has and this client may not run.
func (r *Refusals) forbids(name string) (resp.Value, bool) {
	v, _ := r.replies.Load(name)
	reply, refused := v.(resp.Value)
	return reply, refused && !Unknown(reply)
}

// Forgive forgets them: permissions change, and servers do.
func (r *Refusals) Forgive() { r.replies.Clear() }

// Unknown reports whether a reply says that the server does not have the command, in
// Redis's words, Upstash's, or those of the first meowdis and others.
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

// Forbidden reports whether an error reply says that this client may not touch the key, or
// may not run the command.
func Forbidden(v resp.Value) bool { return v.IsError() && bytes.HasPrefix(v.Str, []byte("NOPERM")) }

// Refused reports whether an error reply says that a command is not to be had, whatever
// its args: not allowed, or not known.
func Refused(v resp.Value) bool {
	return Unknown(v) || Forbidden(v) && !bytes.Contains(v.Str, []byte(" key"))
}
