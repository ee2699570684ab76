package inspect

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
)

// refusals remembers the commands that the target does not run for this person,
// so that what they would tell is left out and not asked again and again.
type refusals struct{ names sync.Map }

// learn takes the reply to a call in.
func (r *refusals) learn(call [][]byte, v resp.Value) {
	if v.IsError() && len(call) > 0 && isRefused(v.Str) {
		r.add(strings.ToUpper(string(call[0])))
	}
}

func (r *refusals) add(name string) { r.names.Store(name, true) }

func (r *refusals) has(name string) bool {
	_, refused := r.names.Load(name)
	return refused
}

// forgive forgets them: permissions change, and servers do.
func (r *refusals) forgive() { r.names.Clear() }

// isRefused reports whether an error reply says that a command is not to be had,
// whatever its arguments: not allowed, or not known.
func isRefused(reply []byte) bool {
	for _, beginning := range []string{"ERR unknown command", "ERR Command is not available", `ERR Command "`} {
		if bytes.HasPrefix(reply, []byte(beginning)) {
			return true
		}
	}
	return bytes.HasPrefix(reply, []byte("NOPERM")) && !bytes.Contains(reply, []byte(" key"))
}

// isForbidden reports whether an error reply says that this person may not touch
// the key, or may not run the command.
func isForbidden(v resp.Value) bool { return v.IsError() && bytes.HasPrefix(v.Str, []byte("NOPERM")) }

// refusal is an error reply.
type refusal string

// Error is what the target said, with what to do where that is not plain.
func (r refusal) Error() string {
	text := string(r)
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "MOVED", "ASK":
		if _, address, ok := strings.Cut(rest, " "); ok {
			return fmt.Sprintf("this server is one node of a cluster, and the key is on %s (%s)", address, text)
		}
	case "LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN":
		return text + " (press r to look again)"
	case "NOAUTH":
		return text + " (start with --token PASSWORD)"
	}
	return text
}

// replyError is the error that v is, or nil.
func replyError(v resp.Value) error {
	if v.IsError() {
		return refusal(v.Str)
	}
	return nil
}

// The kinds of keys whose type is not known: the person may not read the key, or
// may not ask.
const (
	closedKind  = "closed"
	unknownKind = "?"
)

// kinds finds out types and times to live, as far as the target tells them. The
// type of a key that is not there is "".
func (c *conn) kinds(ctx context.Context, db int, keys []string, now int64) ([]catalog.Facts, error) {
	var calls [][][]byte
	ask := func(name, key string) int {
		if c.refusals.has(name) {
			return -1
		}
		calls = append(calls, command(name, key))
		return len(calls) - 1
	}
	types, lives := make([]int, len(keys)), make([]int, len(keys))
	for i, key := range keys {
		types[i], lives[i] = ask("TYPE", key), ask("PTTL", key)
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	reply := func(at int) resp.Value {
		if at < 0 {
			return resp.Nil
		}
		return values[at]
	}
	found := make([]catalog.Facts, len(keys))
	for i := range found {
		if found[i], err = factsOf(reply(types[i]), reply(lives[i]), now); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// factsOf is what the replies to TYPE and PTTL tell of a key.
func factsOf(kind, pttl resp.Value, now int64) (catalog.Facts, error) {
	f := catalog.Facts{Type: text(kind), Size: -1, Bytes: -1}
	switch {
	case kind.Kind == resp.Null || kind.IsError() && isRefused(kind.Str):
		f.Type = unknownKind
	case isForbidden(kind):
		f.Type = closedKind
	case kind.IsError():
		return f, replyError(kind)
	case f.Type == "none" || number(pttl) == noSuchKey:
		return catalog.Facts{}, nil
	}
	if pttl.IsError() && !isForbidden(pttl) && !isRefused(pttl.Str) {
		return f, replyError(pttl)
	}
	if pttl.Kind == resp.Int {
		f.Expires = deadline(pttl.Int, now)
	}
	return f, nil
}

// noSuchKey is what PTTL answers for a key that is not there.
const noSuchKey = -2

// probe finds out the type of a key where TYPE is refused. A key that is of more
// than one type is not there; one that is of none is of a type that is not known.
func (c *conn) probe(ctx context.Context, db int, key string) (string, error) {
	var kinds []string
	var calls [][][]byte
	for _, t := range keytype.Types {
		if probe := t.Prober(); !c.refusals.has(probe) {
			kinds, calls = append(kinds, t.Name), append(calls, command(probe, key))
		}
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return "", err
	}
	kind, closed := unknownKind, 0
	for i, v := range values {
		switch {
		case isForbidden(v) && !isRefused(v.Str):
			closed++
		case !v.IsError() && kind != unknownKind:
			return "", nil
		case !v.IsError():
			kind = kinds[i]
		}
	}
	if closed == len(values) {
		return closedKind, nil
	}
	return kind, nil
}
