package inspect

import "strings"

// entry is a key of the list and what is known of it.
type entry struct {
	key       string
	kind      string // its type; "" until it is described
	size      int64  // elements or bytes; -1 where it cannot be told
	expires   int64  // Unix ms; 0 when it does not expire
	gone      int64  // when it was found gone, Unix ms; 0 while it is there
	described bool   // kind, size and expires are as the target said
}

// expired tells whether e's time is over at now.
func (e *entry) expired(now int64) bool { return e.expires != 0 && e.expires <= now }

// query is what the list shows of a database.
type query struct {
	filter string // a glob when it has * ? or [, else any part of the key
	kind   string // "": all types
}

// keyList is the keys that were scanned so far, in the target's order, and where
// the person is among them.
type keyList struct {
	query
	entries []*entry
	seen    map[string]struct{}
	next    string   // the cursor of the next page
	done    bool     // there is no next page
	coming  []*entry // what a restart found, until it is enough to replace entries
	stale   bool     // entries are the ones before a restart
	wanted  int      // how many a restart must find to replace them, unless there are fewer
	scanned int64    // how many keys were looked at, about
	count   int      // how many the next page looks at
	halted  bool     // a job failed or was cancelled: nothing starts by itself
	toEnd   bool     // load all the rest, and stay at the end
	cursor  int      // the selected entry
	top     int      // the first entry on the screen
	height  int      // entries on the screen
}

const (
	firstPage   = 500
	largestPage = 10000
)

// restart scans q from the beginning. What is shown stays until the first page
// comes, or with keep, until as many keys came as it takes to stay in place.
func (l *keyList) restart(q query, keep bool) {
	wanted := 0
	if keep && l.cursor < largestPage {
		wanted = l.top + l.height
	}
	*l = keyList{
		query: q, next: "0", count: firstPage, seen: map[string]struct{}{},
		entries: l.entries, stale: true, wanted: wanted,
		cursor: l.cursor, top: l.top, height: l.height,
	}
}

// clear forgets everything but the query, which starts again.
func (l *keyList) clear() {
	l.entries, l.cursor, l.top = nil, 0, 0
	l.restart(l.query, false)
}

// pattern is the MATCH pattern of q, "" when every key matches.
func (q query) pattern() string {
	if q.filter == "" || strings.ContainsAny(q.filter, "*?[") {
		return q.filter
	}
	return "*" + strings.ReplaceAll(q.filter, `\`, `\\`) + "*"
}

// page is the command for the next page.
func (l *keyList) page() [][]byte {
	words := []string{"SCAN", l.next, "COUNT", decimal(int64(l.count))}
	if p := l.pattern(); p != "" {
		words = append(words, "MATCH", p)
	}
	if l.kind != "" {
		words = append(words, "TYPE", l.kind)
	}
	return command(words...)
}

// add takes a page in. A key that the target repeats is shown once.
func (l *keyList) add(keys []string, next string) {
	into := &l.entries
	if l.stale {
		into = &l.coming
	}
	for _, key := range keys {
		if _, dup := l.seen[key]; dup {
			continue
		}
		l.seen[key] = struct{}{}
		*into = append(*into, &entry{key: key, kind: l.kind, size: -1})
	}
	l.scanned += int64(l.count)
	l.next, l.done = next, next == ""
	l.count = min(2*l.count, largestPage)
	if l.stale && (l.done || len(l.coming) >= l.wanted) {
		l.swap()
	}
	if l.toEnd {
		l.cursor = len(l.entries) - 1
	}
	l.toEnd = l.toEnd && !l.done
	l.clamp()
}

// swap shows what a restart found: from the top, or where the person was. What was
// known of the keys on the screen is shown until it is known anew.
func (l *keyList) swap() {
	known := map[string]*entry{}
	for _, e := range l.visible() {
		known[e.key] = e
	}
	selected := l.selected()
	l.entries, l.coming, l.stale = l.coming, nil, false
	for i, e := range l.entries {
		if old := known[e.key]; old != nil {
			e.kind, e.size, e.expires = old.kind, old.size, old.expires
		}
		if selected != nil && e.key == selected.key {
			l.top += i - l.cursor
			l.cursor = i
		}
	}
	if l.wanted == 0 {
		l.cursor, l.top = 0, 0
	}
}

// needs tells whether another page should be loaded now.
func (l *keyList) needs() bool {
	if l.done || l.halted {
		return false
	}
	return l.stale || l.toEnd || len(l.entries) < l.top+3*l.height
}

// selected is the entry under the cursor, nil when there is none.
func (l *keyList) selected() *entry {
	if l.cursor < 0 || l.cursor >= len(l.entries) {
		return nil
	}
	return l.entries[l.cursor]
}

// visible is what is on the screen.
func (l *keyList) visible() []*entry {
	from := min(l.top, len(l.entries))
	return l.entries[from:min(from+l.height, len(l.entries))]
}

// undescribed is the entries on the screen of which only the key is known.
func (l *keyList) undescribed() []*entry {
	if l.halted {
		return nil
	}
	var missing []*entry
	for _, e := range l.visible() {
		if !e.described && e.gone == 0 {
			missing = append(missing, e)
		}
	}
	return missing
}

func (l *keyList) move(n int) {
	l.toEnd, l.halted = false, false
	if l.count > firstPage && l.filter == "" {
		l.count = firstPage
	}
	l.cursor += n
	l.clamp()
}

func (l *keyList) home() { l.move(-l.cursor) }

// last goes to the last entry that is loaded.
func (l *keyList) last() { l.move(len(l.entries)) }

// end loads the rest and goes there.
func (l *keyList) end() {
	l.last()
	l.toEnd = !l.done
}

// clamp keeps the cursor on an entry, and the screen around it.
func (l *keyList) clamp() {
	n := len(l.entries)
	l.cursor = max(min(l.cursor, n-1), 0)
	l.top = max(min(l.top, l.cursor), l.cursor-l.height+1, 0)
	// While pages are still to come the list may be short for a moment only.
	if l.done {
		l.top = max(min(l.top, n-l.height), 0)
	}
}

// drop removes the entries that faded at now, of those on the screen.
func (l *keyList) drop(now int64) (dropped int) {
	kept := l.entries[:0:0]
	visible := l.visible()
	for _, e := range visible {
		if e.gone == 0 || now < e.gone+fade {
			kept = append(kept, e)
			continue
		}
		dropped++
		delete(l.seen, e.key)
	}
	if dropped == 0 {
		return 0
	}
	l.removeVisible(visible, kept)
	return dropped
}

// removeVisible replaces what is on the screen by the ones of it that are kept.
func (l *keyList) removeVisible(visible, kept []*entry) {
	current := l.selected()
	n := copy(visible, kept)
	rest := copy(l.entries[l.top+n:], l.entries[l.top+len(visible):])
	clear(l.entries[l.top+n+rest:])
	l.entries = l.entries[:l.top+n+rest]
	for i, e := range kept {
		if e == current {
			l.cursor = l.top + i
		}
	}
	l.clamp()
}

// fade is for how long a key that is gone stays on the screen, in ms.
const fade = 3000
