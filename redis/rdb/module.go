package rdb

import "strings"

// A module's value consists of typed parts, so it can be skipped without the module.
const (
	modulePartEnd = iota
	modulePartSigned
	modulePartUnsigned
	modulePartFloat
	modulePartDouble
	modulePartString
)

// ModuleValue is the error for a key whose value only its module can read.
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

// appendModuleType appends a module's type number with version 0.
func appendModuleType(out []byte, name string) []byte {
	id := uint64(0)
	for _, c := range name {
		id = id<<6 | uint64(strings.IndexRune(moduleCharacters, c))
	}
	return appendLength(out, id<<10)
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
