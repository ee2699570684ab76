package inspect

import (
	"context"
	"errors"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// countMsg is the number of keys in the database, -1 when the target does not tell.
type countMsg int64

func (m *Model) count() tea.Cmd {
	db := m.db
	return m.start(counting, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, command("DBSIZE"))
		if m.conn.refusals.has("DBSIZE") {
			return countMsg(-1), nil
		}
		return countMsg(number(v)), err
	})
}

// described is what was found out about some names.
type described struct {
	names []string
	facts []catalog.Facts
}

func (m *Model) ask(names []string) tea.Cmd {
	db := m.db
	return m.start(describing, func(ctx context.Context) (tea.Msg, error) {
		if m.options.Index == nil {
			found, err := m.conn.describe(ctx, db, names, m.options.Now())
			return described{names, found}, err
		}
		d := described{names: names}
		entries, err := m.options.Index.Facts(ctx, db, names)
		for _, e := range entries {
			d.facts = append(d.facts, e.Facts)
		}
		return d, err
	})
}

// describe finds out the facts of keys at now, in two round trips: the command
// that tells the size depends on the type. The type of a key that is not there is
// "".
func (c *conn) describe(ctx context.Context, db int, keys []string, now int64) ([]catalog.Facts, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := c.kinds(ctx, db, keys, now)
	if err != nil {
		return nil, err
	}
	var sized []int
	var calls [][][]byte
	for i, f := range found {
		if src := sourceOf(f.Type); src != nil && src.count != "" {
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
			found[i].Size = number(values[j])
		}
	}
	return found, nil
}

// describe takes facts in.
func (m *Model) describe(d described) {
	for i, name := range d.names {
		at := m.keys.find(name, false)
		if at < 0 {
			continue
		}
		r := &m.keys.rows[at]
		r.stale = false
		if d.facts[i].Type == "" {
			r.gone = m.now
			m.forget(name)
			continue
		}
		r.Facts, r.gone = d.facts[i], 0
	}
}

// open shows the value of key.
func (m *Model) open(key string) tea.Cmd {
	m.value.wanted, m.value.any, m.value.halted = key, true, false
	m.cancelValue()
	db, from := m.db, firstLink
	if v := &m.value; v.loaded && v.key == key && len(v.sheets) > 0 {
		from = v.sheets[0].begins()
	}
	return m.start(opening, func(ctx context.Context) (tea.Msg, error) {
		return m.conn.open(ctx, db, key, from, m.options.Now())
	})
}

// open fetches the facts of key and the beginning of its value, as many elements as from
// says.
func (c *conn) open(ctx context.Context, db int, key string, from link, now int64) (tea.Msg, error) {
	found, err := c.kinds(ctx, db, []string{key}, now)
	if err != nil {
		return nil, err
	}
	o := opened{key: key, kind: found[0].Type, expires: found[0].Expires, size: -1, from: from}
	if o.kind == unknownKind {
		if o.kind, err = c.probe(ctx, db, key); err != nil {
			return nil, err
		}
	}
	src := sourceOf(o.kind)
	if src == nil {
		return o, nil
	}
	if src.atOnce {
		if o.tooLarge, err = c.outweighs(ctx, db, key); o.tooLarge || err != nil {
			return o, err
		}
	}
	calls := [][][]byte{src.fetch(key, 0, from)}
	if src.count != "" {
		calls = append(calls, command(src.count, key))
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if err := replyError(v); err != nil && (i == 0 || src.per > 0 || !isRefused(v.Str)) {
			return nil, err
		}
	}
	o.first = src.read(0, from, values[0])
	if n := o.first.fitting(perChunk); src.repeats && from == firstLink && n > probed && o.first.next != "" {
		// A page of a scan is in an order of its own: one page is read more easily than two.
		o.from.n = n
		v, err := c.one(ctx, db, src.fetch(key, 0, o.from))
		if err != nil {
			return nil, err
		}
		o.first = src.read(0, o.from, v)
	}
	if src.repeats {
		o.firsts = newFirsts()
		o.firsts.keep(0, o.first)
	}
	switch {
	case src.count == "":
		o.size = int64(o.first.size)
	case !values[1].IsError():
		o.size = number(values[1])
	}
	return o, c.complete(ctx, db, src, key, o.first)
}

// mostAtOnce is the largest value, in bytes of the target's memory, that is fetched
// as a whole.
const mostAtOnce = 64 << 20

// outweighs reports whether a value is too large to be fetched as a whole. Where the
// target does not tell, it is not.
func (c *conn) outweighs(ctx context.Context, db int, key string) (bool, error) {
	if c.refusals.has("MEMORY") {
		return false, nil
	}
	values, err := c.do(ctx, db, command("MEMORY", "USAGE", key))
	return err == nil && number(values[0]) > mostAtOnce, err
}

// paged is chunk i of a sheet.
type paged struct {
	sheet *sheet
	i     int
	from  link
	chunk *chunk
}

func (m *Model) fetch(s *sheet, i int, from link) tea.Cmd {
	db, key := m.db, m.value.key
	return m.start(paging, func(ctx context.Context) (tea.Msg, error) {
		c, err := m.conn.chunk(ctx, db, s, key, i, from)
		return paged{s, i, from, c}, err
	})
}

func (m *Model) page(p paged) {
	if p.sheet.numbered() && p.from.n != int(p.sheet.per) {
		return // meanwhile the chunks have other numbers
	}
	p.sheet.add(p.i, p.chunk)
}

// decoded is a value that was fetched as a whole, laid out.
type decoded struct {
	sheet *sheet
	doc   *document
}

// decode fetches a string that is longer than a window, but not too long to be
// decoded.
func (m *Model) decode(s *sheet) tea.Cmd {
	s.tried = true
	db, key := m.db, m.value.key
	return m.start(decoding, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, command("GETRANGE", key, "0", "-1"))
		if err != nil {
			return nil, err
		}
		return decoded{s, newDocument(string(v.Str))}, nil
	})
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

// survey counts the keys of each database until the target refuses one; -1 where
// it does not count.
func (c *conn) survey(ctx context.Context) (surveyed, error) {
	var found surveyed
	for db := range databases {
		v, err := c.one(ctx, db, command("DBSIZE"))
		var no refusal
		if c.refusals.has("DBSIZE") {
			return slices.Repeat(surveyed{-1}, databases), nil
		}
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
