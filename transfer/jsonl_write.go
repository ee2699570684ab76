package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/rdb"
)

// JSONWriter is the sink that writes JSON, a line for each part.
type JSONWriter struct {
	out  *json.Encoder
	part int
}

// NewJSONWriter makes a sink that writes JSON lines to out.
func NewJSONWriter(out io.Writer) *JSONWriter {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return &JSONWriter{out: e}
}

// Put writes a line.
func (w *JSONWriter) Put(_ context.Context, p Part) error {
	if p.First {
		w.part = 0
	}
	w.part++
	line := jsonLine{DB: p.Key.DB, Key: p.Key.Name, Type: p.Key.Type, More: !p.Last, Changed: p.Last && p.Changed, Void: p.Err != nil}
	if !p.First || !p.Last {
		line.Part = w.part
	}
	if p.First {
		line.Expires = p.Key.ExpiresAt
	}
	if p.First && !p.Last {
		line.Count = p.Key.Count
	}
	if p.Err == nil {
		var err error
		if line.Value, err = appendJSONValue(p); err != nil {
			return fmt.Errorf("%s: %w", p.Key, err)
		}
	}
	return w.out.Encode(line)
}

// Close has nothing to do.
func (w *JSONWriter) Close(_ context.Context, cause error) error { return cause }

func appendJSONValue(p Part) (json.RawMessage, error) {
	var v any
	switch value := p.Value.(type) {
	case rdb.String:
		v = blob(value)
	case rdb.List:
		v = each(value, asBlob)
	case rdb.Set:
		v = each(value, asBlob)
	case rdb.ZSet:
		v = each(value, func(m rdb.Member) jsonMember { return jsonMember{m.Name, score(m.Score)} })
	case rdb.Hash:
		v = each(value, func(f rdb.Field) jsonField { return jsonField{f.Name, f.Value, f.ExpiresAt} })
	case *rdb.Stream:
		v = streamToJSON(value)
	case Document:
		v = json.RawMessage(value)
	case *VectorSet:
		v = vectorSetToJSON(value)
	case *Array:
		v = jsonArray{each(value.Slots, func(s Slot) jsonSlot { return jsonSlot{s.Index, s.Value} }), value.Next}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}

func each[A, B any](all []A, as func(A) B) []B {
	out := make([]B, len(all))
	for i, a := range all {
		out[i] = as(a)
	}
	return out
}

func asBlob(b []byte) blob { return b }

func asBytes(b blob) []byte { return b }

func streamToJSON(s *rdb.Stream) jsonStream {
	return jsonStream{
		Entries: each(s.Entries, func(e rdb.Entry) jsonEntry { return jsonEntry{jsonID(e.ID), each(e.Fields, asBlob)} }),
		Last:    jsonID(s.Last), Deleted: jsonID(s.Deleted), Added: s.Added,
		Groups: each(s.Groups, func(g rdb.Group) jsonGroup {
			out := jsonGroup{Name: g.Name, Last: jsonID(g.Last), Consumers: each(g.Consumers, consumerToJSON)}
			if g.Read != rdb.Unknown {
				out.Read = &g.Read
			}
			return out
		}),
	}
}

func consumerToJSON(c rdb.Consumer) jsonConsumer {
	out := jsonConsumer{Name: c.Name, Seen: c.SeenAt, Pending: each(c.Pending, func(p rdb.Pending) jsonPending {
		return jsonPending{jsonID(p.ID), p.DeliveredAt, p.Deliveries}
	})}
	if c.ActiveAt >= 0 {
		out.Active = &c.ActiveAt
	}
	return out
}

func streamFromJSON(s jsonStream) *rdb.Stream {
	return &rdb.Stream{
		Entries: each(s.Entries, func(e jsonEntry) rdb.Entry { return rdb.Entry{ID: rdb.ID(e.ID), Fields: each(e.Fields, asBytes)} }),
		Last:    rdb.ID(s.Last), Deleted: rdb.ID(s.Deleted), Added: s.Added,
		Groups: each(s.Groups, func(g jsonGroup) rdb.Group {
			return rdb.Group{Name: g.Name, Last: rdb.ID(g.Last), Read: orElse(g.Read, rdb.Unknown), Consumers: each(g.Consumers, consumerFromJSON)}
		}),
	}
}

func consumerFromJSON(c jsonConsumer) rdb.Consumer {
	return rdb.Consumer{Name: c.Name, SeenAt: c.Seen, ActiveAt: orElse(c.Active, -1), Pending: each(c.Pending, func(p jsonPending) rdb.Pending {
		return rdb.Pending{ID: rdb.ID(p.ID), DeliveredAt: p.Delivered, Deliveries: p.Deliveries}
	})}
}

func orElse(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}
