package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// JSONWriter is a sink that writes one line of JSON per part.
type JSONWriter struct {
	bufferedWriter
	part  int
	array bool // the lines are elements of one array
	begun bool // the opening bracket was written
}

// NewJSONWriter returns a sink that writes JSON lines to out.
func NewJSONWriter(out io.Writer) *JSONWriter {
	return &JSONWriter{bufferedWriter: bufferedWriter{out: out}}
}

// NewJSONArrayWriter returns a sink that writes an array of the objects that NewJSONWriter
// writes as lines.
func NewJSONArrayWriter(out io.Writer) *JSONWriter {
	return &JSONWriter{bufferedWriter: bufferedWriter{out: out}, array: true}
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
	head, err := marshal(line)
	w.separate()
	if err == nil && p.Err == nil {
		w.text(string(head[:len(head)-1]), `,"value":`)
		err = w.value(p.Value)
		head = head[len(head)-1:]
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Key, err)
	}
	w.text(string(head))
	if !w.array {
		w.text("\n")
	}
	w.flush()
	return w.err
}

// separate begins an element of the array.
func (w *JSONWriter) separate() {
	switch {
	case !w.array:
	case w.begun:
		w.text(",\n")
	default:
		w.begun = true
		w.text("[\n")
	}
}

// Close ends the array.
func (w *JSONWriter) Close(_ context.Context, cause error) error {
	switch {
	case cause != nil || !w.array:
		return cause
	case !w.begun:
		w.text("[]\n")
	default:
		w.text("\n]\n")
	}
	w.flush()
	return w.err
}

// marshal encodes v as JSON without escaping < and >.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// blob writes bytes as a string, or as {"base64":"…"} if they are not UTF-8.
func (w *JSONWriter) blob(b []byte) {
	if len(b) < piece {
		w.buf = resp.AppendJSON(w.buf, resp.MakeBulk(b))
		w.text()
		return
	}
	begin, end, add, isText := `"`, `"`, resp.AppendJSONText, utf8.Valid(b)
	if !isText {
		begin, end, add = `{"base64":"`, `"}`, resp.AppendBase64
	}
	w.text(begin)
	w.pieces(b, isText, add)
	w.text(end)
}

// list writes an array of n elements.
func (w *JSONWriter) list(n int, element func(i int)) {
	w.text("[")
	for i := range n {
		if i > 0 {
			w.text(",")
		}
		element(i)
	}
	w.text("]")
}

func (w *JSONWriter) blobs(all [][]byte) { w.list(len(all), func(i int) { w.blob(all[i]) }) }

func (w *JSONWriter) value(value Value) error {
	switch v := value.(type) {
	case rdb.String:
		w.blob(v)
	case rdb.List:
		w.blobs(v)
	case rdb.Set:
		w.blobs(v)
	case rdb.ZSet:
		w.list(len(v), func(i int) {
			w.text(`{"member":`)
			w.blob(v[i].Name)
			w.buf = resp.AppendJSON(append(w.buf, `,"score":`...), resp.MakeDouble(v[i].Score))
			w.text("}")
		})
	case rdb.Hash:
		w.list(len(v), func(i int) { w.field(v[i]) })
	case *rdb.Module:
		w.blob(rdb.Dump(v, nil))
	case Document:
		return w.document(v)
	case *rdb.Stream:
		return w.stream(v)
	case *VectorSet:
		return w.vectors(v)
	case *Elements:
		w.list(len(v.List), func(i int) {
			sep := "{"
			for n, name := range v.Of.Parts {
				w.text(sep, `"`, name, `":`)
				w.blob(v.List[i][n])
				sep = ","
			}
			w.text("}")
		})
	case *Array:
		w.text(`{"slots":`)
		w.list(len(v.Slots), func(i int) {
			w.text(`{"index":`, strconv.FormatUint(v.Slots[i].Index, 10), `,"value":`)
			w.blob(v.Slots[i].Value)
			w.text("}")
		})
		if v.Next > 0 {
			w.text(`,"next":`, strconv.FormatUint(v.Next, 10))
		}
		w.text("}")
	}
	return nil
}

func (w *JSONWriter) field(f rdb.Field) {
	w.text(`{"field":`)
	w.blob(f.Name)
	w.text(`,"value":`)
	w.blob(f.Value)
	if f.ExpiresAt != 0 {
		w.text(`,"expires":`, strconv.FormatInt(f.ExpiresAt, 10))
	}
	w.text("}")
}

// document writes a document without insignificant whitespace.
func (w *JSONWriter) document(d Document) error {
	compact := bytes.NewBuffer(make([]byte, 0, len(d)))
	if err := json.Compact(compact, d); err != nil {
		return err
	}
	w.bytes(compact.Bytes())
	return nil
}

func (w *JSONWriter) stream(s *rdb.Stream) error {
	w.text(`{"entries":`)
	w.list(len(s.Entries), func(i int) {
		w.text(`{"id":"`, string(formatID(s.Entries[i].ID)), `","fields":`)
		w.blobs(s.Entries[i].Fields)
		w.text("}")
	})
	state, err := marshal(streamToJSON(s))
	if err == nil && len(state) > len("{}") {
		w.text(",", string(state[1:len(state)-1]))
	}
	w.text("}")
	return err
}

func (w *JSONWriter) vectors(s *VectorSet) (err error) {
	shape, err := marshal(jsonVectorShape{s.Kind.String(), s.Dim, s.Input, s.M})
	if err != nil {
		return err
	}
	w.text(string(shape[:len(shape)-1]), `,"elements":`)
	w.list(len(s.Elements), func(i int) {
		e := s.Elements[i]
		w.text(`{"element":`)
		w.blob(e.Name)
		vector, bad := marshal(s.Kind.Source(e.Record, s.Dim))
		if bad != nil {
			err = bad
		}
		w.text(`,"vector":`, string(vector))
		if e.Attributes != nil {
			w.text(`,"attributes":`)
			w.blob(e.Attributes)
		}
		w.text("}")
	})
	w.text("}")
	return err
}

func each[A, B any](all []A, as func(A) B) []B {
	out := make([]B, len(all))
	for i, a := range all {
		out[i] = as(a)
	}
	return out
}

// streamToJSON returns the metadata of a stream.
func streamToJSON(s *rdb.Stream) jsonStream {
	return jsonStream{
		Last: jsonID(s.Last), Deleted: jsonID(s.Deleted), Added: s.Added,
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
