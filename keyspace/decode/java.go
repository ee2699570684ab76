package decode

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// javaMagic begins a stream of Java's ObjectOutputStream, version 5.
const javaMagic = "\xac\xed\x00\x05"

// java shows a stream of Java's ObjectOutputStream. It loads no class and runs no Java code.
func java(b []byte, most int) (string, bool) {
	if len(b) > most || !strings.HasPrefix(string(b[:min(len(b), len(javaMagic))]), javaMagic) {
		return "", false
	}
	r := javaReader{byteSource: byteSource{rest: b[len(javaMagic):]}}
	var all []*tree
	for len(r.rest) > 0 {
		all = append(all, r.content(0))
	}
	switch {
	case r.err != nil || len(all) == 0:
		return "", false
	case len(all) == 1:
		return all[0].layout(most), true
	}
	return listOf('[', "stream", all).layout(most), true
}

// Stream tags.
const (
	javaNull = 0x70 + iota
	javaReference
	javaClassDesc
	javaObject
	javaString
	javaArray
	javaClass
	javaBlock
	javaEndBlock
	javaReset
	javaLongBlock
	javaException
	javaLongString
	javaProxy
	javaEnum
)

// Class flags.
const (
	javaWrites       = 1
	javaSerializable = 2
	javaExternal     = 4
	javaInBlocks     = 8
)

const firstHandle = 0x7e0000

type javaReader struct {
	byteSource
	handles []handle
}

// handle holds a value or class that a later reference can name.
type handle struct {
	value *tree
	class *javaClassOf
}

// javaClassOf describes a class.
type javaClassOf struct {
	name   string
	flags  byte
	fields []javaField
	super  *javaClassOf
}

type javaField struct {
	kind byte
	name string
}

func (r *javaReader) keep(h handle) int {
	r.handles = append(r.handles, h)
	return len(r.handles) - 1
}

func (r *javaReader) bad() *tree {
	r.fail()
	return leaf("")
}

// content reads an object, or data that a class wrote itself.
func (r *javaReader) content(depth int) *tree {
	tag := r.byte()
	if !r.count() || depth > maxTreeDepth {
		return r.bad()
	}
	switch tag {
	case javaNull:
		return leaf("null")
	case javaReference:
		if h, ok := r.referred(); ok && h.value != nil {
			return h.value
		}
		return r.bad()
	case javaString, javaLongString:
		return r.string(tag)
	case javaObject:
		return r.object(depth)
	case javaArray:
		return r.array(depth)
	case javaEnum:
		class := r.class(depth)
		at := r.keep(handle{value: leaf("")})
		t := leaf(nameOf(class) + "." + strings.Trim(r.content(depth+1).text, `"`))
		r.handles[at].value = t
		return t
	case javaClass:
		t := leaf("class " + nameOf(r.class(depth)))
		r.keep(handle{value: t})
		return t
	case javaClassDesc, javaProxy:
		return leaf("class " + nameOf(r.described(tag, depth)))
	case javaBlock:
		return leaf("data " + quote(r.take(r.big(1))))
	case javaLongBlock:
		return leaf("data " + quote(r.take(r.big(4))))
	}
	return r.bad()
}

func (r *javaReader) referred() (handle, bool) {
	n := r.big(4) - firstHandle
	if r.err != nil || n >= uint64(len(r.handles)) {
		return handle{}, false
	}
	return r.handles[n], true
}

func (r *javaReader) string(tag byte) *tree {
	size := uint64(2)
	if tag == javaLongString {
		size = 8
	}
	t := leaf(quote([]byte(modifiedUTF8(r.take(r.big(size))))))
	r.keep(handle{value: t})
	return t
}

// modifiedUTF8 decodes Java's UTF-8, with a zero in two bytes and surrogate pairs for
// characters above U+FFFF.
func modifiedUTF8(b []byte) string {
	plain := true
	for _, c := range b {
		plain = plain && c < 0x80
	}
	if plain {
		return string(b)
	}
	var units []uint16
	for len(b) > 0 {
		c := uint16(b[0])
		switch {
		case c < 0x80:
			units, b = append(units, c), b[1:]
		case c>>5 == 6 && len(b) > 1:
			units, b = append(units, c&0x1f<<6|uint16(b[1]&0x3f)), b[2:]
		case c>>4 == 14 && len(b) > 2:
			units, b = append(units, c&0xf<<12|uint16(b[1]&0x3f)<<6|uint16(b[2]&0x3f)), b[3:]
		default:
			units, b = append(units, 0xfffd), b[1:]
		}
	}
	return string(utf16.Decode(units))
}

func nameOf(c *javaClassOf) string {
	if c == nil {
		return "?"
	}
	return c.name
}

// class reads a class description, or returns nil for null.
func (r *javaReader) class(depth int) *javaClassOf {
	switch tag := r.byte(); tag {
	case javaNull:
		return nil
	case javaReference:
		if h, ok := r.referred(); ok && h.class != nil {
			return h.class
		}
		r.fail()
		return nil
	default:
		return r.described(tag, depth)
	}
}

func (r *javaReader) described(tag byte, depth int) *javaClassOf {
	c := &javaClassOf{}
	if !r.count() || depth > maxTreeDepth {
		r.fail()
		return c
	}
	switch tag {
	case javaClassDesc:
		c.name = printable([]byte(modifiedUTF8(r.take(r.big(2)))))
		r.take(8)
		r.keep(handle{class: c})
		c.flags = r.byte()
		for n := r.big(2); n > 0 && r.err == nil; n-- {
			f := javaField{kind: r.byte()}
			f.name = printable([]byte(modifiedUTF8(r.take(r.big(2)))))
			if f.kind == 'L' || f.kind == '[' {
				r.content(depth + 1)
			}
			c.fields = append(c.fields, f)
		}
	case javaProxy:
		r.keep(handle{class: c})
		var names []string
		for n := r.big(4); n > 0 && r.err == nil; n-- {
			names = append(names, printable([]byte(modifiedUTF8(r.take(r.big(2))))))
		}
		c.name, c.flags = "proxy of "+strings.Join(names, ", "), javaSerializable
	default:
		r.fail()
		return c
	}
	r.annotations(depth, nil)
	c.super = r.class(depth + 1)
	return c
}

// annotations reads the data that a class wrote itself, up to its end marker.
func (r *javaReader) annotations(depth int, t *tree) {
	for r.err == nil && len(r.rest) > 0 && r.rest[0] != javaEndBlock {
		value := r.content(depth + 1)
		if t != nil {
			t.add("", value)
		}
	}
	r.byte()
}

// object reads an object's fields, beginning with the topmost superclass.
func (r *javaReader) object(depth int) *tree {
	class := r.class(depth)
	t := &tree{text: nameOf(class), open: '{'}
	r.keep(handle{value: t})
	var chain []*javaClassOf
	for c := class; c != nil; c = c.super {
		if chain = append(chain, c); len(chain) > maxTreeDepth {
			return r.bad()
		}
	}
	for i := len(chain) - 1; i >= 0 && r.err == nil; i-- {
		c := chain[i]
		switch {
		case c.flags&javaSerializable != 0:
			for _, f := range c.fields {
				t.add(f.name, r.value(f.kind, depth+1))
			}
			if c.flags&javaWrites != 0 {
				r.annotations(depth, t)
			}
		case c.flags&javaExternal != 0 && c.flags&javaInBlocks != 0:
			r.annotations(depth, t)
		case c.flags&javaExternal != 0:
			return r.bad() // only the class knows its length
		}
	}
	return t
}

func (r *javaReader) array(depth int) *tree {
	class := r.class(depth)
	t := &tree{text: nameOf(class), open: '['}
	r.keep(handle{value: t})
	kind := byte(0)
	if class != nil && len(class.name) > 1 {
		kind = class.name[1]
	}
	n := r.big(4)
	if kind == 'B' {
		t.add("", leaf(quote(r.take(n))))
		return t
	}
	for ; n > 0 && r.err == nil; n-- {
		t.add("", r.value(kind, depth+1))
	}
	return t
}

// value reads a field or an element of a type.
func (r *javaReader) value(kind byte, depth int) *tree {
	if kind == 'L' || kind == '[' {
		return r.content(depth)
	}
	if !r.count() {
		return leaf("")
	}
	switch kind {
	case 'B':
		return leaf(strconv.Itoa(int(int8(r.big(1)))))
	case 'C':
		return leaf(quote([]byte(string(rune(r.big(2))))))
	case 'D':
		return leaf(strconv.FormatFloat(math.Float64frombits(r.big(8)), 'g', -1, 64))
	case 'F':
		return leaf(strconv.FormatFloat(float64(math.Float32frombits(uint32(r.big(4)))), 'g', -1, 32))
	case 'I':
		return leaf(strconv.Itoa(int(int32(r.big(4)))))
	case 'J':
		return leaf(strconv.FormatInt(int64(r.big(8)), 10))
	case 'S':
		return leaf(strconv.Itoa(int(int16(r.big(2)))))
	case 'Z':
		return leaf(strconv.FormatBool(r.big(1) != 0))
	}
	return r.bad()
}
