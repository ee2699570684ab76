package inspect

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestForms shows values in all forms of the x key.
func TestForms(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SETBIT map 3 1")
	f.do("SETBIT map 65 1")
	f.do("PFADD visitors a b c d e")
	f.do("GEOADD places 7.4474 46.9480 bern 139.6917 35.6895 tokyo")
	f.do("ZADD places 1.5 nowhere")
	f.do("SET java \xac\xed\x00\x05sr\x00")
	f.do("SET php a:1:{i:0;s:1:\"x\";}")
	f.fake.options = nil
	s := browseOn(t, f, f.fake, 80, 24)
	open := func(key string) {
		s.press("o")
		s.typing(key)
		s.press("enter")
	}
	open("map")
	s.press("f", "f")
	for range 3 {
		if strings.Contains(s.screen(), "bits") {
			break
		}
		s.press("f")
	}
	s.shows("         0  ...1.... ", "bits", "......")
	s.press("esc")

	open("visitors")
	s.shows("HyperLogLog", "about 5 different elements")
	s.press("f", "f")
	s.shows("48 59 4c 4c")
	s.press("esc")

	open("places")
	s.press("f")
	s.shows("139.691", "35.689", "7.447", "46.948", "1.5  nowhere")
	s.press("f")
	s.shows("3662")
	s.press("esc")

	open("java")
	s.shows("serialized by Java", "hex", "ac ed 00 05")
	s.press("esc")
	open("php")
	s.shows("PHP", `0: "x"`)
	s.press("esc")
}

// TestLargeDocument does not fetch a JSON document too large for the browser's memory.
func TestLargeDocument(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	f.fake.options = nil
	heavy := heavy{f}
	s := browseOn(t, heavy, f.fake, 80, 24)
	s.press("o")
	s.typing("doc")
	s.press("enter")
	s.shows("json", "Too large to load")
	for _, e := range s.model.Conn.Log.Entries() {
		if string(e.Call[0]) == "JSON.GET" {
			t.Error("it was fetched")
		}
	}
}

// heavy reports 513 MB for every key.
type heavy struct{ *file }

func (h heavy) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	values, err := h.file.Pipeline(ctx, calls)
	for i, call := range calls {
		if string(call[0]) == "MEMORY" {
			values[i] = resp.MakeInt(513 << 20)
		}
	}
	return values, err
}

// TestTooLongToDecode describes a long value from its beginning and never fetches all of it.
func TestTooLongToDecode(t *testing.T) {
	race.Skip(t)
	f := newFake()
	noise := make([]byte, 5<<20)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	f.add(fakeValue{key: "a", kind: "string", str: gzipped(string(noise)+strings.Repeat("text ", 1<<20)) + string(noise)},
		fakeValue{key: "b", kind: "string", str: strings.Repeat("text ", 1<<20)})
	s := browse(t, f, 160, 24)
	s.press("enter")
	s.shows("too long to decode: gzip", "1f 8b 08")
	s.press("esc", "j", "enter")
	s.shows("too long to decode", "text text")
	for _, call := range f.calls {
		if call == "GETRANGE a 0 -1" || call == "GETRANGE b 0 -1" {
			t.Errorf("%s fetches all", call)
		}
	}
}

// TestOwnDecoder shows a value with a user-defined decoder.
func TestOwnDecoder(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET order:1 secret")
	f.do("SET order:bad broken")
	f.do("SET plain secret")
	f.do("HSET order:2 field secret")
	opened := f.fake.options
	f.fake.options = func(o *Options) {
		opened(o)
		o.Decoder = func(key string) *Decoder {
			if !strings.HasPrefix(key, "order:") {
				return nil
			}
			return &Decoder{Name: "mine", Run: func(_ context.Context, data []byte) ([]byte, error) {
				if string(data) == "broken" {
					return nil, errors.New("exit status 1: no order")
				}
				return []byte(`{"was":"` + string(data) + `"}`), nil
			}}
		}
	}
	s := browseOn(t, f, f.fake, 120, 30)
	s.choose("order:1")
	s.shows("mine", `"was": "secret"`)
	s.press("enter", "f")
	s.hides(`"was"`)
	s.shows("secret")
	s.press("esc")
	s.choose("order:2")
	s.hides("mine")
	s.press("enter", "enter")
	s.shows("mine", `"was": "secret"`)
	s.press("esc", "esc")
	s.choose("order:bad")
	s.shows("mine: exit status 1: no order", "broken")
	s.choose("plain")
	s.hides("mine")
}
