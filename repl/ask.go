package repl

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
)

// question is something that completion asks the target.
type question struct {
	about  topic
	key    string // whose elements are wanted
	group  string // of a stream, whose consumers are wanted
	kind   string // of the keys that are wanted, "" for any
	prefix string // of what is wanted
}

type topic byte

const (
	askKeys topic = iota
	askFields
	askSetMembers
	askZSetMembers
	askElements
	askGroups
	askConsumers
	askPaths
)

// kindOfKey is the type that a key has to have, "" for any: one that is
// overwritten may have any.
func kindOfKey(cmd *commands.Command, ref commands.KeyRef) string {
	if ref.Access.Names()[0] == "OW" || cmd.Flags&commands.MovableKeys != 0 && cmd.Group == "sorted-set" {
		return ""
	}
	if t, ok := keytype.OfCommand(cmd.Group, cmd.Name); ok {
		return t.Name
	}
	return ""
}

// groupOf is the group of a command, "json" for those of that module.
func groupOf(cmd *commands.Command) string {
	if strings.HasPrefix(cmd.Name, "JSON.") {
		return "json"
	}
	return cmd.Group
}

// elementQuestion is what to ask for an argument that names a part of a value, nil
// when none does.
func elementQuestion(f call, words []string, args []commands.Argument, prefix string) *question {
	if len(args) == 0 {
		return nil
	}
	q := question{prefix: prefix}
	for i, kind := range f.kinds {
		if kind == kindKey {
			q.key = words[i]
			break
		}
	}
	if q.key == "" {
		return nil
	}
	if i := slices.Index(f.args, "group"); i >= 0 {
		q.group = words[i]
	}
	about, ok := elementTopics[groupOf(f.cmd)+" "+strings.TrimRight(args[0].Name, "12")]
	if q.about = about; !ok || about == askConsumers && q.group == "" {
		return nil
	}
	return &q
}

// elementTopics are the arguments that name a part of a value, by the group of
// the command.
var elementTopics = map[string]topic{
	"hash field": askFields, "set member": askSetMembers, "sorted-set member": askZSetMembers, "geo member": askZSetMembers,
	"list element": askElements, "list pivot": askElements,
	"stream group": askGroups, "stream consumer": askConsumers, "json path": askPaths,
}

// How much is looked at for one completion. No new page begins when somebody has
// waited for patience; a page that takes pageTimeout is given up, which can cost
// the connection. A target with few keys, or a near one, is seen as a whole.
const (
	patience    = 150 * time.Millisecond
	pageTimeout = 3 * time.Second
	pageSize    = "1000"
	maxFound    = 500
)

// asker asks a session on behalf of somebody who types. The session is not used
// for anything else meanwhile.
type asker struct {
	mu     sync.Mutex // held while the session is used
	target Target
}

// use makes another target the one that is asked; one without a session is asked
// nothing. It waits for a question that is on its way.
func (a *asker) use(t Target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.target = t
}

// answer is what was found for a question.
type answer struct {
	question question
	items    []found
}

// found is a key or an element, and something about it.
type found struct{ value, about string }

// ask finds the answer in the background. The channel gives it, and is closed.
func (a *asker) ask(ctx context.Context, q question) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		defer close(done)
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.target.Session == nil || a.target.InMulti() {
			return // it would be queued
		}
		items := a.look(ctx, q)
		if len(items) == 0 && q.kind != "" {
			q.kind = ""
			items = a.look(ctx, q)
		}
		done <- answer{q, items}
	}()
	return done
}

func (a *asker) look(ctx context.Context, q question) []found {
	switch q.about {
	case askKeys:
		return a.keys(ctx, q)
	case askFields:
		return a.scan(ctx, q, []string{"HSCAN", q.key}, 2)
	case askSetMembers:
		return a.scan(ctx, q, []string{"SSCAN", q.key}, 1)
	case askZSetMembers:
		return a.scan(ctx, q, []string{"ZSCAN", q.key}, 2)
	case askElements:
		return plain(a.do(ctx, "LRANGE", q.key, "0", "99").Elems, q.prefix)
	case askGroups:
		return named(a.do(ctx, "XINFO", "GROUPS", q.key), q.prefix)
	case askConsumers:
		return named(a.do(ctx, "XINFO", "CONSUMERS", q.key, q.group), q.prefix)
	}
	return paths(a.do(ctx, "JSON.OBJKEYS", q.key, "."), q.prefix)
}

// keys finds keys. In a file they are looked up; a server is scanned.
func (a *asker) keys(ctx context.Context, q question) []found {
	if a.target.FirstKeys == nil {
		if q.kind != "" {
			return a.scan(ctx, q, []string{"SCAN"}, 1, "TYPE", q.kind)
		}
		return a.scan(ctx, q, []string{"SCAN"}, 1)
	}
	v, err := a.target.FirstKeys(ctx, []byte(q.prefix), 4*maxFound)
	if err != nil {
		return nil
	}
	var items []found
	for i := 0; i+1 < len(v.Elems) && len(items) < maxFound; i += 2 {
		if q.kind == "" || string(v.Elems[i+1].Str) == q.kind {
			items = append(items, found{value: string(v.Elems[i].Str)})
		}
	}
	return items
}

// do runs one command; a failure finds nothing.
func (a *asker) do(ctx context.Context, words ...string) resp.Value {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	v, err := a.target.Do(ctx, args...)
	if err != nil {
		return resp.Nil
	}
	return resp.Downgrade(v)
}

// scan goes through the pages of a command of the SCAN family, whose elements take
// step values.
func (a *asker) scan(ctx context.Context, q question, words []string, step int, more ...string) []found {
	pattern := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(q.prefix) + "*"
	var items []found
	cursor := "0"
	for began := time.Now(); len(items) < maxFound; {
		call := append(append(slices.Clone(words), cursor, "MATCH", pattern, "COUNT", pageSize), more...)
		v := a.do(ctx, call...)
		if len(v.Elems) != 2 {
			break
		}
		elems := v.Elems[1].Elems
		for i := 0; i+step <= len(elems); i += step {
			item := found{value: string(elems[i].Str)}
			if step == 2 {
				item.about = preview(elems[i+1].Str)
			}
			items = append(items, item)
		}
		if cursor = string(keyspace.Text(v.Elems[0])); cursor == "0" || time.Since(began) > patience {
			break
		}
	}
	slices.SortFunc(items, func(a, b found) int { return strings.Compare(a.value, b.value) })
	items = slices.CompactFunc(items, func(a, b found) bool { return a.value == b.value })
	return items[:min(len(items), maxFound)]
}

func plain(elems []resp.Value, prefix string) []found {
	var items []found
	for _, e := range elems {
		if value := string(e.Str); strings.HasPrefix(value, prefix) && !slices.Contains(items, found{value: value}) {
			items = append(items, found{value: value})
		}
	}
	return items
}

// named reads a list of flat maps that begin with "name", as XINFO gives it, and
// what else they count.
func named(v resp.Value, prefix string) []found {
	var items []found
	for _, e := range v.Elems {
		var item found
		for i := 0; i+1 < len(e.Elems); i += 2 {
			switch name, value := string(e.Elems[i].Str), e.Elems[i+1]; name {
			case "name":
				item.value = string(value.Str)
			case "pending":
				item.about = strconv.FormatInt(value.Int, 10) + " pending"
			}
		}
		if strings.HasPrefix(item.value, prefix) {
			items = append(items, item)
		}
	}
	return items
}

// paths are the paths of the members of a JSON object.
func paths(v resp.Value, prefix string) []found {
	items := []found{{value: "$"}}
	for _, e := range v.Elems {
		items = append(items, found{value: "$." + string(e.Str)})
	}
	return slices.DeleteFunc(items, func(f found) bool { return !strings.HasPrefix(f.value, prefix) })
}

// preview is the beginning of a value on one line.
func preview(b []byte) string {
	const most = 40
	text := string(resp.AppendQuoted(nil, b[:min(len(b), 4*most)], true))
	return ansi.Truncate(text[1:len(text)-1], most, "…")
}

// answered completes c with what was found.
func (c completion) answered(a answer) completion {
	quoted := strings.HasPrefix(c.typed, `"`)
	c.more = len(a.items) >= maxFound
	for _, f := range a.items {
		c.items = append(c.items, candidate{writtenWord([]byte(f.value), quoted), f.about})
	}
	return c
}
