package query

import (
	"strconv"
	"strings"
)

// knn parses the clause of the nearest neighbours after an arrow.
func (p *parser) knn(filter Node) Node {
	p.expect(lbracket)
	if p.tok.kind != term || !strings.EqualFold(p.tok.text, "KNN") {
		p.unexpected()
	}
	p.advance()
	if filter == nil {
		filter = &Nothing{p.base()}
	}
	n := &KNN{Base: p.base(), Filter: filter, K: p.count()}
	name := p.expect(modifier)
	n.Field = unescape(name.text)
	n.Param, n.Vector = p.vector(name)
	p.vectorOptions(n)
	p.expect(rbracket)
	for p.tok.kind == arrow {
		p.advance()
		p.attributes(n)
	}
	if n.ScoreAs == "" {
		n.ScoreAs = "__" + n.Field + "_score"
	}
	p.checkYield(n.ScoreAs)
	p.checkPolicy(n)
	return n
}

// checkPolicy refuses options of a filtered search that contradict each other, or have no filter.
func (p *parser) checkPolicy(n *KNN) {
	wrong := ""
	_, unfiltered := n.Filter.(*All)
	switch o := &n.VectorOptions; {
	case unfiltered && (o.HybridPolicy != "" || o.BatchSize != 0):
		wrong = "hybrid query attributes were sent for a non-hybrid query"
	case o.HybridPolicy != "ADHOC_BF":
	case o.BatchSize != 0:
		wrong = "'batch size' is irrelevant for the selected policy"
	case o.EFRuntime != 0:
		wrong = "'EF_RUNTIME' is irrelevant for the selected policy"
	}
	if wrong != "" {
		p.failLate("SEARCH_QUERY_BAD", "Error parsing vector similarity parameters: %s", wrong)
	}
}

// vectorOptions parses the options of a KNN: names with values, and AS with a name.
func (p *parser) vectorOptions(n *KNN) {
	for p.tok.kind == term {
		name := p.tok.text
		p.advance()
		value := p.attributeValue()
		if strings.EqualFold(name, "AS") {
			n.ScoreAs = value
		} else {
			p.setAttribute(n, name, value)
		}
	}
}

// count parses K.
func (p *parser) count() int {
	t := p.tok
	text := t.text
	if t.kind == param {
		text, _ = p.param(t)
	} else if t.kind != number {
		p.unexpected()
	}
	p.advance()
	k, err := strconv.ParseInt(text, 10, 32)
	if err != nil || k < 0 {
		p.failLate("SEARCH_NUMERIC_VALUE_INVALID", "Invalid numeric value (%s) for parameter `%s`", text, "K")
	}
	return int(k)
}

// vector parses the parameter with the bytes of a vector, and checks their number.
func (p *parser) vector(name token) (paramName, blob string) {
	t := p.expect(param)
	blob, ok := p.param(t)
	f := p.typed(name, Vector)
	if size := f.Dim * f.ElementBytes; ok && size > 0 && len(blob) != size {
		p.failLate("SEARCH_QUERY_BAD", "Error parsing vector similarity query: query vector blob size (%d) does not match index's expected size (%d).", len(blob), size)
	}
	return unescape(t.text), blob
}

// vectorRange parses the rest of [VECTOR_RANGE radius $vector].
func (p *parser) vectorRange(name token) Node {
	p.advance()
	n := &VectorRange{Base: p.base(), Field: unescape(name.text), Radius: p.number()}
	n.Param, n.Vector = p.vector(name)
	p.expect(rbracket)
	if n.Radius < 0 {
		p.failLate("SEARCH_QUERY_BAD", "Error parsing vector similarity query: negative radius (%s) given in a range query",
			strconv.FormatFloat(n.Radius, 'g', -1, 64))
	}
	return n
}

// checkYield refuses the name of a schema's field for a distance.
func (p *parser) checkYield(name string) {
	if p.o.Schema == nil {
		return
	}
	if _, taken := p.o.Schema.Field(name); taken {
		p.failLate("SEARCH_QUERY_BAD", "Property `%s` already exists in schema", name)
	}
}

// attributes parses the attributes of a node: {$name: value; …}. n is nil if the node has stop words only.
func (p *parser) attributes(n Node) {
	p.expect(lbrace)
	for p.tok.kind == param {
		name := unescape(p.tok.text)
		p.advance()
		p.expect(colon)
		value := p.attributeValue()
		if n != nil {
			p.setAttribute(n, name, value)
		}
		if !p.take(semicolon) {
			break
		}
	}
	p.expect(rbrace)
}

// attributeValue parses the value of an attribute: a word, a number or a parameter.
func (p *parser) attributeValue() (value string) {
	sign := ""
	if p.take(minus) {
		sign = "-"
	}
	switch t := p.tok; t.kind {
	case term, number, inf:
		value = unescape(t.text)
	case param:
		if p.o.Dialect == 1 {
			p.unexpected()
		}
		value, _ = p.param(t)
	default:
		p.unexpected()
	}
	p.advance()
	return sign + value
}

// setAttribute sets an attribute of a node. Names ignore case.
func (p *parser) setAttribute(n Node, name, value string) {
	b := n.Common()
	ok := true
	switch lower := strings.ToLower(name); lower {
	case "weight":
		var err error
		b.Weight, err = parseNumber(value)
		ok = err == nil && b.Weight >= 0
	case "slop":
		slop, err := strconv.ParseInt(value, 10, 32)
		ok = err == nil && slop >= -1
		b.Slop = new(int)
		*b.Slop = int(slop)
	case "inorder":
		b.InOrder, ok = parseBool(value)
	case "phonetic":
		b.Phonetic, ok = parseBool(value)
	default:
		options := vectorOptionsOf(n)
		if options == nil {
			p.failLate("SEARCH_OPTION_INVALID", "Invalid attribute %s", name)
			return
		}
		ok = p.setVectorOption(options, lower, name, value)
	}
	if !ok {
		p.failLate("SEARCH_SYNTAX", "Invalid value (%s) for `%s`", value, name)
	}
}

func vectorOptionsOf(n Node) *VectorOptions {
	switch n := n.(type) {
	case *KNN:
		return &n.VectorOptions
	case *VectorRange:
		return &n.VectorOptions
	}
	return nil
}

// setVectorOption sets an option of a vector clause; ok is false if the value is invalid. Options that change only
// speed are checked and ignored.
func (p *parser) setVectorOption(o *VectorOptions, lower, name, value string) (ok bool) {
	number, err := parseNumber(value)
	positive := err == nil && number > 0
	whole := positive && number == float64(int32(number))
	switch lower {
	case "yield_distance_as":
		if o.ScoreAs != "" && o.ScoreAs != value {
			p.failLate("SEARCH_QUERY_BAD", "Distance field was specified twice for vector query: %s and %s", o.ScoreAs, value)
		}
		o.ScoreAs = value
		p.checkYield(value)
		return true
	case "ef_runtime":
		o.EFRuntime = int(number)
		return whole
	case "epsilon":
		o.Epsilon = number
		return positive
	case "hybrid_policy":
		o.HybridPolicy = strings.ToUpper(value)
		if o.HybridPolicy != "ADHOC_BF" && o.HybridPolicy != "BATCHES" {
			p.failLate("SEARCH_QUERY_BAD", "Error parsing vector similarity parameters: invalid hybrid policy was given")
		}
		return true
	case "batch_size":
		o.BatchSize = int(number)
		return whole
	case "search_window_size", "search_buffer_capacity":
		return whole
	case "use_search_history":
		return strings.EqualFold(value, "ON") || strings.EqualFold(value, "OFF") || strings.EqualFold(value, "AUTO")
	case "shard_k_ratio":
		return positive && number <= 1
	}
	p.failLate("SEARCH_OPTION_INVALID", "Invalid attribute %s", name)
	return true
}

func parseBool(value string) (*bool, bool) {
	yes := strings.EqualFold(value, "true")
	return &yes, yes || strings.EqualFold(value, "false")
}
