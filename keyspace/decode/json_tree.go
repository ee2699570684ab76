package decode

import (
	"errors"
	"strings"
)

// JSONValue is the place of a value in a JSON text.
type JSONValue struct {
	Name       string // as written, with quotes; "" for an element of an array
	Begin      int    // the start of the name, or of the value without a name
	Start, End int
	Count      int // members or elements; 0 for other values
}

// ErrNotJSON reports a text that is not valid JSON.
var ErrNotJSON = errors.New("the text is not valid JSON")

// FindJSON returns the place of the value at start, after white space. It skips over the value without
// decoding it, and checks only its brackets and quotes.
func FindJSON(text string, start int) (JSONValue, error) {
	v := JSONValue{Start: skipSpace(text, start)}
	v.Begin = v.Start
	if v.Start == len(text) {
		return v, ErrNotJSON
	}
	switch text[v.Start] {
	case '"':
		end := skipString(text, v.Start)
		v.End = end
		if end < 0 {
			return v, ErrNotJSON
		}
		return v, nil
	case '{', '[':
		return skipContainer(text, v)
	}
	v.End = v.Start
	for v.End < len(text) && !endsScalar[text[v.End]] {
		v.End++
	}
	if v.End == v.Start {
		return v, ErrNotJSON
	}
	return v, nil
}

// endsScalar selects the bytes that end a number or a word.
var endsScalar = [256]bool{',': true, ']': true, '}': true, ' ': true, '\t': true, '\r': true, '\n': true}

// skipContainer finds the end of an object or array, and counts its members.
func skipContainer(text string, v JSONValue) (JSONValue, error) {
	depth, empty := 0, true
	for i := v.Start; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := skipString(text, i)
			if end < 0 {
				return v, ErrNotJSON
			}
			i, empty = end-1, false
		case '{', '[':
			if depth > 0 {
				empty = false
			}
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				if v.End = i + 1; !empty {
					v.Count++
				}
				return v, nil
			}
		case ',':
			if depth == 1 {
				v.Count++
			}
		case ' ', '\t', '\r', '\n', ':':
		default:
			empty = false
		}
	}
	return v, ErrNotJSON
}

// skipString returns the end of the string at start, or -1.
func skipString(text string, start int) int {
	for at := start + 1; ; {
		i := strings.IndexByte(text[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if at++; escapes%2 == 0 {
			return at
		}
	}
}

func skipSpace(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// memberName returns the quoted name of the member at start, and the offset after its colon; -1 if one is missing.
func memberName(text string, start int) (name string, at int) {
	end := -1
	if start < len(text) && text[start] == '"' {
		end = skipString(text, start)
	}
	if end < 0 {
		return "", -1
	}
	if at = skipSpace(text, end); at == len(text) || text[at] != ':' {
		return "", -1
	}
	return text[start:end], at + 1
}

// CutJSON returns the place of the member or element at an offset, whose end is missing in a text that is cut off; ok is
// false if its value does not begin in the text. at may be before the comma in front of it.
func CutJSON(text string, at int, object bool) (v JSONValue, ok bool) {
	if at = skipSpace(text, at); at < len(text) && text[at] == ',' {
		at = skipSpace(text, at+1)
	}
	v = JSONValue{Begin: at, End: len(text)}
	if object {
		if v.Name, at = memberName(text, at); at < 0 {
			return v, false
		}
	}
	v.Start = skipSpace(text, at)
	return v, v.Start < len(text)
}

// EachJSON calls each with the members or elements of a container from offset at, which is its start or the
// end of a member, until each returns false.
func EachJSON(text string, container JSONValue, at int, each func(JSONValue) bool) error {
	object := text[container.Start] == '{'
	if at == container.Start {
		at++
	}
	for {
		if at = skipSpace(text, at); at < len(text) && text[at] == ',' {
			at = skipSpace(text, at+1)
		}
		if at >= container.End-1 {
			return nil
		}
		name, begin := "", at
		if object {
			if name, at = memberName(text, at); at < 0 {
				return ErrNotJSON
			}
		}
		v, err := FindJSON(text, at)
		if err != nil {
			return err
		}
		if v.Name, v.Begin = name, begin; !each(v) {
			return nil
		}
		at = v.End
	}
}
