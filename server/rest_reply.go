package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/meowdis/meowdis/resp"
)

// form is how a request wants its reply. The zero form is plain JSON.
type form struct {
	resp2  bool // raw RESP2, the one form that keeps every byte and kind
	base64 bool // JSON with its strings in base64
}

func formOf(h http.Header) (form, error) {
	f := form{base64: h.Get("Upstash-Encoding") == "base64"}
	switch h.Get("Upstash-Response-Format") {
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

// one is the body for a single reply.
func (f form) one(v resp.Value) []byte {
	if f.resp2 {
		return resp.Append2(nil, v)
	}
	return marshal(f.item(v))
}

// many is the body for the replies of a pipeline, in RESP2 one behind the other.
func (f form) many(vs []resp.Value) []byte {
	if f.resp2 {
		var out []byte
		for _, v := range vs {
			out = resp.Append2(out, v)
		}
		return out
	}
	items := make([]item, len(vs))
	for i, v := range vs {
		items[i] = f.item(v)
	}
	return marshal(items)
}

// item is a reply in JSON: {"result": …} or {"error": "…"}.
type item struct {
	reply any
	key   string
}

func (i item) MarshalJSON() ([]byte, error) { return marshal(map[string]any{i.key: i.reply}), nil }

func (f form) item(v resp.Value) item {
	v = resp.Downgrade(v)
	switch {
	case v.IsError():
		return item{string(v.Str), "error"}
	case v.Kind == resp.Status && string(v.Str) == "OK":
		return item{"OK", "result"} // in base64 too
	}
	return item{f.value(v), "result"}
}

// value is a RESP2 reply as JSON has it.
func (f form) value(v resp.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind == resp.Int:
		return v.Int
	case v.Kind == resp.Error:
		return string(v.Str)
	case v.Kind != resp.Array && f.base64:
		return base64.StdEncoding.EncodeToString(v.Str)
	case v.Kind != resp.Array:
		return string(v.Str) // what is not UTF-8 becomes U+FFFD
	}
	elems := make([]any, len(v.Elems))
	for i, e := range v.Elems {
		elems[i] = f.value(e)
	}
	return elems
}

// marshal never fails: all that it is given are strings, integers and lists of
// them.
func marshal(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// fail answers an error before anything was run.
func (f form) fail(w http.ResponseWriter, status int, text string) {
	f.send(w, status, f.one(resp.MakeError(text)))
}

func (f form) send(w http.ResponseWriter, status int, body []byte) {
	kind := "application/json"
	if f.resp2 {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	w.Write(body)
}
