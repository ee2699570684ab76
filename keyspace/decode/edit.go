package decode

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Editable holds the innermost layer of a value as editable text.
type Editable struct {
	Names string // layer names: "gzip → JSON"
	Text  string
	JSON  bool
	// Encode encodes a changed text in layers of the same kinds. The unchanged Text gives the
	// original bytes. The error describes an invalid text.
	Encode func(text string) ([]byte, error)
}

// Edit opens the layers of b. ok is false if b has no layers, if the innermost layer is neither
// text nor MessagePack, or if it exceeds the limit of o.
func Edit(b []byte, o Options) (in Editable, ok bool) {
	o = o.withDefaults()
	if o.Partial || len(b) > o.MaxBytes {
		return in, false
	}
	var names []string
	var wraps []func([]byte) ([]byte, error)
	inner := b
	for range o.MaxLayers {
		name, opened, more := open(inner, false, o.MaxBytes)
		if name == "" {
			break
		}
		wrap := wrapper(name, inner)
		if more || wrap == nil {
			return in, false
		}
		names, wraps, inner = append(names, name), append(wraps, wrap), opened
	}
	name, text, store := innermost(inner, o)
	if store == nil || len(wraps) == 0 && name != "MessagePack" {
		return in, false
	}
	in = Editable{Names: strings.Join(append(names, name), " → "), Text: text, JSON: name != textName}
	in.Encode = func(changed string) ([]byte, error) {
		if changed == text {
			return b, nil
		}
		out, err := store(changed)
		for i := len(wraps) - 1; i >= 0 && err == nil; i-- {
			out, err = wraps[i](out)
		}
		return out, err
	}
	return in, true
}

// innermost returns the innermost layer as text and a function that encodes changed text, or
// nil if the layer cannot be edited.
func innermost(b []byte, o Options) (name, text string, store func(text string) ([]byte, error)) {
	if _, ok := prettyJSON(b, o.MaxBytes); ok {
		return "JSON", indented(b), func(text string) ([]byte, error) { return inStyle(b, text) }
	}
	if isText(b, false) {
		return textName, string(b), func(text string) ([]byte, error) { return []byte(text), nil }
	}
	if p, ok := readPack(b, o.MaxBytes, &packed{}); ok {
		return "MessagePack", indented(p.out), func(text string) ([]byte, error) { return p.encode(text) }
	}
	return "", "", nil
}

// indented indents a document, unless it already has several lines.
func indented(b []byte) string {
	if bytes.ContainsRune(b, '\n') {
		return string(b)
	}
	out, ok := indentedJSON(b)
	if !ok {
		return string(b)
	}
	return string(out)
}

// inStyle writes a document in the style of b: on one line if b is one line.
func inStyle(b []byte, text string) ([]byte, error) {
	if bytes.ContainsRune(b, '\n') {
		return []byte(text), nil
	}
	w, _, usual := CompactJSON(b, Options{MaxBytes: len(b)})
	if !usual {
		w = jsonStyles[0]
	}
	line, err := w.Line(text)
	return []byte(line), err
}

// wrapper returns a function that wraps bytes in a layer like the given one, or nil if the
// layer cannot be rebuilt.
func wrapper(name string, layer []byte) func([]byte) ([]byte, error) {
	switch name {
	case "gzip":
		return func(b []byte) ([]byte, error) { return gzipAs(layer, b) }
	case "zlib":
		level := []int{zlib.BestSpeed, zlib.BestSpeed, zlib.DefaultCompression, zlib.BestCompression}[layer[1]>>6]
		return func(b []byte) ([]byte, error) {
			return compressed(b, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, level) })
		}
	case "zstd":
		summed := len(layer) > 4 && layer[4]&4 != 0
		return func(b []byte) ([]byte, error) {
			return compressed(b, func(w io.Writer) (io.WriteCloser, error) {
				return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(summed))
			})
		}
	case "base64":
		return base64As(layer)
	}
	return nil
}

func compressed(b []byte, writer func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var out bytes.Buffer
	w, err := writer(&out)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(b)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// gzipAs compresses b with the name, comment and time in the header of layer.
func gzipAs(layer, b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return nil, err
	}
	level := gzip.DefaultCompression
	switch layer[8] { // XFL, RFC 1952
	case 2:
		level = gzip.BestCompression
	case 4:
		level = gzip.BestSpeed
	}
	out, err := compressed(b, func(w io.Writer) (io.WriteCloser, error) {
		z, err := gzip.NewWriterLevel(w, level)
		if err == nil {
			z.Header = r.Header
		}
		return z, err
	})
	return out, errors.Join(err, r.Close())
}

// base64As encodes with the alphabet, padding and surrounding whitespace of layer. It returns
// nil for a layer with line breaks.
func base64As(layer []byte) func([]byte) ([]byte, error) {
	body := bytes.TrimSpace(layer)
	if bytes.ContainsAny(body, "\r\n") {
		return nil
	}
	encoding := base64Of(body)
	at := bytes.Index(layer, body)
	head, tail := layer[:at], layer[at+len(body):]
	return func(b []byte) ([]byte, error) {
		out := append([]byte(nil), head...)
		return append(encoding.AppendEncode(out, b), tail...), nil
	}
}

// base64Of returns the encoding of b: its alphabet and padding.
func base64Of(b []byte) *base64.Encoding {
	encoding := base64.StdEncoding
	if bytes.ContainsAny(b, "-_") {
		encoding = base64.URLEncoding
	}
	if len(b)%4 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	return encoding
}
