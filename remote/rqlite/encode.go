package rqlite

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// appendStatement appends a statement in rqlite's form: its text, then its arguments.
func appendStatement(out []byte, text string, args []store.Value) []byte {
	if others := substitutes(args); others != nil {
		text = rebound(text, others)
	}
	out = wire.AppendValue(append(out, '['), store.String(text))
	for _, v := range args {
		out = appendArgument(append(out, ','), v)
	}
	return append(out, ']')
}

func appendArgument(out []byte, v store.Value) []byte {
	switch v.Kind() {
	case store.Integer:
		return strconv.AppendInt(out, v.Int(), 10)
	case store.Real:
		return appendReal(out, v.Float())
	case store.Text:
		if plain(v.Bytes()) {
			return wire.AppendValue(out, v)
		}
		return appendBlob(out, v.Bytes())
	case store.Blob:
		return appendBlob(out, v.Bytes())
	}
	return append(out, "null"...)
}

// appendReal appends a double so that rqlite does not read it as an integer. Infinities are part of the
// statement's text instead.
func appendReal(out []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(out, "null"...)
	}
	from := len(out)
	if out = strconv.AppendFloat(out, f, 'g', -1, 64); !bytes.ContainsAny(out[from:], ".e") {
		out = append(out, ".0"...)
	}
	return out
}

func appendBlob(out, b []byte) []byte {
	out = append(out, `"x'`...)
	return append(hex.AppendEncode(out, b), `'"`...)
}

// plain reports whether rqlite passes text on unchanged: it is valid UTF-8 and does not look like a blob
// literal.
func plain(text []byte) bool {
	if t := bytes.TrimSpace(text); len(t) >= 3 && t[0]|0x20 == 'x' && t[1] == '\'' && t[len(t)-1] == '\'' {
		return false
	}
	return utf8.Valid(text)
}
