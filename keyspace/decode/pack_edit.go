package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// packed holds the position of a MessagePack value in the input and in its JSON display.
type packed struct {
	from, to int // range in the input
	// range in the displayed one-line JSON
	shownFrom, shownTo int
	code               byte
	names              []string  // of a map: its keys as displayed
	keys               []*packed // of a map
	parts              []*packed // of a map or an array
}

// encode encodes text, edited from p's JSON display, as MessagePack. Unchanged values keep
// their original bytes.
func (p *packReader) encode(text string) ([]byte, error) {
	var one bytes.Buffer
	if err := json.Compact(&one, []byte(text)); err != nil {
		return nil, fmt.Errorf("this is no JSON, as which MessagePack is edited: %w", err)
	}
	e := packWriter{source: p.data, text: string(p.out)}
	e.enc = msgpack.NewEncoder(&e.out)
	e.enc.UseCompactInts(true)
	if err := e.value(one.Bytes(), p.root, 0); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

type packWriter struct {
	source []byte // the original MessagePack
	text   string // the displayed JSON
	out    bytes.Buffer
	enc    *msgpack.Encoder
}

func (w *packWriter) shown(p *packed) string { return w.text[p.shownFrom:p.shownTo] }

// value writes a value that replaces old, or a new value if old is nil.
func (w *packWriter) value(raw json.RawMessage, old *packed, depth int) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case depth > maxDepth:
		return errPack
	case old != nil && string(raw) == w.shown(old):
		w.out.Write(w.source[old.from:old.to])
		return nil
	case raw[0] == '{':
		return w.object(raw, old, depth)
	case raw[0] == '[':
		return w.array(raw, old, depth)
	case raw[0] == '"':
		return w.words(raw, old)
	case raw[0] == 'n':
		return w.enc.EncodeNil()
	case raw[0] == 't' || raw[0] == 'f':
		return w.enc.EncodeBool(raw[0] == 't')
	}
	return w.number(string(raw), old)
}

// member holds a name and value of an object.
type member struct {
	name  string
	value json.RawMessage
}

func members(raw json.RawMessage) (all []member, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err = dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (w *packWriter) object(raw json.RawMessage, old *packed, depth int) error {
	all, err := members(raw)
	if err != nil {
		return err
	}
	isMap := old != nil && old.keys != nil
	if !isMap {
		if done, err := w.special(all); done || err != nil {
			return err
		}
	}
	if err := w.enc.EncodeMapLen(len(all)); err != nil {
		return err
	}
	taken := map[int]bool{}
	for _, m := range all {
		var key, value *packed
		for i := 0; isMap && i < len(old.names); i++ {
			if old.names[i] == m.name && !taken[i] {
				taken[i], key, value = true, old.keys[i], old.parts[i]
				break
			}
		}
		if key != nil {
			w.out.Write(w.source[key.from:key.to])
		} else if err := w.enc.EncodeString(m.name); err != nil {
			return err
		}
		if err := w.value(m.value, value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// special writes bytes and extensions, displayed as objects: {"base64": "…"}.
func (w *packWriter) special(all []member) (done bool, err error) {
	var b []byte
	switch {
	case len(all) == 1 && all[0].name == "base64" && json.Unmarshal(all[0].value, &b) == nil:
		return true, w.enc.EncodeBytes(b)
	case len(all) != 2:
		return false, nil
	}
	if all[0].name == "extension" {
		all[0], all[1] = all[1], all[0]
	}
	var id int8
	if all[0].name != "base64" || all[1].name != "extension" || json.Unmarshal(all[0].value, &b) != nil || json.Unmarshal(all[1].value, &id) != nil {
		return false, nil
	}
	if err := w.enc.EncodeExtHeader(id, len(b)); err != nil {
		return true, err
	}
	w.out.Write(b)
	return true, nil
}

// array writes a list. An element that only moved keeps its original bytes.
func (w *packWriter) array(raw json.RawMessage, old *packed, depth int) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if err := w.enc.EncodeArrayLen(len(all)); err != nil {
		return err
	}
	was := map[string]*packed{}
	var parts []*packed
	if old != nil && old.keys == nil {
		parts = old.parts
	}
	for _, p := range parts {
		was[w.shown(p)] = p
	}
	for i, each := range all {
		like := was[string(bytes.TrimSpace(each))]
		if i < len(parts) && (like == nil || w.shown(parts[i]) == w.shown(like)) {
			like = parts[i]
		}
		if err := w.value(each, like, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// words writes a string, or a time if the old value was a time.
func (w *packWriter) words(raw json.RawMessage, old *packed) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if old != nil && msgpcode.IsExt(old.code) && strings.HasPrefix(w.shown(old), `"`) {
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return w.enc.EncodeTime(at)
		}
		return fmt.Errorf("%s is no time such as 2030-01-31T12:00:00Z", raw)
	}
	return w.enc.EncodeString(s)
}

// number writes a number with the old value's type, or as an integer if possible.
func (w *packWriter) number(text string, old *packed) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if old != nil && old.code == msgpcode.Float && float64(float32(f)) == f {
		return w.enc.EncodeFloat32(float32(f))
	}
	if old == nil || old.code != msgpcode.Float && old.code != msgpcode.Double {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return w.enc.EncodeInt(n)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return w.enc.EncodeUint(n)
		}
	}
	if math.IsInf(f, 0) {
		return errors.New(text + " is more than MessagePack holds")
	}
	return w.enc.EncodeFloat64(f)
}
