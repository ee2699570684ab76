package rest

import (
	"cmp"
	"encoding/base64"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/resp"
)

// form is how a request wants its reply. The zero form is plain JSON.
type form struct {
	resp2  bool // raw RESP2, the one form that keeps every byte and kind
	base64 bool // JSON with its strings in base64
}

// formOf reads it from a request's headers.
func formOf(header func(name string) string) (form, error) {
	f := form{base64: header("Upstash-Encoding") == "base64"}
	switch cmp.Or(header("Upstash-Response-Format"), header("Upstash-Reponse-Format")) { // as Upstash's own examples spell it
	case "", "json":
	case "resp2":
		if f.base64 {
			return form{}, errors.New("ERR Upstash-Encoding base64 cannot be combined with Upstash-Response-Format resp2")
		}
		f.resp2 = true
	default:
		return form{}, errors.New("ERR unsupported Upstash-Response-Format, it must be json or resp2")
	}
	return f, nil
}

// Answer is what a request is answered.
type Answer struct {
	Status  int // of HTTP
	form    form
	replies []resp.Value
	many    bool // a pipeline's replies, and not one
}

// One is an answer of a single reply, in JSON.
func One(status int, v resp.Value) Answer { return Answer{Status: status, replies: []resp.Value{v}} }

// Bad is the answer to a request that is no good.
func Bad(err error) Answer { return One(statusBad, resp.MakeError(err.Error())) }

// ContentType is what the body of the answer is.
func (a Answer) ContentType() string {
	if a.form.resp2 {
		return "application/octet-stream"
	}
	return "application/json"
}

// Body writes the body of the answer: pieces of about resp.Piece bytes go to sink, which does not keep
// them, and the last one is returned.
func (a Answer) Body(sink func([]byte)) []byte {
	b := body{form: a.form, sink: sink}
	b.answer(a)
	return b.out
}

// body writes an answer in the form that is wanted.
type body struct {
	form
	sink func([]byte)
	out  []byte
}

// spill hands over what there is when it is long enough.
func (b *body) spill() {
	if len(b.out) >= resp.Piece {
		b.sink(b.out)
		b.out = b.out[:0]
	}
}

func (b *body) text(s string) { b.out = append(b.out, s...) }

func (b *body) answer(a Answer) {
	if b.resp2 {
		for _, v := range a.replies { // one after the other
			b.out = resp.Stream(b.out, v, false, b.sink)
		}
		return
	}
	if a.many {
		b.text("[")
	}
	for i, v := range a.replies {
		if i > 0 {
			b.text(",")
		}
		b.item(v)
		b.spill()
	}
	if a.many {
		b.text("]")
	}
}

// item is a reply in JSON: {"result": …} or {"error": "…"}.
func (b *body) item(v resp.Value) {
	switch {
	case v.IsError():
		b.text(`{"error":`)
		b.plain(v.Str)
	case v.Kind == resp.Status && string(v.Str) == "OK":
		b.text(`{"result":"OK"`) // in base64 too
	default:
		b.text(`{"result":`)
		b.value(v)
	}
	b.text("}")
}

// value is a reply as JSON has what RESP2 sends.
func (b *body) value(v resp.Value) {
	switch v.Kind {
	case resp.Null, resp.NullArray:
		b.text("null")
	case resp.Int, resp.Bool:
		b.out = strconv.AppendInt(b.out, v.Int, 10)
	case resp.Error:
		b.plain(v.Str)
	case resp.PairMap:
		b.list(len(v.Elems)/2, func(i int) { b.list(2, func(j int) { b.value(v.Elems[2*i+j]) }) })
	case resp.Array, resp.Map, resp.Set, resp.Push, resp.Scored:
		b.list(len(v.Elems), func(i int) { b.value(v.Elems[i]) })
	default:
		if s := resp.Downgrade(v).Str; b.base64 {
			b.encoded(s)
		} else {
			b.plain(s) // what is not UTF-8 becomes U+FFFD
		}
	}
}

func (b *body) list(n int, elem func(int)) {
	b.text("[")
	for i := range n {
		if i > 0 {
			b.text(",")
		}
		elem(i)
		b.spill()
	}
	b.text("]")
}

// plain is a string, piece by piece: a byte may become six.
func (b *body) plain(s []byte) {
	b.text(`"`)
	for len(s) > 0 {
		n := min(len(s), resp.Piece)
		for back := 0; n < len(s) && back < utf8.UTFMax && !utf8.RuneStart(s[n]); back++ {
			n--
		}
		b.out = resp.AppendJSONText(b.out, s[:n])
		s = s[n:]
		b.spill()
	}
	b.text(`"`)
}

// encoded is a string in base64, in pieces of whole groups of three bytes.
func (b *body) encoded(s []byte) {
	b.text(`"`)
	for len(s) > 0 {
		n := min(len(s), resp.Piece/3*3)
		b.out = base64.StdEncoding.AppendEncode(b.out, s[:n])
		s = s[n:]
		b.spill()
	}
	b.text(`"`)
}
