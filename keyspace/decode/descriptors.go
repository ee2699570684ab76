package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Descriptors holds the names and types of messages, from a .proto file or from a
// FileDescriptorSet written by protoc -o or buf build.
type Descriptors struct {
	messages map[string]*messageType // by full name, without a leading dot
	enums    map[string]map[int64]string
}

type messageType struct {
	fields map[uint64]fieldType
	isMap  bool // a map entry, with the fields key and value
}

type fieldType struct {
	name     string
	kind     uint64 // a FieldDescriptorProto.Type
	of       string // message or enum name
	repeated bool
}

// Field types, numbered as in FieldDescriptorProto.Type.
const (
	kindDouble = 1 + iota
	kindFloat
	kindInt64
	kindUint64
	kindInt32
	kindFixed64
	kindFixed32
	kindBool
	kindString
	kindGroup
	kindMessage
	kindBytes
	kindUint32
	kindEnum
	kindSfixed32
	kindSfixed64
	kindSint32
	kindSint64
)

var errDescriptors = errors.New("not a file of descriptors, as protoc --include_imports -o FILE writes it")

// wireField holds an encoded field.
type wireField struct {
	number, wire uint64
	value        uint64 // numeric wire types
	bytes        []byte // length-delimited wire type
}

// wireFields calls each with the fields of a message. ok is false if b is not a message or each
// returns false.
func wireFields(b []byte, each func(wireField) bool) (ok bool) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		f := wireField{number: tag >> 3, wire: tag & 7}
		if n <= 0 || f.number == 0 {
			return false
		}
		b = b[n:]
		if n = f.read(b); n <= 0 {
			return false
		}
		b = b[n:]
		if !each(f) {
			return false
		}
	}
	return true
}

// read sets the value of f from the beginning of b. It returns the length of the value, or 0 if b has none.
func (f *wireField) read(b []byte) (n int) {
	switch f.wire {
	case 0:
		f.value, n = binary.Uvarint(b)
	case 1:
		if len(b) >= 8 {
			f.value, n = binary.LittleEndian.Uint64(b), 8
		}
	case 2:
		size, head := binary.Uvarint(b)
		if head > 0 && size <= uint64(len(b)-head) {
			n = head + int(size)
			f.bytes = b[head:n]
		}
	case 5:
		if len(b) >= 4 {
			f.value, n = uint64(binary.LittleEndian.Uint32(b)), 4
		}
	}
	return n
}

// ParseDescriptors reads a FileDescriptorSet.
func ParseDescriptors(b []byte) (*Descriptors, error) {
	d := &Descriptors{messages: map[string]*messageType{}, enums: map[string]map[int64]string{}}
	ok := wireFields(b, func(f wireField) bool { return f.number != 1 || d.file(f.bytes) })
	if !ok || len(d.messages) == 0 {
		return nil, errDescriptors
	}
	return d, nil
}

// file reads a FileDescriptorProto.
func (d *Descriptors) file(b []byte) bool {
	scope := ""
	find := func(f wireField) bool {
		if f.number == 2 && len(f.bytes) > 0 {
			scope = string(f.bytes) + "."
		}
		return true
	}
	return wireFields(b, find) && wireFields(b, func(f wireField) bool {
		switch f.number {
		case 4:
			return d.message(scope, f.bytes, 0)
		case 5:
			return d.enum(scope, f.bytes)
		}
		return true
	})
}

// message reads a DescriptorProto and its nested types.
func (d *Descriptors) message(scope string, b []byte, depth int) bool {
	m, name := &messageType{fields: map[uint64]fieldType{}}, ""
	named := wireFields(b, func(f wireField) bool {
		if f.number == 1 {
			name = string(f.bytes)
		}
		return true
	})
	if !named || depth > maxTreeDepth {
		return false
	}
	d.messages[scope+name] = m
	return wireFields(b, func(f wireField) bool {
		switch f.number {
		case 2:
			return m.field(f.bytes)
		case 3:
			return d.message(scope+name+".", f.bytes, depth+1)
		case 4:
			return d.enum(scope+name+".", f.bytes)
		case 7:
			return wireFields(f.bytes, func(o wireField) bool {
				m.isMap = m.isMap || o.number == 7 && o.value == 1
				return true
			})
		}
		return true
	})
}

// field reads a FieldDescriptorProto.
func (m *messageType) field(b []byte) bool {
	t, number := fieldType{}, uint64(0)
	ok := wireFields(b, func(f wireField) bool {
		switch f.number {
		case 1:
			t.name = string(f.bytes)
		case 3:
			number = f.value
		case 4:
			t.repeated = f.value == 3
		case 5:
			t.kind = f.value
		case 6:
			t.of = strings.TrimPrefix(string(f.bytes), ".")
		}
		return true
	})
	m.fields[number] = t
	return ok
}

// enum reads an EnumDescriptorProto.
func (d *Descriptors) enum(scope string, b []byte) bool {
	name, values := "", map[int64]string{}
	ok := wireFields(b, func(f wireField) bool {
		switch f.number {
		case 1:
			name = string(f.bytes)
		case 2:
			text, number := "", int64(0)
			wireFields(f.bytes, func(v wireField) bool {
				if v.number == 1 {
					text = string(v.bytes)
				} else if v.number == 2 {
					number = int64(v.value)
				}
				return true
			})
			values[number] = text
		}
		return true
	})
	d.enums[scope+name] = values
	return ok
}

// Has reports whether d has a message with a full name, such as shop.Order.
func (d *Descriptors) Has(name string) bool { return d.messages[name] != nil }

// Show formats b as a message of the named type, truncated to most bytes of text. It shows
// unknown fields by number.
func (d *Descriptors) Show(name string, b []byte, most int) (string, error) {
	s := messageFormatter{Descriptors: d}
	t := s.message(d.messages[name], b, 0)
	if t == nil {
		return "", fmt.Errorf("it is no message %s", name)
	}
	t.text = name
	return t.layout(most), nil
}

type messageFormatter struct {
	*Descriptors
	nodes int
}

func (s *messageFormatter) message(m *messageType, b []byte, depth int) *tree {
	if m == nil || depth > maxTreeDepth {
		return nil
	}
	t, lists := &tree{open: '{'}, map[uint64]*tree{}
	ok := wireFields(b, func(f wireField) bool {
		field, known := m.fields[f.number]
		if s.nodes++; s.nodes > maxNodes {
			return false
		}
		if !known {
			t.add(strconv.FormatUint(f.number, 10), s.unknown(f, depth))
			return true
		}
		entry := s.messages[field.of]
		switch {
		case field.repeated && lists[f.number] == nil:
			lists[f.number] = &tree{open: '['}
			if entry != nil && entry.isMap {
				lists[f.number].open = '{'
			}
			t.add(field.name, lists[f.number])
			fallthrough
		case field.repeated:
			return s.element(lists[f.number], field, f, depth)
		}
		value := s.value(field, f, depth)
		if value != nil {
			t.add(field.name, value)
		}
		return value != nil
	})
	if !ok {
		return nil
	}
	return t
}

// element appends a repeated field's content to list: a map entry, one value or packed numbers.
func (s *messageFormatter) element(list *tree, field fieldType, f wireField, depth int) bool {
	if list.open == '{' {
		return s.mapEntry(list, field, f, depth)
	}
	if f.wire != 2 || field.kind == kindString || field.kind == kindBytes || field.kind == kindMessage {
		value := s.value(field, f, depth)
		if value != nil {
			list.add("", value)
		}
		return value != nil
	}
	for b := f.bytes; len(b) > 0; {
		one, n := packedNumber(field.kind, b)
		if s.nodes++; n <= 0 || n > len(b) || s.nodes > maxNodes {
			return false
		}
		b = b[n:]
		value := s.value(field, one, depth)
		if value == nil {
			return false
		}
		list.add("", value)
	}
	return true
}

// mapEntry appends a map entry to list.
func (s *messageFormatter) mapEntry(list *tree, field fieldType, f wireField, depth int) bool {
	pair := s.message(s.messages[field.of], f.bytes, depth+1)
	if pair == nil {
		return false
	}
	key, value := leaf("default"), leaf("default")
	for _, p := range pair.parts {
		switch p.label {
		case "key":
			key = p.value
		case "value":
			value = p.value
		}
	}
	list.add(key.oneLine(), value)
	return true
}

// packedNumber decodes the first of the packed numbers in b. n is its size in bytes: not positive or larger than b if
// b is truncated.
func packedNumber(kind uint64, b []byte) (f wireField, n int) {
	switch kind {
	case kindDouble, kindFixed64, kindSfixed64:
		if n = 8; len(b) >= n {
			f = wireField{wire: 1, value: binary.LittleEndian.Uint64(b)}
		}
	case kindFloat, kindFixed32, kindSfixed32:
		if n = 4; len(b) >= n {
			f = wireField{wire: 5, value: uint64(binary.LittleEndian.Uint32(b))}
		}
	default:
		f.value, n = binary.Uvarint(b)
	}
	return f, n
}

// wires maps types to wire formats.
var wires = [...]uint64{
	kindDouble: 1, kindFixed64: 1, kindSfixed64: 1, kindFloat: 5, kindFixed32: 5, kindSfixed32: 5,
	kindString: 2, kindMessage: 2, kindBytes: 2, kindSint64: 0,
}

// value formats a field of a known type. It returns nil if the wire format differs.
func (s *messageFormatter) value(field fieldType, f wireField, depth int) *tree {
	if field.kind == 0 || field.kind >= uint64(len(wires)) || wires[field.kind] != f.wire {
		return nil
	}
	switch v := f.value; field.kind {
	case kindDouble:
		return leaf(strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64))
	case kindFloat:
		return leaf(strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32))
	case kindInt64, kindSfixed64:
		return leaf(strconv.FormatInt(int64(v), 10))
	case kindInt32, kindSfixed32:
		return leaf(strconv.FormatInt(int64(int32(v)), 10))
	case kindBool:
		return leaf(strconv.FormatBool(v != 0))
	case kindSint32, kindSint64:
		return leaf(strconv.FormatInt(int64(v>>1)^-int64(v&1), 10))
	case kindEnum:
		if name := s.enums[field.of][int64(v)]; name != "" {
			return leaf(printable([]byte(name)))
		}
		return leaf(strconv.FormatInt(int64(v), 10))
	case kindString:
		if !utf8.Valid(f.bytes) {
			return nil
		}
		return leaf(quote(f.bytes))
	case kindBytes:
		return leaf("bytes " + quote(f.bytes))
	case kindMessage:
		return s.message(s.messages[field.of], f.bytes, depth+1)
	}
	return leaf(strconv.FormatUint(f.value, 10))
}

// unknown formats a field that the type does not define.
func (s *messageFormatter) unknown(f wireField, depth int) *tree {
	switch f.wire {
	case 1, 5:
		return leaf(strconv.FormatUint(f.value, 10))
	case 2:
		return delimited(f.bytes, depth, &s.nodes)
	}
	return leaf(varint(f.value))
}
