package repl

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Above these numbers of keys a command needs an answer first.
const (
	manyDeleted = 10     // names of one DEL or UNLINK
	manyListed  = 10_000 // keys that KEYS reads on a server
)

// dangerOf describes the damage that a command may do; "" for most commands. keys looks up how
// many keys the database has, and returns -1 if that is unknown.
func (l *loop) dangerOf(args [][]byte, keys func() int64) string {
	cmd := commands.Known(args)
	if cmd == nil || !cmd.Accepts(len(args)) {
		return ""
	}
	count := func(verb string) string {
		if n := keys(); n >= 0 {
			return fmt.Sprintf("%s %s %s keys of database %d", cmd.Name, verb, display.Grouped(n), l.db)
		}
		return cmd.Name + " " + verb + " all keys"
	}
	switch cmd.Name {
	case "FLUSHALL":
		return "FLUSHALL deletes all keys of all databases"
	case "FLUSHDB":
		return count("deletes the")
	case "SHUTDOWN":
		return "SHUTDOWN stops the server"
	case "CONFIG SET":
		return fmt.Sprintf("CONFIG SET changes the server for all clients: %s", quoteCall(args[2:]))
	case "DEL", "UNLINK":
		if n := len(args) - 1; n >= manyDeleted {
			return fmt.Sprintf("%s deletes up to %d keys", cmd.Name, n)
		}
	case "EVAL":
		if deletesByPattern(args[1]) {
			return "this script deletes keys by a pattern"
		}
	case "KEYS":
		if l.Target.Keys != nil || string(args[1]) == "" || !bytes.ContainsAny(args[1], "*?[") {
			return ""
		}
		if n := keys(); n >= manyListed {
			return fmt.Sprintf("KEYS blocks the server while it reads %s keys (SCAN does not)", display.Grouped(n))
		}
	}
	return ""
}

// deletesByPattern reports whether a script lists keys and deletes some.
func deletesByPattern(script []byte) bool {
	words := map[string]bool{}
	for _, word := range bytes.FieldsFunc(bytes.ToUpper(script), func(r rune) bool { return r < 'A' || r > 'Z' }) {
		words[string(word)] = true
	}
	script = bytes.ToUpper(script)
	lists := bytes.Contains(script, []byte("'KEYS'")) || bytes.Contains(script, []byte(`"KEYS"`)) || words["SCAN"]
	return lists && (words["DEL"] || words["UNLINK"])
}

// confirmed asks before a dangerous command, if a person types it. The target's own question
// comes first.
func (l *loop) confirmed(ctx context.Context, args [][]byte) bool {
	if l.editor == nil || l.NoQuestions {
		return true
	}
	var question string
	accepts := func(answer string) bool { return isAnswer(answer, "yes") }
	if l.Target.Confirm != nil {
		if asked, check := l.Target.Confirm(args); asked != "" {
			question, accepts = asked, check
		}
	}
	if question == "" {
		if danger := l.dangerOf(args, func() int64 { return l.keyCount(ctx) }); danger != "" {
			question = danger + ". Run it? [y/N] "
		}
	}
	if question == "" {
		return true
	}
	if answer, err := l.editor.ask(l.coloured("1;31", strings.ReplaceAll(visible(question), "\n", " "))); err == nil && accepts(answer) {
		return true
	}
	l.note("nothing was run")
	return false
}

// keyCount returns the number of keys of the database, -1 if it is unknown.
func (l *loop) keyCount(ctx context.Context) int64 {
	if l.multi {
		return -1
	}
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	l.asker.mu.Lock()
	defer l.asker.mu.Unlock()
	v, err := l.Target.Do(ctx, []byte("DBSIZE"))
	if err != nil || v.Kind != resp.Int {
		return -1
	}
	return v.Int
}
