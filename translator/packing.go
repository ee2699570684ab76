package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// packing holds the packed rows of a statement, if they are many. The first width cells of a row are elements of the
// reply, blobs or doubles.
type packing struct {
	width int
	bySeq bool // the last cell is the element's seq, which orders the reply
	rows  *resp.Packed

	reversed bool
}

// pack lets the store pack the rows of s. It returns nil if the reply must not be packed.
func (c *Call) pack(s *store.Stmt, width int, bySeq bool) *packing {
	if !c.Env.Reply.MayPack {
		return nil
	}
	p := &packing{width: width, bySeq: bySeq}
	s.Pack = p.begin
	return p
}

func (p *packing) begin() func(store.Row) int64 {
	p.rows, p.reversed = resp.NewPacked(p.width), false
	return p.add
}

func (p *packing) add(row store.Row) int64 {
	before, seq, size := p.rows.Size(), int64(0), 0
	for i := range row[:p.width] {
		size += len(row[i].Bytes())
	}
	if p.bySeq {
		seq = row[len(row)-1].Int()
	}
	p.rows.Row(seq, size)
	for i := range row[:p.width] {
		if row[i].Kind() == store.Real {
			p.rows.Double(row[i].Float())
		} else {
			p.rows.Bulk(row[i].Bytes())
		}
	}
	return p.rows.Size() - before
}

// reply returns the reply if the store packed the rows.
func (p *packing) reply(kind resp.Kind, w *store.Work) (v resp.Value, packed bool) {
	if p == nil || p.rows == nil {
		return v, false
	}
	if p.bySeq {
		w.Grow(p.rows.SortBytes())
		p.rows.Sort(w.Step)
	}
	return resp.Value{Kind: kind, Packed: p.rows}, true
}

// reverse reverses the rows once, even if the reply is decoded again.
func (p *packing) reverse(w *store.Work) {
	if !p.reversed {
		w.Grow(p.rows.SortBytes())
		p.rows.Reverse()
		p.reversed = true
	}
}
