package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
)

// FromJSONLines yields the keys in JSON lines, the format of NewJSONWriter.
func FromJSONLines(in io.Reader) Source {
	return func(yield func(Part, error) bool) {
		s := &jsonScanner{in: bufio.NewReaderSize(in, 64<<10)}
		var before *jsonLine // line before, if its key continues
		var key *Key
		for number := 1; ; number++ {
			line, value, end, err := s.line()
			if err == nil && line != nil {
				var p Part
				if p, err = line.part(value, before, key); err == nil && !yield(p, nil) {
					return
				}
				if before, key = nil, nil; line.More {
					before, key = line, p.Key
				}
			}
			switch {
			case err != nil:
				yield(Part{}, fmt.Errorf("line %d: %w", number, err))
				return
			case end && before != nil:
				yield(Part{}, fmt.Errorf("line %d: it ends here, in the middle of %s", number, key))
				return
			case end:
				return
			}
		}
	}
}

// line reads a line and its value. line is nil for an empty line; end marks the last line.
func (s *jsonScanner) line() (line *jsonLine, value Value, end bool, err error) {
	defer s.recovered(&err)
	s.field = ""
	if c := s.peek(); c != '\n' && c != 0 {
		line = &jsonLine{}
		value = s.fields(line)
	}
	switch s.peek() {
	case 0:
		return line, value, true, nil
	case '\n':
		s.byte()
		return line, value, false, nil
	}
	s.fail(errors.New("there is more on the line than one value"))
	return nil, nil, false, nil
}

// fields reads the fields of a line. It keeps a value that precedes its type as text until the
// type is known.
func (s *jsonScanner) fields(line *jsonLine) (value Value) {
	var early []byte
	typed := false
	s.object(func(name string) bool {
		switch name {
		case "db":
			s.into(&line.DB)
		case "key":
			line.Key = s.blob()
		case "type":
			s.into(&line.Type)
			typed = true
		case "part":
			s.into(&line.Part)
		case "more":
			s.into(&line.More)
		case "expires":
			s.into(&line.Expires)
		case "count":
			s.into(&line.Count)
		case "changed":
			s.into(&line.Changed)
		case "void":
			s.into(&line.Void)
		case "value":
			if early, value = nil, nil; typed {
				value = s.value(line.Type)
			} else {
				early = s.raw()
			}
		default:
			return false
		}
		return true
	})
	if early != nil {
		later := jsonScanner{in: bufio.NewReader(bytes.NewReader(early)), field: "value"}
		value = later.value(line.Type)
	}
	return value
}

// part converts a line to a part. before is the previous line if its key continues.
func (line *jsonLine) part(value Value, before *jsonLine, key *Key) (Part, error) {
	p := Part{Key: key, First: line.Part <= 1, Last: !line.More, Changed: line.Changed}
	switch {
	case before == nil && !p.First:
		return p, errors.New("its key's first part is missing")
	case before != nil && (line.Part != before.Part+1 || !bytes.Equal(line.Key, before.Key) || line.DB != before.DB || line.Type != before.Type):
		return p, fmt.Errorf("part %d of %s should be here", before.Part+1, key)
	case line.DB < 0 || line.Expires < 0 || line.More && line.Part < 1:
		return p, errors.New("a number is out of range")
	case before == nil:
		p.Key = &Key{DB: line.DB, Name: line.Key, Type: line.Type, ExpiresAt: line.Expires, Count: line.Count}
	}
	switch {
	case line.Void:
		p.Err = errVoid
		return p, nil
	case value == nil:
		return p, errors.New("the value is missing")
	case p.First && p.Last:
		p.Key.Count = int64(value.Len())
	}
	p.Value = value
	return p, nil
}

// value reads a value of type t.
func (s *jsonScanner) value(t Type) Value {
	switch t {
	case StringType:
		return rdb.String(s.blob())
	case ListType:
		return rdb.List(s.blobs())
	case SetType:
		return rdb.Set(s.blobs())
	case ZSetType:
		z := rdb.ZSet{}
		s.array(func() { z = append(z, s.member()) })
		return z
	case HashType:
		h := rdb.Hash{}
		s.array(func() { h = append(h, s.hashField()) })
		return h
	case StreamType:
		return s.stream()
	case JSONType:
		return Document(s.raw())
	case VectorSetType:
		return s.vectorSet()
	case ArrayType:
		return s.slots()
	}
	if dumped(t) {
		m, err := moduleOf(t, s.blob())
		if err != nil {
			s.fail(fmt.Errorf("the value is not a payload of DUMP: %w", err))
		}
		return m
	}
	return s.elements(keytype.Of(string(t)))
}

// elements reads objects with the parts of elements.
func (s *jsonScanner) elements(t *keytype.Type) *Elements {
	if !t.Rebuilds() {
		s.fail(fmt.Errorf("there is no type %q", t.Name))
	}
	value := &Elements{Of: t}
	s.array(func() {
		parts := make([][]byte, len(t.Parts))
		s.object(func(name string) bool {
			i := slices.Index(t.Parts, name)
			if i >= 0 {
				parts[i] = s.blob()
			}
			return i >= 0
		})
		if slices.ContainsFunc(parts, func(part []byte) bool { return part == nil }) {
			s.fail(fmt.Errorf("a %s has the parts %s", t.One, strings.Join(t.Parts, " and ")))
		}
		value.List = append(value.List, parts)
	})
	return value
}

func (s *jsonScanner) blobs() [][]byte {
	all := [][]byte{}
	s.array(func() { all = append(all, s.blob()) })
	return all
}

func (s *jsonScanner) member() (m rdb.Member) {
	s.object(func(name string) bool {
		switch name {
		case "member":
			m.Name = s.blob()
		case "score":
			var f score
			s.into(&f)
			m.Score = float64(f)
		default:
			return false
		}
		return true
	})
	return m
}

func (s *jsonScanner) hashField() (f rdb.Field) {
	s.object(func(name string) bool {
		switch name {
		case "field":
			f.Name = s.blob()
		case "value":
			f.Value = s.blob()
		case "expires":
			s.into(&f.ExpiresAt)
		default:
			return false
		}
		return true
	})
	return f
}

func (s *jsonScanner) slots() *Array {
	a := &Array{}
	s.object(func(name string) bool {
		switch name {
		case "slots":
			s.array(func() {
				var slot Slot
				s.object(func(name string) bool {
					switch name {
					case "index":
						s.into(&slot.Index)
					case "value":
						slot.Value = s.blob()
					default:
						return false
					}
					return true
				})
				a.Slots = append(a.Slots, slot)
			})
		case "next":
			s.into(&a.Next)
		default:
			return false
		}
		return true
	})
	return a
}

func (s *jsonScanner) stream() *rdb.Stream {
	var in jsonStream
	out := &rdb.Stream{}
	s.object(func(name string) bool {
		switch name {
		case "entries":
			s.array(func() { out.Entries = append(out.Entries, s.entry()) })
		case "last":
			s.into(&in.Last)
		case "deleted":
			s.into(&in.Deleted)
		case "added":
			s.into(&in.Added)
		case "groups":
			s.into(&in.Groups)
		default:
			return false
		}
		return true
	})
	out.Last, out.Deleted, out.Added = rdb.ID(in.Last), rdb.ID(in.Deleted), in.Added
	out.Groups = each(in.Groups, groupFromJSON)
	return out
}

func (s *jsonScanner) entry() (e rdb.Entry) {
	s.object(func(name string) bool {
		switch name {
		case "id":
			var id jsonID
			s.into(&id)
			e.ID = rdb.ID(id)
		case "fields":
			e.Fields = s.blobs()
		default:
			return false
		}
		return true
	})
	return e
}

func groupFromJSON(g jsonGroup) rdb.Group {
	return rdb.Group{Name: g.Name, Last: rdb.ID(g.Last), Read: orElse(g.Read, rdb.Unknown), Consumers: each(g.Consumers, consumerFromJSON)}
}

func consumerFromJSON(c jsonConsumer) rdb.Consumer {
	return rdb.Consumer{Name: c.Name, SeenAt: c.Seen, ActiveAt: orElse(c.Active, -1), Pending: each(c.Pending, func(p jsonPending) rdb.Pending {
		return rdb.Pending{ID: rdb.ID(p.ID), DeliveredAt: p.Delivered, Deliveries: p.Deliveries}
	})}
}

func orElse(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}

func (s *jsonScanner) vectorSet() *VectorSet {
	var shape jsonVectorShape
	var elements []VectorElement
	var vectors [][]float32
	s.object(func(name string) bool {
		switch name {
		case "quantization":
			s.into(&shape.Quantization)
		case "dim":
			s.into(&shape.Dim)
		case "reduced_from":
			s.into(&shape.Reduced)
		case "m":
			s.into(&shape.M)
		case "elements":
			s.array(func() {
				e, vector := s.vectorElement()
				elements, vectors = append(elements, e), append(vectors, vector)
			})
		default:
			return false
		}
		return true
	})
	set, err := vectorSetFromJSON(shape, elements, vectors)
	if err != nil {
		s.fail(err)
	}
	return set
}

func (s *jsonScanner) vectorElement() (e VectorElement, vector []float32) {
	s.object(func(name string) bool {
		switch name {
		case "element":
			e.Name = s.blob()
		case "vector":
			s.into(&vector)
		case "attributes":
			e.Attributes = s.blob()
		default:
			return false
		}
		return true
	})
	return e, vector
}

// strict decodes a short JSON value and rejects unknown fields.
func strict(in []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(in))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
