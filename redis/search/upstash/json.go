package upstash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Error is an error in a command; the text has no ERR.
type Error struct{ Text string }

// Error returns the text.
func (e *Error) Error() string { return e.Text }

func failure(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// The bounds of a JSON argument.
const (
	maxDepth   = 32
	maxMembers = 4096
)

// object holds the members of a JSON object in order.
type object []member

type member struct {
	name  string
	value any // object, []any, string, json.Number, bool or nil
}

func (o object) get(name string) (value any, ok bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// parseObject parses the text of a JSON object.
func parseObject(what, text string) (object, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	r := reader{d: d}
	value, err := r.value(0)
	if err == nil && d.More() {
		err = fmt.Errorf("more than one value")
	}
	o, ok := value.(object)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, failure("Invalid JSON in %s: it ends early", what)
	case err != nil:
		return nil, failure("Invalid JSON in %s: %v", what, err)
	case !ok:
		return nil, failure("Invalid JSON in %s: it must be an object", what)
	}
	return o, nil
}

type reader struct {
	d       *json.Decoder
	members int
}

func (r *reader) value(depth int) (any, error) {
	token, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	if r.members++; r.members > maxMembers {
		return nil, fmt.Errorf("more than %d members", maxMembers)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	o, list := object{}, []any{}
	for r.d.More() {
		var name string
		if delim == '{' {
			key, err := r.d.Token()
			if err != nil {
				return nil, err
			}
			name = key.(string)
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o, list = append(o, member{name, value}), append(list, value)
	}
	if _, err := r.d.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return o, nil
	}
	return list, nil
}
