package rdb

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// A module's value consists of typed parts, so it can be skipped without the module.
const (
	modulePartEnd = iota
	modulePartSigned
	modulePartUnsigned
	modulePartFloat
	modulePartDouble
	modulePartString
)

// ModuleValue reports a key whose value only its module can read.
type ModuleValue struct{ Module string }

func (e *ModuleValue) Error() string { return "it holds a value of the module " + e.Module }

const moduleCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// moduleType reads a module's type number: a name of nine 6-bit characters and a 10-bit
// version.
func (r *reader) moduleType() (name string, version uint64) {
	n := r.length()
	b, id := make([]byte, 9), n>>10
	for i := range b {
		b[8-i] = moduleCharacters[id&63]
		id >>= 6
	}
	return string(b), n & 1023
}

// appendModuleType appends a module's type number.
func appendModuleType(out []byte, name string, version int) []byte {
	id := uint64(0)
	for _, c := range name {
		id = id<<6 | uint64(strings.IndexRune(moduleCharacters, c))
	}
	return appendLength(out, id<<10|uint64(version))
}

func appendModuleNumber(out []byte, n uint64) []byte {
	return appendLength(append(out, modulePartUnsigned), n)
}

func appendModuleString(out, b []byte) []byte {
	return appendBytes(append(out, modulePartString), b)
}

// modulePart reads the kind of the next part, which must be kind.
func (r *reader) modulePart(kind uint64) { must(r.length() == kind) }

func (r *reader) moduleNumber() uint64 {
	r.modulePart(modulePartUnsigned)
	return r.length()
}

func (r *reader) moduleString() []byte {
	r.modulePart(modulePartString)
	return r.string()
}

// skipModule skips the parts of a module's value.
func (r *reader) skipModule() {
	for {
		switch r.length() {
		case modulePartEnd:
			return
		case modulePartSigned, modulePartUnsigned:
			r.length()
		case modulePartFloat:
			r.raw(4)
		case modulePartDouble:
			r.raw(8)
		case modulePartString:
			r.string()
		default:
			failFormat()
		}
	}
}

// Module is a value of one of the modules in moduleNames: its fields, which the module defines.
type Module struct {
	Name    string // the type, of nine characters
	Version int    // of the fields, below 1024
	fields  []byte // encoded
}

// moduleNames lists the types that Module can hold. The values of other modules are a ModuleValue.
var moduleNames = []string{"ReJSON-RL", "MBbloom--", "MBbloomCF", "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE", "TSDB-TYPE", "trietype0"}

// Len returns 1: the value is never split.
func (*Module) Len() int { return 1 }

// Weight returns the bytes of the fields.
func (m *Module) Weight() int { return len(m.fields) }

// Grow prepares for n more bytes of fields.
func (m *Module) Grow(n int) { m.fields = slices.Grow(m.fields, n) }

// Numbers appends unsigned fields.
func (m *Module) Numbers(all ...uint64) {
	for _, n := range all {
		m.fields = appendModuleNumber(m.fields, n)
	}
}

// Double appends a field.
func (m *Module) Double(f float64) {
	m.fields = binary.LittleEndian.AppendUint64(append(m.fields, modulePartDouble), math.Float64bits(f))
}

// String appends a field.
func (m *Module) String(b []byte) { m.fields = appendModuleString(m.fields, b) }

func (m *Module) append(out []byte) []byte {
	out = append(appendModuleType(append(out, typeModule), m.Name, m.Version), m.fields...)
	return append(out, modulePartEnd)
}

// moduleValue reads the fields of a module's value. Memory stays close to the bytes read.
func (r *reader) moduleValue(name string, version uint64) *Module {
	m := &Module{Name: name, Version: int(version)}
	for {
		switch kind := r.length(); kind {
		case modulePartEnd:
			return m
		case modulePartSigned, modulePartUnsigned:
			m.Numbers(r.length())
		case modulePartDouble:
			m.fields = append(append(m.fields, byte(kind)), r.raw(8)...)
		case modulePartString:
			m.String(r.string())
		default:
			failFormat()
		}
	}
}

// ModuleReader reads the fields of a Module in order. After a field that is missing or of another kind it returns
// zeros.
type ModuleReader struct {
	r    *reader
	left *bytes.Reader
	bad  bool
}

// Reader returns a reader of the fields.
func (m *Module) Reader() *ModuleReader {
	left := bytes.NewReader(m.fields)
	return &ModuleReader{r: &reader{r: left}, left: left}
}

// More reports whether another field follows.
func (r *ModuleReader) More() bool { return !r.bad && r.left.Len() > 0 }

// Done reports whether all fields were read, and no other ones.
func (r *ModuleReader) Done() bool { return !r.bad && r.left.Len() == 0 }

// AppendRest reads the remaining fields of r and appends them.
func (m *Module) AppendRest(r *ModuleReader) {
	at := len(m.fields)
	m.fields = append(m.fields, make([]byte, r.left.Len())...)
	r.left.Read(m.fields[at:])
}

// Number reads an unsigned field.
func (r *ModuleReader) Number() (n uint64) {
	r.field(func() { n = r.r.moduleNumber() })
	return n
}

// Double reads a field.
func (r *ModuleReader) Double() (f float64) {
	r.field(func() {
		r.r.modulePart(modulePartDouble)
		f = math.Float64frombits(r.r.uint64())
	})
	return f
}

// String reads a field.
func (r *ModuleReader) String() (b []byte) {
	r.field(func() { b = r.r.moduleString() })
	return b
}

func (r *ModuleReader) field(read func()) {
	if r.bad {
		return
	}
	err := func() (err error) {
		defer catch(&err)
		read()
		return nil
	}()
	r.bad = err != nil
}
