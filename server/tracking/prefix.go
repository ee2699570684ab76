package tracking

import (
	"maps"
	"slices"
)

// prefix holds the clients of a tracked prefix.
type prefix struct {
	clients map[int64]*client
	changed map[string][]int64 // changed keys of the current events, with the clients that changed them
}

func (t *Table) join(c *client, name string) {
	p := t.prefixes[name]
	if p == nil {
		p = &prefix{clients: map[int64]*client{}}
		t.prefixes[name] = p
		t.lengths[len(name)]++
	}
	p.clients[c.id], c.prefixes[name] = c, true
}

func (t *Table) leave(c *client, name string) {
	p := t.prefixes[name]
	if delete(p.clients, c.id); len(p.clients) > 0 {
		return
	}
	delete(t.prefixes, name)
	if t.lengths[len(name)]--; t.lengths[len(name)] == 0 {
		delete(t.lengths, len(name))
	}
}

// recordChange records the change of a key for its prefixes.
func (t *Table) recordChange(key []byte, by int64) {
	for n := range t.lengths {
		if n > len(key) {
			continue
		}
		p := t.prefixes[string(key[:n])]
		if p == nil {
			continue
		}
		if p.changed == nil {
			p.changed = map[string][]int64{}
		}
		if who := p.changed[string(key)]; !slices.Contains(who, by) {
			p.changed[string(key)] = append(who, by)
		}
	}
}

// broadcast notifies clients of keys in their prefixes that other clients changed. Flush reports their own changes.
func (t *Table) broadcast() {
	for _, name := range slices.Sorted(maps.Keys(t.prefixes)) {
		p := t.prefixes[name]
		if len(p.changed) == 0 {
			continue
		}
		all := &Message{}
		for _, key := range slices.Sorted(maps.Keys(p.changed)) {
			all.Keys = append(all.Keys, []byte(key))
		}
		for _, id := range slices.Sorted(maps.Keys(p.clients)) {
			t.notify(p.clients[id], name, p, all)
		}
		p.changed = nil
	}
}

// notify notifies one client of the keys of a prefix.
func (t *Table) notify(c *client, name string, p *prefix, all *Message) {
	m := &Message{}
	for _, key := range all.Keys {
		who := p.changed[string(key)]
		own := slices.Contains(who, c.id)
		if own && !c.NoLoop {
			c.addPending(name, string(key))
		}
		if !own || len(who) > 1 {
			m.Keys = append(m.Keys, key)
		}
	}
	switch len(m.Keys) {
	case 0:
	case len(all.Keys):
		t.send(c, all, false)
	default:
		t.send(c, m, false)
	}
}

func (c *client) addPending(prefix, key string) {
	if c.pending == nil {
		c.pending = map[string]map[string]bool{}
	}
	if c.pending[prefix] == nil {
		c.pending[prefix] = map[string]bool{}
	}
	c.pending[prefix][key] = true
}

// Flush notifies a client of its own changes to keys in its prefixes and reports whether there were any. It must be
// called after the client has all replies.
func (t *Table) Flush(id int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[id]
	if c == nil || c.pending == nil {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(c.pending)) {
		m := &Message{}
		for _, key := range slices.Sorted(maps.Keys(c.pending[name])) {
			m.Keys = append(m.Keys, []byte(key))
		}
		t.send(c, m, true)
	}
	c.pending = nil
	return true
}
