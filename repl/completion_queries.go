package repl

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// question queries the target for completions.
type question struct {
	about  topic
	key    string         // the key whose elements are wanted
	of     *keytype.Type  // the type of that key
	group  string         // the group whose consumers are wanted
	kind   string         // the type of the wanted keys, "" for any
	prefix string         // prefix of the wanted names
	fuzzy  bool           // the names contain the characters of prefix in order
	list   *listing       // for askListed
	search *indexQuestion // for askIndexes, askFields and askQuery
}

type topic byte

const (
	askKeys topic = iota
	askElements
	askGroups
	askConsumers
	askPaths
	askListed
	askIndexes
	askFields
	askQuery
)

// kindOfKey returns the type that a key must have, "" for any. A key that is overwritten
// may have any type.
func kindOfKey(cmd *commands.Command, ref commands.KeyRef) string {
	if ref.Access.Names()[0] == "OW" || cmd.Flags&commands.MovableKeys != 0 && cmd.Group == "sorted-set" {
		return ""
	}
	if t, ok := keytype.OfCommand(cmd.Group, cmd.Name); ok {
		return t.Name
	}
	return ""
}

// groupOf returns the group of a command, "json" for JSON.* commands.
func groupOf(cmd *commands.Command) string {
	if strings.HasPrefix(cmd.Name, "JSON.") {
		return "json"
	}
	return cmd.Group
}

// elementQuestion returns the query for an argument that names part of a value, nil for
// other arguments.
func elementQuestion(f call, words []string, args []commands.Argument, prefix string) *question {
	if len(args) == 0 {
		return nil
	}
	q := question{prefix: prefix}
	if q.list = listingOf(f.cmd, args); q.list != nil {
		q.about = askListed
		return &q
	}
	for i, kind := range f.kinds {
		if kind == kindKey {
			q.key = words[i]
			break
		}
	}
	if q.key == "" && f.cmd.Group != "stream" {
		return nil
	}
	if i := slices.Index(f.args, "group"); i >= 0 {
		q.group = words[i]
	}
	name := strings.TrimRight(args[0].Name, "12")
	if name == "id" {
		if q.list = idsOf(f.cmd.Name, q.key, q.group); q.list != nil {
			q.about = askListed
			return &q
		}
	}
	q.of, _ = keytype.OfCommand(f.cmd.Group, f.cmd.Name)
	about, ok := argumentTopics[groupOf(f.cmd)+" "+name]
	if !ok && q.of != nil && namesElement(q.of, name) {
		about, ok = askElements, true
	}
	named := about == askGroups || about == askConsumers && q.group != "" // with a stream or without
	if q.about = about; !ok || !named && (about == askConsumers || q.key == "") {
		return nil
	}
	return &q
}

// argumentTopics maps "GROUP ARGUMENT" to the topic of the argument; see namesElement for
// arguments that name an element.
var argumentTopics = map[string]topic{
	"list pivot": askElements, "stream group": askGroups, "stream consumer": askConsumers, "json path": askPaths,
}

// namesElement reports whether an argument with this name identifies an element.
func namesElement(t *keytype.Type, name string) bool {
	return t.Form == keytype.Flat && len(t.Parts) > 0 && (name == t.Parts[0] || len(t.Parts) == 1 && name == t.One)
}

// Limits of one completion. Scanning starts no new page after Target.LookupTime. A page that takes
// longer than pageTimeout is abandoned, which can cost the connection. A target that is
// small or near is scanned completely.
const (
	lookupTime  = 150 * time.Millisecond
	pageTimeout = 3 * time.Second
	pageSize    = "1000"
	maxFound    = 500
)

// asker queries a session for completion. While a query runs, nothing else may use the
// session.
type asker struct {
	mu      sync.Mutex // held while the session is used
	target  Target
	why     string           // why the last query got no answer
	partial bool             // the last query did not look at everything
	rest    *keySearch       // the rest of the last query, nil if it is complete
	now     func() time.Time // nil for the system clock
}

func (a *asker) clock() time.Time {
	if a.now != nil {
		return a.now()
	}
	return time.Now()
}

// setTarget switches to another target, after the running query. A target without a
// session is not queried.
func (a *asker) setTarget(t Target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.target = t
}

// answer holds the result of a question.
type answer struct {
	question question
	items    []foundItem
	why      string // the reason for an empty list
	partial  bool   // there may be more items
	// searching means that another answer follows.
	searching bool
}

// foundItem holds a key or an element, and a note about it.
type foundItem struct{ value, about string }

// ask runs a query in the background. It sends the answer and closes the channel.
func (a *asker) ask(ctx context.Context, q question) <-chan answer {
	return a.search(ctx, q, func() bool { return false })
}

// search is ask for a caller that takes further answers: it continues a search that would take long while wanted
// returns true. A new answer replaces one that the caller has not received.
func (a *asker) search(ctx context.Context, q question, wanted func() bool) <-chan answer {
	done := make(chan answer, 1)
	send := func(found answer) {
		select {
		case <-done:
		default:
		}
		done <- found
	}
	go func() {
		defer close(done)
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case a.target.Session == nil:
			return
		case a.target.InMulti():
			send(answer{question: q, why: "completion is off inside MULTI: its queries would be queued"})
			return
		}
		err := store.Caught(func() error {
			found := a.answer(ctx, q)
			found.searching = a.rest != nil && wanted()
			if send(found); found.searching {
				a.continueSearch(wanted, send)
			}
			return nil
		})
		if err != nil {
			send(answer{question: q, why: "internal error: " + err.Error()})
		}
	}()
	return done
}

// answer runs a query.
func (a *asker) answer(ctx context.Context, q question) answer {
	a.why, a.partial, a.rest = "", false, nil
	items := a.find(ctx, q)
	if q.fuzzy = len(items) == 0 && q.mayBeFuzzy(); q.fuzzy {
		items = a.find(ctx, q)
	}
	if q.fuzzy = q.fuzzy && len(items) > 0; a.why != "" && q.kind != "" { // SCAN has TYPE since Redis 6
		a.why, q.kind = "", ""
		items = a.find(ctx, q)
	}
	return a.answerWith(q, items)
}

func (a *asker) answerWith(q question, items []foundItem) answer {
	found := answer{question: q, items: items, partial: a.partial}
	if len(items) == 0 {
		found.why = q.notFoundText(a)
	}
	return found
}

func (a *asker) find(ctx context.Context, q question) []foundItem {
	switch q.about {
	case askKeys:
		return a.keys(ctx, q)
	case askElements:
		return a.elements(ctx, q)
	case askGroups, askConsumers:
		return a.groupItems(ctx, q)
	case askListed:
		return a.listedItems(ctx, q)
	case askIndexes:
		return a.indexes(ctx, q)
	case askFields:
		return a.fieldItems(ctx, q)
	case askQuery:
		return a.queryItems(ctx, q)
	}
	return a.pathsIn(ctx, q)
}

// keys finds keys: by index in a file, by SCAN on a server.
func (a *asker) keys(ctx context.Context, q question) []foundItem {
	switch {
	case a.target.Keys != nil:
		return a.indexedKeys(ctx, q)
	case q.kind != "":
		return a.scan(ctx, q, []string{"SCAN"}, 1, "TYPE", q.kind)
	}
	return a.scan(ctx, q, []string{"SCAN"}, 1)
}

// elements finds elements of a key by their names; only the first ones if the type has no
// SCAN command.
func (a *asker) elements(ctx context.Context, q question) (items []foundItem) {
	if q.of.Scan != "" {
		return a.scan(ctx, q, []string{q.of.Scan, q.key}, len(q.of.Parts))
	}
	const most = 1000
	elements, _, _ := q.of.Elements(a.call(ctx, q.of.PageAt([]byte(q.key), "", most)), "", most)
	for _, parts := range elements {
		item := foundItem{value: string(parts[0])}
		if len(parts) > 1 {
			item.about = preview(parts[1])
		}
		if q.accepts(item.value) && !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	return q.sorted(items)
}

// do runs one command. On failure it returns nil and sets why.
func (a *asker) do(ctx context.Context, words ...string) resp.Value {
	return a.call(ctx, keyspace.Call(words...))
}

func (a *asker) call(ctx context.Context, args [][]byte) resp.Value {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	v, err := a.target.Do(ctx, args...)
	switch {
	case ctx.Err() != nil && err != nil:
		a.why = fmt.Sprintf("the server is slow: no reply in %s", duration(pageTimeout))
	case err != nil:
		a.why = "Error: " + err.Error()
	case v.IsError():
		a.why = "(error) " + string(v.Str)
	default:
		return resp.Downgrade(v)
	}
	return resp.Nil
}

// scan reads the pages of a SCAN command, whose elements consist of step values each.
func (a *asker) scan(ctx context.Context, q question, words []string, step int, more ...string) []foundItem {
	pattern := q.pattern()
	var items []foundItem
	cursor := "0"
	for began := a.clock(); len(items) < maxFound; {
		call := append(append(slices.Clone(words), cursor, "MATCH", pattern, "COUNT", pageSize), more...)
		v := a.do(ctx, call...)
		if len(v.Elems) != 2 {
			break
		}
		elems := v.Elems[1].Elems
		for i := 0; i+step <= len(elems); i += step {
			item := foundItem{value: string(elems[i].Str)}
			if step == 2 {
				item.about = preview(elems[i+1].Str)
			}
			items = append(items, item)
		}
		if cursor = string(keyspace.Text(v.Elems[0])); cursor == "0" {
			break
		}
		if a.partial = a.clock().Sub(began) > a.target.lookupTime(); a.partial {
			break
		}
	}
	items = q.sorted(items)
	return items[:min(len(items), maxFound)]
}

// namedItems reads a list of flat maps as XINFO returns them: the name, and the number of
// pending entries.
func namedItems(v resp.Value, prefix string) []foundItem {
	var items []foundItem
	for _, e := range v.Elems {
		var item foundItem
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

// preview returns the beginning of a value on one line.
func preview(b []byte) string {
	const most = 40
	text := string(resp.AppendQuoted(nil, b[:min(len(b), 4*most)], true))
	return ansi.Truncate(text[1:len(text)-1], most, "…")
}

// withAnswer returns c with the items of an answer.
func (c completion) withAnswer(a answer) completion {
	c.why = a.why
	quoted := strings.HasPrefix(c.typed, `"`)
	c.more = a.partial || len(a.items) >= maxFound
	c.searching = a.searching
	c.fuzzy = a.question.fuzzy
	rare := slices.IndexFunc(c.items, func(token candidate) bool { return usageRank[token.text] > 0 })
	if rare < 0 {
		rare = len(c.items)
	}
	tokens := c.items
	c.items = slices.Clone(tokens[:rare])
	for _, f := range a.items {
		text := ""
		if c.write != nil {
			text = c.write(f.value)
		} else {
			text = quoteWord([]byte(f.value), quoted)
		}
		c.items = append(c.items, candidate{text, f.about})
	}
	c.items = append(c.items, tokens[rare:]...) // keys and elements are typed more often than rare options
	return c
}
