package inspect

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/resp"
)

// countMsg is the number of keys in the database.
type countMsg int64

func (m *Model) count() tea.Cmd {
	db := m.db
	return m.start(counting, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, command("DBSIZE"))
		return countMsg(number(v)), err
	})
}

// pageMsg is a page of keys.
type pageMsg struct {
	keys []string
	next string
}

func (m *Model) scan() tea.Cmd {
	db, call := m.db, m.keys.page()
	return m.start(scanning, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, call)
		if err != nil {
			return nil, err
		}
		next, elems := cursorReply(v)
		page := pageMsg{next: next}
		for _, e := range elems {
			page.keys = append(page.keys, text(e))
		}
		return page, nil
	})
}

// described is what was found out about some entries.
type described struct {
	entries []*entry
	facts   []facts
}

// facts is what is known of a key: "none" is the kind of one that is not there.
type facts struct {
	kind string
	pttl int64
	size int64 // -1 where it cannot be told
}

func (m *Model) ask(entries []*entry) tea.Cmd {
	db := m.db
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.key
	}
	return m.start(describing, func(ctx context.Context) (tea.Msg, error) {
		found, err := m.conn.describe(ctx, db, keys)
		return described{entries, found}, err
	})
}

// describe finds out the facts of keys in two round trips: the command that
// tells the size depends on the type.
func (c *conn) describe(ctx context.Context, db int, keys []string) ([]facts, error) {
	found, err := c.kinds(ctx, db, keys)
	if err != nil {
		return nil, err
	}
	var sized []int
	var calls [][][]byte
	for i, f := range found {
		if src := sources[f.kind]; src != nil {
			sized = append(sized, i)
			calls = append(calls, command(src.count, keys[i]))
		}
	}
	if len(calls) == 0 {
		return found, nil
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	for j, i := range sized {
		// Between the two trips the key may have changed its type: an error here
		// means only that the size is not known.
		if !values[j].IsError() {
			found[i].size = number(values[j])
		}
	}
	return found, nil
}

func (c *conn) kinds(ctx context.Context, db int, keys []string) ([]facts, error) {
	var calls [][][]byte
	for _, key := range keys {
		calls = append(calls, command("TYPE", key), command("PTTL", key))
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	found := make([]facts, len(keys))
	for i := range found {
		kind, pttl := values[2*i], values[2*i+1]
		if err := errors.Join(replyError(kind), replyError(pttl)); err != nil {
			return nil, err
		}
		found[i] = facts{text(kind), number(pttl), -1}
	}
	return found, nil
}

// describe takes facts in.
func (m *Model) describe(d described) {
	for i, e := range d.entries {
		f := d.facts[i]
		e.described = true
		if f.kind == "none" {
			e.gone = m.now
			continue
		}
		e.kind, e.size, e.expires = f.kind, f.size, deadline(f.pttl, m.now)
	}
}

// open shows the value of key.
func (m *Model) open(key string) tea.Cmd {
	m.value.wanted, m.value.any, m.value.halted = key, true, false
	m.cancel(paging)
	db := m.db
	return m.start(opening, func(ctx context.Context) (tea.Msg, error) {
		return m.conn.open(ctx, db, key)
	})
}

// open fetches the facts of key and the beginning of its value.
func (c *conn) open(ctx context.Context, db int, key string) (tea.Msg, error) {
	found, err := c.kinds(ctx, db, []string{key})
	if err != nil {
		return nil, err
	}
	o := opened{key: key, kind: found[0].kind, pttl: found[0].pttl, size: -1}
	src := sources[o.kind]
	if src == nil {
		return o, nil
	}
	calls := [][][]byte{command(src.count, key)}
	if src.fetch != nil {
		calls = append(calls, src.fetch(key, 0, "0"))
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if err := replyError(v); err != nil {
			return nil, err
		}
	}
	o.size = number(values[0])
	if src.fetch != nil {
		o.first = src.decode(0, values[1])
	}
	return o, nil
}

// paged is chunk i of a sheet.
type paged struct {
	sheet *sheet
	i     int
	value resp.Value
}

func (m *Model) fetch(s *sheet, i int, call [][]byte) tea.Cmd {
	db := m.db
	return m.start(paging, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, call)
		return paged{s, i, v}, err
	})
}

func (m *Model) page(p paged) {
	p.sheet.add(p.i, p.sheet.src.decode(int64(p.i), p.value))
}

// surveyed is the number of keys of each database that the target has.
type surveyed []int64

// databases is how many a target is asked for.
const databases = 16

func (m *Model) survey() tea.Cmd {
	return m.start(surveying, func(ctx context.Context) (tea.Msg, error) {
		return m.conn.survey(ctx)
	})
}

// survey counts the keys of each database until the target refuses one.
func (c *conn) survey(ctx context.Context) (surveyed, error) {
	var found surveyed
	for db := range databases {
		v, err := c.one(ctx, db, command("DBSIZE"))
		var no refusal
		if errors.As(err, &no) && db > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		found = append(found, number(v))
	}
	return found, nil
}
