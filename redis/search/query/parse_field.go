package query

import (
	"math"
	"strings"
)

// field returns the schema's field of a name. A name that the schema lacks is an error, except in dialect 1, where the
// clause matches nothing.
func (p *parser) field(name token) (f Field, known bool) {
	if p.o.Schema == nil || p.err != nil {
		return f, false
	}
	f, known = p.o.Schema.Field(unescape(name.text))
	if !known && p.o.Dialect > 1 {
		p.fail("SEARCH_SYNTAX", "Unknown field at offset %d near %s", name.pos, unescape(name.text))
	}
	return f, known
}

// typed is field for a clause that needs a type.
func (p *parser) typed(name token, want FieldType) Field {
	f, known := p.field(name)
	if known && f.Type != want {
		p.fail("SEARCH_SYNTAX", "Expected a %s field at offset %d near %s", want, name.pos, unescape(name.text))
	}
	return f
}

// fieldClause parses a clause that begins with the name of a field.
func (p *parser) fieldClause() Node {
	name := p.expect(modifier)
	names := []token{name}
	for p.tok.kind == or {
		p.advance()
		t := p.tok
		if t.kind != modifier {
			p.expect(term)
		} else {
			p.advance()
		}
		if names = append(names, t); len(names) > maxFields {
			p.fail("SEARCH_SYNTAX", "A clause names more than %d fields", maxFields)
		}
	}
	if len(names) == 1 && p.tok.kind == compare {
		return p.comparison(name)
	}
	p.expect(colon)
	if len(names) == 1 {
		switch p.tok.kind {
		case lbrace:
			return p.tag(name)
		case lbracket:
			return p.bracket(name)
		}
	}
	fields := make([]string, 0, len(names))
	empty := true
	for _, name := range names {
		f := p.typed(name, Text)
		empty = empty && (p.o.Schema == nil || f.IndexEmpty)
		fields = append(fields, unescape(name.text))
	}
	n := p.unary()
	if n == nil {
		return nil
	}
	if t, ok := n.(*Term); ok && t.Text == "" && t.Verbatim && !empty {
		p.emptyTerm()
	}
	Restrict(n, fields)
	return n
}

func (p *parser) emptyTerm() {
	p.failLate("SEARCH_SYNTAX", "Use `INDEXEMPTY` in field creation in order to index and query for empty strings")
}

// comparison parses @field == number and its like.
func (p *parser) comparison(name token) Node {
	op := p.expect(compare)
	v := p.number()
	p.typed(name, NumericField)
	n := &Numeric{Base: p.base(), Field: unescape(name.text), Min: math.Inf(-1), Max: math.Inf(1)}
	switch op.text {
	case "==":
		n.Min, n.Max = v, v
	case "!=":
		n.Min, n.Max = v, v
		return &Not{p.base(), n}
	case ">":
		n.Min, n.MinExclusive = v, true
	case ">=":
		n.Min = v
	case "<":
		n.Max, n.MaxExclusive = v, true
	case "<=":
		n.Max = v
	}
	return n
}

// bracket parses the clauses in brackets: numeric ranges, circles, shapes and vector ranges.
func (p *parser) bracket(name token) Node {
	p.expect(lbracket)
	if p.tok.kind == term && p.o.Dialect > 1 {
		if strings.EqualFold(p.tok.text, "VECTOR_RANGE") {
			return p.vectorRange(name)
		}
		for i, relation := range [...]string{"WITHIN", "CONTAINS", "INTERSECTS", "DISJOINT"} {
			if strings.EqualFold(p.tok.text, relation) {
				return p.geoShape(name, Relation(i))
			}
		}
	}
	first, firstOpen := p.bound()
	if p.take(rbracket) {
		p.typed(name, NumericField)
		return p.numericRange(name, first, first, firstOpen, firstOpen)
	}
	second, secondOpen := p.bound()
	if p.take(rbracket) {
		p.typed(name, NumericField)
		return p.numericRange(name, first, second, firstOpen, secondOpen)
	}
	if firstOpen || secondOpen {
		p.unexpected()
	}
	radius := p.number()
	unit := p.text()
	p.expect(rbracket)
	p.typed(name, GeoField)
	return p.circle(name, first, second, radius, unit)
}

// bound parses an end of a numeric range.
func (p *parser) bound() (v float64, exclusive bool) {
	exclusive = p.take(lparen)
	return p.number(), exclusive
}

func (p *parser) numericRange(name token, low, high float64, lowOpen, highOpen bool) Node {
	if low > high {
		p.failLate("SEARCH_SYNTAX", "Invalid numeric range (min > max): @%s:[%s %s]", unescape(name.text),
			sixDigits(low), sixDigits(high))
	}
	return &Numeric{p.base(), unescape(name.text), low, high, lowOpen, highOpen}
}

func (p *parser) circle(name token, lon, lat, radius float64, unit string) Node {
	n := &Geo{p.base(), unescape(name.text), lon, lat, radius, strings.ToLower(unit)}
	if reason := n.Invalid(); reason != "" && p.late == nil && p.err == nil {
		p.failLate("SEARCH_SYNTAX", "%s", reason)
	}
	return n
}

// text parses a word or a parameter.
func (p *parser) text() (text string) {
	switch t := p.tok; {
	case t.kind == term:
		text = unescape(t.text)
	case t.kind == quoted && p.o.Dialect > 1:
		text = unescape(t.text)
	case t.kind == param && p.o.Dialect > 1:
		text, _ = p.param(t)
	default:
		p.unexpected()
	}
	p.advance()
	return text
}

func (p *parser) geoShape(name token, relation Relation) Node {
	p.advance()
	wkt, _ := p.param(p.expect(param))
	p.expect(rbracket)
	p.typed(name, GeoShapeField)
	return &GeoShape{p.base(), unescape(name.text), relation, wkt}
}

// tag parses the values of a TAG field.
func (p *parser) tag(name token) Node {
	p.expect(lbrace)
	f := p.typed(name, TagField)
	n := &Tag{Base: p.base(), Field: unescape(name.text)}
	for {
		n.Values = appendNode(n.Values, p.tagValue(f))
		if !p.take(or) {
			break
		}
	}
	p.expect(rbrace)
	return n
}

// tagValue parses one value: words, a quoted text, a parameter, or one of them with stars.
func (p *parser) tagValue(f Field) Node {
	cased := fold
	if f.CaseSensitive {
		cased = func(s string) string { return s }
	}
	t := p.tok
	if p.o.Dialect > 1 || t.body != param && t.kind != param {
		switch t.kind {
		case quoted:
			p.advance()
			if t.text == "" && p.o.Schema != nil && !f.IndexEmpty {
				p.emptyTerm()
			}
			return &Term{Base: p.base(), Text: cased(strings.TrimSpace(unescape(t.text))), Verbatim: true}
		case param:
			p.advance()
			text, _ := p.param(t)
			return &Term{Base: p.base(), Text: cased(strings.TrimSpace(text)), Verbatim: true}
		case wildcard:
			p.advance()
			return &Wildcard{p.base(), cased(unquoteWildcard(t.text))}
		case suffix, infix:
			p.advance()
			text, ok := unescape(t.text), true
			if t.body == param {
				text, ok = p.param(t)
			}
			if !ok {
				return nil
			}
			return &Affix{p.base(), affixKind(t), cased(text)}
		}
	}
	return p.tagWords(cased)
}

// tagWords parses words; the last may have a star. The blanks between them are kept; punctuation is one blank.
func (p *parser) tagWords(cased func(string) string) Node {
	var text strings.Builder
	for first := true; ; first = false {
		t := p.tok
		isWord := t.kind == term || t.kind == number || t.kind == inf
		if !isWord && (t.kind != prefix || t.body == param && (!first || p.o.Dialect == 1)) {
			if first {
				p.unexpected()
				return nil
			}
			return &Term{Base: p.base(), Text: cased(strings.TrimSpace(text.String())), Verbatim: true}
		}
		if !first {
			text.WriteString(p.gapBefore(t))
		}
		word := unescape(t.text)
		if t.body == param && t.kind == prefix {
			word, _ = p.param(t)
		}
		text.WriteString(word)
		p.advance()
		if t.kind == prefix {
			return &Affix{p.base(), Prefix, cased(strings.TrimLeft(text.String(), " "))}
		}
	}
}

// gapBefore returns the blanks between a token and the word before it.
func (p *parser) gapBefore(t token) string {
	start := t.pos
	for start > 0 && p.lex.in[start-1] == ' ' {
		start--
	}
	if start == t.pos {
		return " "
	}
	return p.lex.in[start:t.pos]
}
