package transfer

import (
	"encoding/binary"
	"math"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator/vector"
)

// records yields the records of a block. It parses all records before yielding the first, so
// that an invalid block yields nothing.
func (r *archiveReader) records(payload []byte) error {
	d := &recordReader{b: payload, key: r.key}
	var parts []Part
	for len(d.b) > 0 && !d.bad {
		parts = append(parts, d.part())
	}
	if d.bad {
		return r.invalidBlock("it contains an invalid record")
	}
	for _, p := range parts {
		if p.Key == nil {
			continue // its key's beginning was damaged
		}
		if p.First {
			if err := r.endKey(); err != nil {
				return err
			}
		}
		r.totals.add(p)
		if r.key = p.Key; p.Last {
			r.key = nil
		}
		if !r.yield(p, nil) {
			return errStopped
		}
	}
	return nil
}

// invalidBlock returns the damage of the last block.
func (r *archiveReader) invalidBlock(why string) *Damage {
	d := r.damage(r.offset, "%s", why)
	d.Block--
	return d
}

// libraries passes on the function libraries of a block.
func (r *archiveReader) libraries(payload []byte) error {
	d := &recordReader{b: payload}
	all := list(d, d.bytes)
	if d.bad || len(d.b) > 0 {
		return r.invalidBlock("it contains an invalid library")
	}
	if to := r.o.Definitions; to != nil {
		to.Libraries = append(to.Libraries, all...)
	}
	return nil
}

// indexes passes on the definitions of search of a block.
func (r *archiveReader) indexes(payload []byte) error {
	d := &recordReader{b: payload}
	all := list(d, func() [][]byte { return list(d, d.bytes) })
	var found Indexes
	for _, command := range all {
		d.bad = d.bad || !found.Add(command)
	}
	if d.bad || len(d.b) > 0 {
		return r.invalidBlock("it contains an invalid definition of search")
	}
	if to := r.o.Definitions; to != nil {
		to.Indexes = append(to.Indexes, found...)
	}
	return nil
}

// recordReader parses records. Once bad is set, its results are meaningless.
type recordReader struct {
	b            []byte
	key          *Key // key of the previous record, nil after a key's last record
	bad          bool
	listElements uint64 // number of elements in all lists so far
}

func (d *recordReader) part() Part {
	flags, typ := d.byte(), d.typ()
	p := Part{
		First: flags&flagFirst != 0, Last: flags&flagLast != 0,
		Changed: flags&flagChanged != 0,
	}
	if p.First {
		d.key = &Key{DB: int(d.int()), Name: d.bytes(), Type: typ, ExpiresAt: d.int(), Count: d.int()}
	}
	p.Key = d.key
	d.bad = d.bad || d.key != nil && d.key.Type != typ
	if flags&flagVoid != 0 {
		p.Err = errVoid
		d.bad = d.bad || !p.Last
	} else {
		p.Value = d.value(typ, p.Last)
	}
	if p.Last {
		d.key = nil
	}
	return p
}

func (d *recordReader) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *recordReader) number() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

// int reads a nonnegative number; see signed.
func (d *recordReader) int() int64 {
	n := d.number()
	d.bad = d.bad || n > math.MaxInt64
	return int64(n)
}

func (d *recordReader) signed() int64 { return int64(d.number()) }

func (d *recordReader) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

func (d *recordReader) typ() Type {
	n := d.byte()
	for _, t := range keytype.Types {
		if t.Number == n {
			return Type(t.Name)
		}
	}
	d.bad = true
	return ""
}

// list reads a count and that many elements.
func list[T any](d *recordReader, element func() T) []T { return listOf(d, d.number(), element) }

// listOf reads n elements.
func listOf[T any](d *recordReader, n uint64, element func() T) []T {
	d.listElements += n
	// An encoded element takes at least one byte, and many times as much in memory.
	if n > uint64(len(d.b)) || d.listElements > maxElements {
		d.bad, d.b = true, nil
		return nil
	}
	out := make([]T, 0, min(n, callElements))
	for range n {
		if d.bad {
			return nil
		}
		out = append(out, element())
	}
	return out
}

func (d *recordReader) value(t Type, last bool) Value {
	switch t {
	case StringType:
		return rdb.String(d.bytes())
	case ListType:
		return rdb.List(list(d, d.bytes))
	case SetType:
		return rdb.Set(list(d, d.bytes))
	case ZSetType:
		return rdb.ZSet(list(d, func() rdb.Member { return rdb.Member{Name: d.bytes(), Score: d.score()} }))
	case HashType:
		return rdb.Hash(list(d, func() rdb.Field { return rdb.Field{Name: d.bytes(), Value: d.bytes(), ExpiresAt: d.int()} }))
	case StreamType:
		s := &rdb.Stream{Entries: list(d, func() rdb.Entry { return rdb.Entry{ID: d.id(), Fields: list(d, d.bytes)} })}
		if last {
			d.streamState(s)
		}
		return s
	case JSONType:
		return Document(d.bytes())
	case VectorSetType:
		return d.vectorSet()
	case ArrayType:
		a := &Array{Slots: list(d, func() Slot { return Slot{Index: d.number(), Value: d.bytes()} })}
		if last {
			a.Next = d.number()
		}
		return a
	}
	if dumped(t) {
		m, err := moduleOf(t, d.bytes())
		d.bad = d.bad || err != nil
		return m
	}
	return d.elements(keytype.Of(string(t)))
}

func (d *recordReader) elements(t *keytype.Type) *Elements {
	d.bad = d.bad || !t.Rebuilds()
	return &Elements{t, list(d, func() [][]byte {
		parts := list(d, d.bytes)
		d.bad = d.bad || len(parts) != len(t.Parts)
		return parts
	})}
}

func (d *recordReader) vectorSet() *VectorSet {
	n := d.number()
	s := &VectorSet{VectorShape: VectorShape{vector.Kind(d.int()), d.int(), int(d.int()), int(d.int())}}
	d.bad = d.bad || !s.valid()
	s.Elements = listOf(d, n, func() VectorElement {
		e := VectorElement{Name: d.bytes(), Record: d.bytes()}
		if d.number() > 0 {
			e.Attributes = d.bytes()
		}
		d.bad = d.bad || len(e.Record) != s.Kind.Size(s.Dim)
		return e
	})
	return s
}

func (d *recordReader) score() float64 {
	if len(d.b) < 8 {
		d.bad = true
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	d.bad = d.bad || math.IsNaN(f)
	return f
}

func (d *recordReader) id() rdb.ID { return rdb.ID{Ms: d.number(), Seq: d.number()} }

func (d *recordReader) streamState(s *rdb.Stream) {
	s.Last, s.Deleted, s.Added = d.id(), d.id(), d.int()
	s.Groups = list(d, func() rdb.Group {
		return rdb.Group{Name: d.bytes(), Last: d.id(), Read: d.signed(), Consumers: list(d, d.consumer)}
	})
}

func (d *recordReader) consumer() rdb.Consumer {
	return rdb.Consumer{
		Name: d.bytes(), SeenAt: d.int(), ActiveAt: d.signed(),
		Pending: list(d, func() rdb.Pending { return rdb.Pending{ID: d.id(), DeliveredAt: d.int(), Deliveries: d.int()} }),
	}
}
