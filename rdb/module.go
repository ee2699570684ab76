package rdb

// A module's value comes in parts that say what they are, so that one can pass
// over it without knowing the module.
const (
	modulePartEnd = iota
	modulePartSigned
	modulePartUnsigned
	modulePartFloat
	modulePartDouble
	modulePartString
)

// moduleName reads the number of a module's type, which holds its name: nine
// characters of six bits, and a version of ten.
func (r *reader) moduleName() string {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	id := r.length() >> 10
	name := make([]byte, 9)
	for i := range name {
		name[8-i] = characters[id&63]
		id >>= 6
	}
	return string(name)
}

// skipModule passes over the parts of a module's value.
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
			bad()
		}
	}
}
