package value

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// opened holds an element on its own sheet, as last read.
type opened struct {
	src     *source // of the table that it was opened from
	row     record
	body    string
	own     bool // it belongs to the key itself
	missing bool // it was deleted
}

// opened returns the opened element, or nil.
func (v *viewState) opened() *opened {
	if s := v.sheet(); s != nil {
		return s.opened
	}
	return nil
}

// reload reads o again. It returns o unchanged if the target refuses the command.
func (o *opened) reload(ctx context.Context, c *client.Conn, db int, kind, key string) (*opened, error) {
	read, err := o.reread(ctx, c, db, kind, key)
	if _, refused := errors.AsType[client.Refusal](err); refused {
		return o, nil
	}
	return read, err
}

func (o *opened) reread(ctx context.Context, c *client.Conn, db int, kind, key string) (*opened, error) {
	read := &opened{src: o.src, row: slices.Clone(o.row), body: o.body, own: o.own}
	if !o.own {
		v, err := c.One(ctx, db, o.src.fetch(key, 0, firstRequest))
		if err != nil {
			return nil, err
		}
		read.find(o.src.read(0, firstRequest, v))
		return read, nil
	}
	call := keytype.Of(kind).GetCall(key, o.row[0])
	switch kind {
	case keytype.Set:
		call = client.Command("SISMEMBER", key, o.row[0])
	case keytype.ZSet:
		call = client.Command("ZSCORE", key, o.row[2])
	case keytype.Stream:
		call = client.Command("XRANGE", key, o.row[0], o.row[0])
	}
	if call == nil {
		return o, nil
	}
	v, err := c.One(ctx, db, call)
	if err != nil {
		return nil, err
	}
	if !read.applyReply(kind, v) || o.src.detailCall == nil {
		return read, nil
	}
	read.row[1] = ""
	return read, fetchDetails(ctx, c, db, o.src, key, &chunk{rows: []record{read.row}})
}

// applyReply updates o from the reply to the call that reads it, and reports whether the element
// exists.
func (o *opened) applyReply(kind string, v resp.Value) bool {
	switch kind {
	case keytype.Set:
		o.missing = client.Number(v) == 0
	case keytype.Stream:
		o.missing = len(v.Elems) == 0
	case keytype.ZSet:
		if o.missing = v.IsNull(); !o.missing {
			o.row[1] = score(v)
		}
	default:
		if o.missing = v.IsNull(); !o.missing {
			o.body = client.Text(v)
			o.row[len(o.row)-1] = o.body
		}
	}
	return !o.missing
}

// find finds the element in the table that it was opened from: the same row, else the row with the same
// name, else the only row.
func (o *opened) find(c *chunk) {
	i := slices.IndexFunc(c.rows, func(r record) bool { return slices.Equal(r, o.row) })
	if i < 0 {
		i = slices.IndexFunc(c.rows, func(r record) bool { return len(r) > 1 && r[0] == o.row[0] })
	}
	if i < 0 && len(o.row) == 1 && len(c.rows) == 1 {
		i = 0
	}
	if o.missing = i < 0; !o.missing {
		o.row, o.body = c.rows[i], c.body(i)
	}
}

// newOpened returns the sheet of an element.
func newOpened(title string, o *opened) *sheet {
	s := newWhole(title, o.body)
	s.opened = o
	return s
}

// reopen shows the element as read again. It closes a deleted element and reports that.
func (v *viewState) reopen(o *opened) (deleted bool) {
	s := v.sheet()
	if s == nil || s.opened == nil || o == nil || s.opened.src != o.src {
		return false
	}
	if o.missing {
		return v.close()
	}
	if o.body == s.whole {
		s.opened = o
		return false
	}
	now := newOpened(s.title, o)
	now.resume(s)
	v.sheets[len(v.sheets)-1] = now
	return false
}
