package server

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/meowdis/meowdis/resp"
)

// form is how a request wants its reply. The zero form is plain JSON.
type form struct {
	resp2  bool // raw RESP2, the one form that keeps every byte and kind
	base64 bool // JSON with its strings in base64
}

func formOf(h http.Header) (form, error) {
	f := form{base64: h.Get("Upstash-Encoding") == "base64"}
	switch cmp.Or(h.Get("Upstash-Response-Format"), h.Get("Upstash-Reponse-Format")) { // as Upstash's own examples spell it
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

// answer is what a request is answered.
type answer struct {
	status  int
	replies []resp.Value
	many    bool // a pipeline's replies, and not one
}

func one(status int, v resp.Value) answer { return answer{status: status, replies: []resp.Value{v}} }

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

func (b *body) answer(a answer) {
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

// send answers a request. The time for a client that takes nothing begins anew with
// each piece.
func (s *Server) send(w http.ResponseWriter, f form, a answer) {
	kind := "application/json"
	if f.resp2 {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	begun, wire := false, http.NewResponseController(w)
	var broken error
	write := func(piece []byte) {
		if !begun {
			w.WriteHeader(a.status)
			begun = true
		}
		for len(piece) > 0 && broken == nil {
			n := min(len(piece), writePiece)
			// A recorder of a test has no deadlines.
			_ = wire.SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
			_, broken = w.Write(piece[:n])
			piece = piece[n:]
		}
	}
	b := body{form: f, sink: write}
	b.answer(a)
	if !begun {
		w.Header().Set("Content-Length", strconv.Itoa(len(b.out)))
	}
	write(b.out)
}
