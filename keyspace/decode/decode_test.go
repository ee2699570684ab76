package decode_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
)

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zlibbed(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstded(t *testing.T, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(b, nil)
}

func based(b []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(b)) }

func packed(t *testing.T, v any) []byte {
	t.Helper()
	b, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func drawn(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const cat = `{"name":"Tom","lives":9}`

const prettyCat = "{\n  \"name\": \"Tom\",\n  \"lives\": 9\n}"

func TestValue(t *testing.T) {
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 99, 1, 0, 49, 0, 0)
	for _, c := range []struct {
		name   string
		in     []byte
		layers string
		text   string
		note   string
	}{
		{"text", []byte("hello"), "text", "hello", ""},
		{"nothing", nil, "text", "", ""},
		{"an escape sequence", []byte("a\x1b[2Jb"), "binary", "00000000  61 1b 5b 32 4a 62                                 |a.[2Jb|", ""},
		{"bytes", []byte{0xff, 0}, "binary", "00000000  ff 00                                             |..|", ""},
		{"JSON", []byte(cat), "JSON", prettyCat, ""},
		{"a JSON string is text", []byte(`"Tom"`), "text", `"Tom"`, ""},
		{"broken JSON", []byte(`{"name":`), "text", `{"name":`, ""},
		{"gzip", gzipped([]byte(cat)), "gzip JSON", prettyCat, ""},
		{"zlib", zlibbed([]byte("hello")), "zlib text", "hello", ""},
		{"zstd", zstded(t, []byte(cat)), "zstd JSON", prettyCat, ""},
		{"base64", based([]byte("the cat sat on the mat")), "base64 text", "the cat sat on the mat", ""},
		{"base64 of gzip", based(gzipped([]byte(cat))), "base64 gzip JSON", prettyCat, ""},
		{"not base64", []byte("abcdefghijklmnop"), "text", "abcdefghijklmnop", ""},
		{"a word", []byte("Rumpelstiltskins"), "text", "Rumpelstiltskins", ""},
		{"MessagePack", packed(t, []any{"Tom", 9, nil, true, []byte{1}}), "MessagePack", "[\n  \"Tom\",\n  9,\n  null,\n  true,\n  {\n    \"base64\": \"AQ==\"\n  }\n]", ""},
		{"a time in MessagePack", packed(t, []any{time.Unix(1700000000, 0)}), "MessagePack", "[\n  \"2023-11-14T22:13:20Z\"\n]", ""},
		{"a map of numbers", packed(t, map[int]string{7: "x"}), "MessagePack", "{\n  \"7\": \"x\"\n}", ""},
		{"MessagePack and more", append(packed(t, []any{"Tom", "Jerry", 0xff}), 0xff), "binary", "00000000  93 a3 54 6f 6d a5 4a 65  72 72 79 cc ff ff        |..Tom.Jerry...|", ""},
		{"a picture", drawn(t), "PNG", "PNG, 7 × 5 pixels", ""},
		{"WebP", webp, "WebP", "WebP, 356 × 50 pixels", ""},
		{"seconds", []byte("1700000000"), "text", "1700000000", "as a time: 2023-11-14 22:13:20 UTC"},
		{"milliseconds", []byte("1700000000123"), "text", "1700000000123", "as a time: 2023-11-14 22:13:20.123 UTC"},
		{"a number", []byte("42"), "text", "42", ""},
		{"UUID 4", []byte("9b2fa1c4-4f5e-4c55-8a53-0c1d2e3f4a5b"), "text", "9b2fa1c4-4f5e-4c55-8a53-0c1d2e3f4a5b", "UUID, version 4"},
		{"UUID 7", []byte("018bcfe5-6800-7000-8000-000000000000"), "text", "018bcfe5-6800-7000-8000-000000000000", "UUID, version 7, made 2023-11-14 22:13:20 UTC"},
		{"UUID 1", []byte("2ed6657d-e927-11ee-b0b3-325096b39f47"), "text", "2ed6657d-e927-11ee-b0b3-325096b39f47", "UUID, version 1, made 2024-03-23 15:08:19 UTC"},
		{"a broken gzip", gzipped([]byte(cat))[:20], "binary", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := decode.Value(c.in, decode.Options{})
			var names []string
			for _, l := range got.Layers {
				names = append(names, l.Name)
			}
			if strings.Join(names, " ") != c.layers {
				t.Errorf("layers %q, want %q", names, c.layers)
			}
			if c.text != "" && got.Text != c.text {
				t.Errorf("text\n%s\nwant\n%s", got.Text, c.text)
			}
			if got.Note != c.note {
				t.Errorf("note %q, want %q", got.Note, c.note)
			}
		})
	}
}

func TestChain(t *testing.T) {
	text := []byte(`["` + strings.Repeat("cat ", 400) + `"]`)
	in := gzipped(text)
	if got, want := decode.Value(in, decode.Options{}).Chain(), "gzip "+display.Bytes(int64(len(in)))+" → JSON 1.6 KB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPartial(t *testing.T) {
	var long bytes.Buffer
	for i := range 2000 {
		long.WriteString(time.Unix(int64(i*i*7919), 0).String() + "\n")
	}
	in := gzipped(long.Bytes())
	got := decode.Value(in[:len(in)/2], decode.Options{Partial: true})
	if chain := got.Chain(); !strings.HasPrefix(chain, "gzip ") || !strings.HasSuffix(chain, "+") {
		t.Errorf("chain %q", chain)
	}
	if !strings.HasPrefix(long.String(), got.Text[:1000]) {
		t.Errorf("text %q", got.Text[:1000])
	}
	if got := decode.Value([]byte("caf\xc3"), decode.Options{Partial: true}); got.Layers[0].Name != "text" {
		t.Errorf("a cut letter: %v", got.Layers)
	}
	if got := decode.Value([]byte("caf\xc3"), decode.Options{}); got.Layers[0].Name != "binary" {
		t.Errorf("half a letter: %v", got.Layers)
	}
}

// TestBombs checks that every layer is opened only up to the limit.
func TestBombs(t *testing.T) {
	bomb := gzipped(make([]byte, 64<<20))
	for range 3 {
		bomb = gzipped(bomb)
	}
	got := decode.Value(bomb, decode.Options{MaxBytes: 1 << 20})
	last := got.Layers[len(got.Layers)-1]
	if last.Size > 1<<20 || !last.Cut {
		t.Errorf("opened %d bytes, cut %v", last.Size, last.Cut)
	}
	if len(got.Text) > 10_000 {
		t.Errorf("%d bytes of text", len(got.Text))
	}
	nested := []byte("matryoshka doll")
	for range 20 {
		nested = gzipped(nested)
	}
	if got := decode.Value(nested, decode.Options{}); len(got.Layers) != 7 {
		t.Errorf("%d layers", len(got.Layers))
	}
	deep := append(bytes.Repeat([]byte{0x91}, 100_000), 1)
	if got := decode.Value(deep, decode.Options{}); got.Layers[0].Name != "binary" {
		t.Errorf("deep MessagePack: %v", got.Layers)
	}
	// Lengths beyond the end of the input.
	for _, lie := range []string{"\xdd\xff\xff\xff\xff\x01", "\xdf\xff\xff\xff\xff\x01\x01", "\x91\xc6\xff\xff\xff\xff\x01", "\x91\xc9\xff\xff\xff\xff\x01\x01"} {
		if got := decode.Value([]byte(lie), decode.Options{}); got.Layers[0].Name != "binary" {
			t.Errorf("%q: %v", lie, got.Layers)
		}
	}
}

func FuzzValue(f *testing.F) {
	f.Add([]byte(cat))
	f.Add(gzipped([]byte(cat)))
	f.Add(based(zlibbed([]byte(cat))))
	f.Add([]byte("\x82\xa1a\x01\xa1b\x92\x01\xc0"))
	file, err := os.ReadFile("testdata/serialized.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if b, err := hex.DecodeString(strings.TrimSpace(line)); err == nil && len(b) > 3 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := decode.Value(b, decode.Options{MaxBytes: 1 << 16, DumpBytes: 64})
		for _, r := range got.Text {
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
				t.Fatalf("%q shows a control character: %q", b, got.Text)
			}
		}
	})
}

// TestDeepJSON shows JSON as plain text if its indentation would be too large.
func TestDeepJSON(t *testing.T) {
	const depth, elements = 5000, 20_000
	deep := strings.Repeat("[", depth) + strings.Repeat("1,", elements) + "1" + strings.Repeat("]", depth)
	if s := decode.Value([]byte(deep), decode.Options{}); len(s.Text) > 2*len(deep) {
		t.Errorf("%d bytes are shown as %d", len(deep), len(s.Text))
	}
	if _, text, ok := decode.CompactJSON([]byte(deep), decode.Options{}); ok {
		t.Errorf("an editor gets %d bytes", len(text))
	}
	if text := decode.Lines(deep); text != deep {
		t.Errorf("%d bytes are laid out as %d", len(deep), len(text))
	}
}

// TestIsWord checks that Value shows words as they are.
func TestIsWord(t *testing.T) {
	for _, word := range []string{"nothing", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "1700000000", "token-7/8", "aGVsbG8=", "true", "0123456789abcdef0123"} {
		if !decode.IsWord([]byte(word)) {
			t.Errorf("%q is no word", word)
		}
		if s := decode.Value([]byte(word), decode.Options{}); s.Text != word {
			t.Errorf("%q is shown as %q", word, s.Text)
		}
	}
	for _, other := range []string{"two words", "eyJuYW1lIjoiVG9tIiwibGl2ZXMiOjl9", "a:1", "[1]", "x^\x01", "GIF89aabcdefgh", "Bär", "a\x00b"} {
		if decode.IsWord([]byte(other)) {
			t.Errorf("%q is a word", other)
		}
	}
}
