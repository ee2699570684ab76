package rest

import (
	"cmp"
	"encoding/base64"
	"errors"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/resp"
)

// form selects the encoding of replies. The zero form is plain JSON.
type form struct {
	resp2  bool // raw RESP2, which preserves every byte and type
	base64 bool // JSON with strings in base64
}

// formOf returns the form that a request's headers select.
func formOf(header func(name string) string) (form, error) {
	f := form{base64: header("Upstash-Encoding") == "base64"}
	switch cmp.Or(header("Upstash-Response-Format"), header("Upstash-Reponse-Format")) { // misspelled in Upstash's docs
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

// Answer holds the response to a request.
type Answer struct {
	Status  int // HTTP status
	form    form
	replies []resp.Value
	many    bool // replies of a pipeline, not a single reply
}

// Single returns an answer with a single reply, in JSON.
func Single(status int, v resp.Value) Answer { return Answer{Status: status, replies: []resp.Value{v}} }

// BadRequest returns the answer to an invalid request.
func BadRequest(err error) Answer { return Single(statusBad, resp.MakeError(err.Error())) }

// ContentType returns the content type of the body.
func (a Answer) ContentType() string {
	if a.form.resp2 {
		return "application/octet-stream"
	}
	return "application/json"
}

// Body encodes the answer. It passes pieces of about resp.Piece bytes to sink, which must not keep them, and returns
// the last piece.
func (a Answer) Body(sink func([]byte)) []byte {
	b := body{form: a.form, sink: sink}
	b.answer(a)
	return b.out
}

// body encodes an answer in the requested form.
type body struct {
	form
	sink func([]byte)
	out  []byte
}

// flush passes a full piece to the sink.
func (b *body) flush() {
	if len(b.out) >= resp.Piece {
		b.sink(b.out)
		b.out = b.out[:0]
	}
}

func (b *body) text(s string) { b.out = append(b.out, s...) }

func (b *body) answer(a Answer) {
	if b.resp2 {
		for _, v := range a.replies { // concatenated
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
		b.flush()
	}
	if a.many {
		b.text("]")
	}
}

// item encodes a reply as {"result": …} or {"error": "…"}.
func (b *body) item(v resp.Value) {
	switch {
	case v.IsError():
		b.text(`{"error":`)
		b.plain(v.Str)
	case v.Kind == resp.Status && string(v.Str) == "OK":
		b.text(`{"result":"OK"`) // not encoded, even with base64
	default:
		b.text(`{"result":`)
		b.value(v)
	}
	b.text("}")
}

// value encodes the RESP2 form of a reply as JSON.
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
		if v.Packed != nil {
			next, stop := iter.Pull(v.Packed.All())
			defer stop()
			b.list(v.Len(), func(int) { e, _ := next(); b.value(e) })
			return
		}
		b.list(len(v.Elems), func(i int) { b.value(v.Elems[i]) })
	default:
		if s := resp.Downgrade(v).Str; b.base64 {
			b.encoded(s)
		} else {
			b.plain(s) // invalid UTF-8 becomes U+FFFD
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
		b.flush()
	}
	b.text("]")
}

// plain encodes a string in pieces, since a byte may become six.
func (b *body) plain(s []byte) {
	b.text(`"`)
	for len(s) > 0 {
		n := min(len(s), resp.Piece)
		for back := 0; n < len(s) && back < utf8.UTFMax && !utf8.RuneStart(s[n]); back++ {
			n--
		}
		b.out = resp.AppendJSONText(b.out, s[:n])
		s = s[n:]
		b.flush()
	}
	b.text(`"`)
}

// encoded encodes a string in base64, in pieces of whole groups of three bytes.
func (b *body) encoded(s []byte) {
	b.text(`"`)
	for len(s) > 0 {
		n := min(len(s), resp.Piece/3*3)
		b.out = base64.StdEncoding.AppendEncode(b.out, s[:n])
		s = s[n:]
		b.flush()
	}
	b.text(`"`)
}
