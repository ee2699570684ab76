package edit

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/store/keytype"
)

// ttlNote lists the formats of a TTL.
const ttlNote = "90s, 12h, 2d, 1w, never, 2030-01-31"

// Expire asks for the TTL of the selected keys, or of the selected field of a hash.
func (r *Pane) Expire(s Subject) tea.Cmd {
	name, set, ok := r.ttlSubject(s)
	if !ok || !r.mayWrite() {
		return nil
	}
	r.Dialog = &form{r: r, title: "TTL of " + name, fields: []field{newField("TTL", "", ttlNote)}, make: func(v []string) (change.Change, error) {
		if strings.TrimSpace(v[0]) == "" {
			return change.Change{}, nil
		}
		at, err := parseTTL(v[0], r.Now)
		return set(at), err
	}, ask: r.confirmTTL}
	return nil
}

// Persist removes the TTL.
func (r *Pane) Persist(s Subject) tea.Cmd {
	_, set, ok := r.ttlSubject(s)
	if !ok || !r.mayWrite() {
		return nil
	}
	c := set(0)
	if c.Scopes != nil {
		return r.confirmTTL(c)
	}
	r.Emit(SelectionUsed{})
	return r.write(c)
}

// confirmTTL asks before it sets the TTL of many keys.
func (r *Pane) confirmTTL(c change.Change) tea.Cmd {
	return r.confirmBulk(c, strings.Replace(c.Title, "Removed", "Remove", 1))
}

// ttlSubject returns the name of the selection, and a function that builds the change
// of its expiry to at, in Unix ms, or to never for 0.
func (r *Pane) ttlSubject(s Subject) (name string, set func(at int64) change.Change, ok bool) {
	if e := s.Value.Subject(); e != nil && r.InValue && s.Value.Type == keytype.Hash && !s.Value.Missing {
		return r.fieldTTLSubject(s.Value.Key, e.Row[0])
	}
	keys := s.Keys
	if len(keys.Folders) > 0 || len(keys.Names) > 1 {
		return keys.String(), func(at int64) change.Change {
			c := r.bulkChange(keys, ttlTitle(keys.String(), at, r.Now), change.ExpireAt(at))
			c.Calls, _ = c.Each.FirstCalls(keys.Names) // it does not fail
			return c
		}, true
	}
	return keys.String(), func(at int64) change.Change {
		c := change.Change{Title: ttlTitle(keys.String(), at, r.Now), OnlyTTLs: true}
		c.Calls, _ = change.ExpireAt(at).FirstCalls(keys.Names)
		return c
	}, len(keys.Names) > 0
}

func (r *Pane) fieldTTLSubject(key, field string) (name string, set func(at int64) change.Change, ok bool) {
	name = display.Text(field, 30) + " of " + display.Text(key, 30)
	return name, func(at int64) change.Change {
		call := client.Command("HPERSIST", key, "FIELDS", "1", field)
		if at != 0 {
			call = client.Command("HPEXPIREAT", key, client.Decimal(at), "FIELDS", "1", field)
		}
		return change.Change{
			Title: ttlTitle(name, at, r.Now), Calls: [][][]byte{call}, OnlyTTLs: true,
			Undo: change.Undo{Build: change.UndoFieldTTL(key, field), Checks: []change.Check{{Call: client.Command(change.OnlyTTL, key, field)}}},
		}
	}, true
}

// ttlTitle describes a new TTL of keys or of a field.
func ttlTitle(name string, at, now int64) string {
	if at == 0 {
		return "Removed the TTL of " + name
	}
	return "Set the TTL of " + name + " to " + display.Remaining(at-now)
}

// parseTTL parses a TTL as a person types it, and returns the expiry in Unix ms: 0 for
// never.
func parseTTL(text string, now int64) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "never" || text == "" {
		return 0, nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339} {
		t, err := time.ParseInLocation(layout, text, time.Local)
		switch {
		case err == nil && t.UnixMilli() <= now:
			return 0, fmt.Errorf("%s is in the past", text)
		case err == nil:
			return t.UnixMilli(), nil
		}
	}
	var total time.Duration
	rest := strings.ReplaceAll(text, " ", "")
	for _, unit := range []struct {
		letter string
		days   int64
	}{{"w", 7}, {"d", 1}} {
		count, after, ok := strings.Cut(rest, unit.letter)
		if !ok {
			continue
		}
		n := client.Atoi(count)
		if n <= 0 || n > 36500/unit.days {
			return 0, invalidTTL(text)
		}
		total, rest = total+time.Duration(n*unit.days)*24*time.Hour, after
	}
	if rest != "" {
		if strings.Trim(rest, "0123456789") == "" {
			rest += "s"
		}
		d, err := time.ParseDuration(rest)
		if err != nil {
			return 0, invalidTTL(text)
		}
		total += d
	}
	if total <= 0 {
		return 0, invalidTTL(text)
	}
	return now + total.Milliseconds(), nil
}

func invalidTTL(text string) error {
	return fmt.Errorf("invalid TTL %q: use 90s, 10m, 12h, 2d, 1w, a date, or never", display.Text(text, 20))
}

// Remove deletes the selection: keys in the list, or an element of the value.
func (r *Pane) Remove(s Subject) tea.Cmd {
	v := s.Value
	if node := innerNode(v); r.InValue && node != nil {
		return r.deleteNode(v.Key, *node)
	}
	if !r.InValue || !v.Table && v.Opened == nil {
		return r.askDelete(s.Keys)
	}
	e := v.Subject()
	if e == nil || !r.mayWrite() {
		return nil
	}
	switch v.Part {
	case ui.Entries:
	case ui.Pending:
		return r.pickPendingRemoval(s)
	default:
		return r.deleteFromStream(v)
	}
	c := change.Change{Title: "Deleted " + display.Text(e.Row[0], 30), Calls: r.deleteElementCalls(v, e)}
	if c.Calls == nil {
		r.Notice = "This cannot be deleted by itself."
		return nil
	}
	if v.Type == keytype.List {
		c = c.Expecting(e.Body, keytype.Of(v.Type).GetCall(v.Key, e.Row[0])) // other clients may have moved it
	}
	return r.confirm(Confirmation{title: "Delete " + display.Text(e.Row[0], 30) + " of " + display.Text(v.Key, 30) + "?", change: c})
}

// deleteElementCalls returns the commands that delete an element, nil if none can.
func (r *Pane) deleteElementCalls(v ui.Selection, e *ui.Element) [][][]byte {
	if !e.Own {
		return nil
	}
	if v.Type == keytype.List {
		// Lists delete by value only, so the element is first set to a unique value.
		mark := fmt.Sprintf("\x00deleted at %d by the inspector\x00", r.Now)
		return [][][]byte{client.Command("LSET", v.Key, e.Row[0], mark), client.Command("LREM", v.Key, "1", mark)}
	}
	if t := keytype.Of(v.Type); t.Drop != "" {
		return [][][]byte{t.DropCall(v.Key, e.Name)}
	}
	return nil
}

// Add asks for a new key, or for a new element of the open value.
func (r *Pane) Add(s Subject) tea.Cmd {
	if !r.mayWrite() {
		return nil
	}
	if r.InValue && s.Value.Shown && !s.Value.Missing {
		if s.Value.Part != ui.Entries {
			r.addToStream(s.Value)
			return nil
		}
		return r.addElement(s.Value)
	}
	p := &ui.Picker{Title: "Add a key of type", Choose: func(kind string) tea.Cmd {
		r.addKey(kind, s.Folder)
		return nil
	}}
	for _, t := range keytype.Types {
		p.Items = append(p.Items, ui.Item{Label: t.DisplayName(), Value: t.Name})
	}
	r.Dialog = p
	return nil
}

func (r *Pane) addKey(kind, prefix string) {
	if typed, _ := screen.Typeable(prefix); typed != prefix {
		prefix = ""
	}
	fields := []field{newField("name", prefix, "")}
	for _, part := range keytype.Of(kind).Inputs {
		fields = append(fields, newField(part, "", ""))
	}
	fields = append(fields, newField("TTL", "", ttlNote))
	r.Dialog = &form{r: r, title: "New " + display.Type(kind), fields: fields, make: func(values []string) (change.Change, error) {
		name, ttl := values[0], values[len(values)-1]
		at, err := parseTTL(ttl, r.Now)
		calls := [][][]byte{keytype.Of(kind).AddCall(name, values[1:len(values)-1])}
		if at != 0 {
			calls = append(calls, client.Command("PEXPIREAT", name, client.Decimal(at)))
		}
		return change.Change{Title: "Added " + display.Text(name, 40), Calls: calls, MustBeMissing: name, Reveal: name}, err
	}}
}

func (r *Pane) addElement(v ui.Selection) tea.Cmd {
	kind, key := v.Type, v.Key
	if v.Text != nil && v.Text.Node != nil {
		r.addNode(key, *v.Text.Node)
		return nil
	}
	if keytype.Of(kind).Parts == nil {
		r.Notice = "Press " + r.KeyFor("edit") + " to edit the value."
		return nil
	}
	var fields []field
	for _, part := range keytype.Of(kind).Inputs {
		fields = append(fields, newField(part, "", ""))
	}
	r.Dialog = &form{r: r, title: "Add to " + display.Text(key, 40), fields: fields, make: func(values []string) (change.Change, error) {
		return change.Change{Title: "Added to " + display.Text(key, 40), Calls: [][][]byte{keytype.Of(kind).AddCall(key, values)}}, nil
	}}
	return nil
}
