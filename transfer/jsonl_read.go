package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meowdis/meowdis/rdb"
)

// FromJSONLines yields what JSON lines hold, as NewJSONWriter writes them.
func FromJSONLines(in io.Reader) Source {
	return func(yield func(Part, error) bool) {
		r := bufio.NewReaderSize(in, 64<<10)
		var before *jsonLine // whose key goes on
		var key *Key
		for number := 1; ; number++ {
			text, err := r.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Part{}, err)
				return
			}
			if len(bytes.TrimSpace(text)) > 0 {
				p, line, bad := parseLine(text, before, key)
				if bad != nil {
					yield(Part{}, fmt.Errorf("line %d: %w", number, notJSON(bad, err != nil)))
					return
				}
				if !yield(p, nil) {
					return
				}
				if before, key = nil, nil; line.More {
					before, key = line, p.Key
				}
			}
			if err != nil {
				if before != nil {
					yield(Part{}, fmt.Errorf("line %d: it ends here, in the middle of %s", number, key))
				}
				return
			}
		}
	}
}

// notJSON is what is wrong with a line, without the words of the parser. The last
// one may be cut off.
func notJSON(err error, last bool) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%q cannot be a %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("a %s is not what should be here", kind.Value)
	case last && (errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax)):
		return errors.New("the file ends in the middle of it, and is incomplete")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax):
		return errors.New("it is no JSON")
	}
	if says, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(says)
	}
	return err
}

// parseLine reads a line behind the line before, when that one's key goes on.
func parseLine(text []byte, before *jsonLine, key *Key) (Part, *jsonLine, error) {
	line := &jsonLine{}
	if err := strict(text, line); err != nil {
		return Part{}, nil, err
	}
	p := Part{Key: key, First: line.Part <= 1, Last: !line.More, Changed: line.Changed}
	switch {
	case before == nil && !p.First:
		return p, nil, errors.New("its key's first part is missing")
	case before != nil && (line.Part != before.Part+1 || !bytes.Equal(line.Key, before.Key) || line.DB != before.DB || line.Type != before.Type):
		return p, nil, fmt.Errorf("part %d of %s should be here", before.Part+1, key)
	case line.DB < 0 || line.Expires < 0 || line.More && line.Part < 1:
		return p, nil, errors.New("a number is out of range")
	case before == nil:
		p.Key = &Key{DB: line.DB, Name: line.Key, Type: line.Type, ExpiresAt: line.Expires, Count: line.Count}
	}
	if line.Void {
		p.Err = errVoid
		return p, line, nil
	}
	var err error
	if p.Value, err = jsonValue(line.Type, line.Value); err == nil && p.First && p.Last {
		p.Key.Count = int64(p.Value.Len())
	}
	return p, line, err
}

// jsonValue reads a value of the type.
func jsonValue(t Type, in json.RawMessage) (Value, error) {
	if len(in) == 0 {
		return nil, errors.New("the value is missing")
	}
	switch t {
	case StringType:
		var b blob
		err := json.Unmarshal(in, &b)
		return rdb.String(b), err
	case ListType:
		all, err := parsed(in, asBytes)
		return rdb.List(all), err
	case SetType:
		all, err := parsed(in, asBytes)
		return rdb.Set(all), err
	case ZSetType:
		all, err := parsed(in, func(m jsonMember) rdb.Member { return rdb.Member{Name: m.Member, Score: float64(m.Score)} })
		return rdb.ZSet(all), err
	case HashType:
		all, err := parsed(in, func(f jsonField) rdb.Field { return rdb.Field{Name: f.Field, Value: f.Value, ExpiresAt: f.Expires} })
		return rdb.Hash(all), err
	case StreamType:
		var s jsonStream
		err := strict(in, &s)
		return streamFromJSON(s), err
	case JSONType:
		return Document(in), nil
	case VectorSetType:
		var s jsonVectorSet
		if err := strict(in, &s); err != nil {
			return nil, err
		}
		return vectorSetFromJSON(s)
	case ArrayType:
		var a jsonArray
		err := strict(in, &a)
		return &Array{each(a.Slots, func(s jsonSlot) Slot { return Slot{s.Index, s.Value} }), a.Next}, err
	}
	return nil, fmt.Errorf("there is no type %q", t)
}

// parsed reads a JSON array.
func parsed[J, T any](in json.RawMessage, as func(J) T) ([]T, error) {
	var all []J
	err := strict(in, &all)
	return each(all, as), err
}
