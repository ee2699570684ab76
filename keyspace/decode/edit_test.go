package decode_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/meowdis/meowdis/keyspace/decode"
)

// TestEdit changes the text inside layers and checks that the layers stay the same.
func TestEdit(t *testing.T) {
	var named bytes.Buffer
	z, _ := gzip.NewWriterLevel(&named, gzip.BestCompression)
	z.Name, z.ModTime = "cats.json", time.Unix(1_700_000_000, 0)
	z.Write([]byte(`{"name":"Tom"}`))
	z.Close()
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	for _, c := range []struct{ name, value, text, changed, want string }{
		{"gzip → JSON", named.String(), "{\n  \"name\": \"Tom\"\n}", "{\n  \"name\": \"Kit\"\n}", "gzip → JSON\n{\n  \"name\": \"Kit\"\n}"},
		{"gzip → text", string(gzipped([]byte("hello"))), "hello", "bye", "gzip → text\nbye"},
		{"zlib → text", string(zlibbed([]byte("hello"))), "hello", "bye", "zlib → text\nbye"},
		{"zstd → text", string(e.EncodeAll([]byte("hello"), nil)), "hello", "bye", "zstd → text\nbye"},
		{"base64 → gzip → text", base64.RawURLEncoding.EncodeToString(gzipped([]byte("hello?"))) + "\n", "hello?", "bye", "base64 → gzip → text\nbye"},
		{"MessagePack", "\x82\xa1a\x01\xa1b\x92\x01\xc0", "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    null\n  ]\n}", `{"a":2,"b":[1,null,"x"]}`, "MessagePack\n{\n  \"a\": 2,\n  \"b\": [\n    1,\n    null,\n    \"x\"\n  ]\n}"},
	} {
		in, ok := decode.Edit([]byte(c.value), decode.Options{})
		if !ok || in.Names != c.name || in.Text != c.text {
			t.Errorf("%s: %v %q %q", c.name, ok, in.Names, in.Text)
			continue
		}
		if same, err := in.Encode(in.Text); err != nil || string(same) != c.value {
			t.Errorf("%s: %q %v, unchanged", c.name, same, err)
		}
		out, err := in.Encode(c.changed)
		shown := decode.Value(out, decode.Options{})
		if got := shown.Names() + "\n" + shown.Text; err != nil || got != c.want {
			t.Errorf("%s: %q %v", c.name, got, err)
		}
		if c.name == "gzip → JSON" && !bytes.Contains(out, []byte("cats.json")) {
			t.Errorf("the name in the head is lost: %q", out)
		}
		if strings.HasPrefix(c.name, "base64") && (strings.ContainsAny(string(out), "+/=") || !bytes.HasSuffix(out, []byte("\n"))) {
			t.Errorf("other letters than before: %q", out)
		}
	}
	for _, value := range []string{"", "plain", `{"a":1}`, "\x00\x01\x02", string(gzipped([]byte{0, 1, 0xff})), "aGVsbG8gd29ybGQs\nIGhvdyBhcmUgeW91"} {
		if in, ok := decode.Edit([]byte(value), decode.Options{}); ok {
			t.Errorf("%q is edited as %+v", value, in)
		}
	}
	if _, ok := decode.Edit(gzipped(make([]byte, 1<<20)), decode.Options{MaxBytes: 1 << 16}); ok {
		t.Error("more is edited than the limit")
	}
}

// TestEditPack changes parts of a MessagePack value and checks that the other bytes stay the
// same.
func TestEditPack(t *testing.T) {
	at, _ := msgpack.Marshal(time.Unix(1_700_000_000, 0))
	for _, c := range []struct{ name, value, from, to, want string }{
		{"a wide number stays wide beside one that changes", "82a161d30000000000000001a16201", `"b": 1`, `"b": 2`, "82a161d30000000000000001a16202"},
		{"a float stays one", "81a161cb3ff8000000000000", "1.5", "2", "81a161cb4000000000000000"},
		{"a short float, too", "81a161ca3fc00000", "1.5", "2.5", "81a161ca40200000"},
		{"an integer becomes a float", "81a16101", "1", "1.5", "81a161cb3ff8000000000000"},
		{"a large integer", "81a16101", ": 1", ": 18446744073709551615", "81a161cfffffffffffffffff"},
		{"a key that is a number", "8201a161a16202", `"b": 2`, `"b": -3`, "8201a161a162fd"},
		{"a name is gone, and one is new", "82a16101a16202", `"a": 1`, `"c": true`, "82a163c3a16202"},
		{"bytes", "81a161c402ff00", "/wA=", "AQI=", "81a161c4020102"},
		{"an extension", "81a161d407ff", "/w==", "AA==", "81a161d40700"},
		{"an element is put before others", "92cc0102", "[\n  1,", "[\n  9,\n  1,", "9309cc0102"},
		{"a time", "81a161" + hex.EncodeToString(at), "2023-11-14T22:13:20Z", "2024-01-01T00:00:00Z", "81a161d6ff65920080"},
	} {
		value, err := hex.DecodeString(c.value)
		if err != nil {
			t.Fatal(err)
		}
		in, ok := decode.Edit(value, decode.Options{})
		if !ok || !strings.Contains(in.Text, c.from) {
			t.Errorf("%s: %v %s", c.name, ok, in.Text)
			continue
		}
		out, err := in.Encode(strings.Replace(in.Text, c.from, c.to, 1))
		if got := hex.EncodeToString(out); err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
	in, _ := decode.Edit([]byte("\x81\xa1a\x01"), decode.Options{})
	for _, bad := range []string{"", "{", `{"a":}`, "1 2"} {
		if out, err := in.Encode(bad); err == nil {
			t.Errorf("%q became %x", bad, out)
		}
	}
}

// FuzzEdit checks that unchanged text gives the same bytes, and that stored text is shown
// unchanged.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("\x82\xa1a\x01\xa1b\x92\x01\xc0"))
	f.Add([]byte("\x82\x01\xd6\xff\x65\x92\x00\x80\xc4\x01\xff\x93\xca\x3f\xc0\x00\x00\xc0\xc3"))
	f.Add(gzipped([]byte(cat)))
	f.Add(based(zlibbed([]byte(cat))))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, ok := decode.Edit(b, decode.Options{MaxBytes: 1 << 16})
		if !ok {
			return
		}
		if same, err := in.Encode(in.Text); err != nil || !bytes.Equal(same, b) {
			t.Fatalf("%q unchanged became %q: %v", b, same, err)
		}
		if !in.JSON {
			return
		}
		out, err := in.Encode(in.Text + "\n")
		if err != nil {
			t.Fatalf("%q: %v", in.Text, err)
		}
		again, ok := decode.Edit(out, decode.Options{MaxBytes: 1 << 17})
		if !ok || strings.TrimSpace(again.Text) != strings.TrimSpace(in.Text) {
			t.Fatalf("%q became %q", in.Text, again.Text)
		}
	})
}
