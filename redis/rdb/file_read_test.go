package rdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// readAll reads the keys of a file, each put together again, and the notes.
func readAll(file []byte) (keys map[string]Value, notes []string, pieces int, err error) {
	keys = map[string]Value{}
	f := NewFile(bufio.NewReader(bytes.NewReader(file)), func(_ int64, what string) { notes = append(notes, what) })
	for {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return keys, notes, pieces, nil
		}
		if err != nil {
			return keys, notes, pieces, err
		}
		pieces++
		name := fmt.Sprintf("%d:%s@%d", p.DB, p.Key, p.ExpiresAt)
		if p.Err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", name, p.Err))
			continue
		}
		if p.First {
			keys[name] = nil
		}
		keys[name] = joined(keys[name], p.Value)
	}
}

// joined puts a piece after what came before it.
func joined(before, v Value) Value {
	switch b := before.(type) {
	case String:
		return append(b, v.(String)...)
	case List:
		return append(b, v.(List)...)
	case Set:
		return append(b, v.(Set)...)
	case Hash:
		return append(b, v.(Hash)...)
	case ZSet:
		return append(b, v.(ZSet)...)
	case *Stream:
		s := v.(*Stream)
		s.Entries = append(b.Entries, s.Entries...)
		return s
	}
	return v
}

// written makes a file of pieces.
func written(t *testing.T, all ...Piece) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rdb")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := NewFileWriter(f, func() (Spool, error) { return os.Create(path + ".aside") })
	for _, p := range all {
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cut are the pieces of a key, each value one of them.
func cut(db int, name string, at int64, values ...Value) (all []Piece) {
	for i, v := range values {
		all = append(all, Piece{DB: db, Key: []byte(name), ExpiresAt: at, Value: v, First: i == 0, Last: i == len(values)-1})
	}
	return all
}

func texts(words ...string) (all [][]byte) {
	for _, w := range words {
		all = append(all, []byte(w))
	}
	return all
}

func group(name string) Group {
	return Group{Name: []byte(name), Last: ID{1, 1}, Read: 1, Consumers: []Consumer{{Name: []byte("c"), SeenAt: 5, ActiveAt: 5, Pending: []Pending{{ID{1, 1}, 5, 2}}}}}
}

// samplePieces are keys of every type, in one piece and in several.
func samplePieces() []Piece {
	entries := []Entry{{ID{1, 1}, texts("f", "v")}, {ID{2, 0}, texts("f", "w")}}
	var all []Piece
	for _, k := range [][]Piece{
		cut(0, "s", 0, String("hello")), cut(0, "n", 1234, String("-7")), cut(0, "s2", 5, String("hel"), String("lo"), String("")),
		cut(0, "l", 0, List(texts("a", "1", ""))), cut(0, "l2", 0, List(texts("a", "b")), List(texts("c"))),
		cut(0, "set", 0, Set(texts("a", "b"))), cut(0, "set2", 0, Set(texts("1", "2")), Set(texts("3"))),
		cut(0, "z", 0, ZSet{{[]byte("a"), 1}, {[]byte("b"), math.Inf(1)}}), cut(0, "z2", 0, ZSet{{[]byte("b"), 2}}, ZSet{{[]byte("a"), 1}}),
		cut(0, "h", 0, fields(field("a", "b", 0))), cut(0, "h2", 7, fields(field("a", "b", 0)), fields(field("c", "d", 0))),
		cut(2, "x", 0, &Stream{Entries: entries, Last: ID{2, 0}, Added: 2, Groups: []Group{group("g")}}),
		cut(2, "x2", 0, &Stream{Entries: entries[:1]}, &Stream{Entries: entries[1:], Last: ID{3, 0}, Added: 4, Groups: []Group{group("g")}}),
	} {
		all = append(all, k...)
	}
	return all
}

func TestFile(t *testing.T) {
	pieces := samplePieces()
	want := map[string]Value{}
	for _, p := range pieces {
		name := fmt.Sprintf("%d:%s@%d", p.DB, p.Key, p.ExpiresAt)
		want[name] = joined(want[name], p.Value)
	}
	expiring := cut(0, "ttl", 0, fields(field("a", "b", 0)), fields(field("c", "d", 5000), field("e", "f", 4000)))
	vectors := cut(1, "vec", 7, &VectorSet{Dim: 1, Kind: 1, M: 16, Elements: []Vector{
		{Name: []byte("a"), Components: []byte{127}, Length: 2, Range: 1}, {Name: []byte("b"), Attributes: []byte("x"), Components: []byte{1}, Length: 1, Range: 1},
	}})
	for _, c := range []struct {
		version string
		more    []Piece
	}{{"REDIS0010", nil}, {"REDIS0012", expiring}, {"REDIS0012", vectors}} {
		version, more := c.version, c.more
		file := written(t, append(samplePieces(), more...)...)
		keys, notes, _, err := readAll(file)
		if err != nil || len(notes) > 0 {
			t.Fatal(err, notes)
		}
		if string(file[:fileHeader]) != version {
			t.Errorf("%s, not %s", file[:fileHeader], version)
		}
		delete(want, "0:ttl@0")
		switch len(more) {
		case 1:
			want["1:vec@7"] = more[0].Value
		case 2:
			want["0:ttl@0"] = joined(more[0].Value, more[1].Value)
		}
		for name, v := range want {
			if !reflect.DeepEqual(keys[name], v) {
				t.Errorf("%s is %v, not %v", name, keys[name], v)
			}
		}
		if len(keys) != len(want) {
			t.Errorf("%d keys, not %d", len(keys), len(want))
		}
	}
}

// TestFileDrop forgets a key that is not finished.
func TestFileDrop(t *testing.T) {
	half := cut(0, "half", 0, Set(texts("a")), Set(texts("b")))
	w := NewFileWriter(&memory{}, func() (Spool, error) { return os.Create(filepath.Join(t.TempDir(), "aside")) })
	if err := w.Write(half[0]); err != nil {
		t.Fatal(err)
	}
	w.Drop()
	for _, p := range cut(0, "whole", 0, Set(texts("x")), Set(texts("y"))) {
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	keys, _, _, err := readAll(w.file.(*memory).b)
	if want := map[string]Value{"0:whole@0": Set(texts("x", "y"))}; err != nil || !reflect.DeepEqual(keys, want) {
		t.Errorf("%v, %v", keys, err)
	}
}

// memory is a file.
type memory struct{ b []byte }

func (m *memory) Write(b []byte) (int, error) {
	m.b = append(m.b, b...)
	return len(b), nil
}

func (m *memory) WriteAt(b []byte, at int64) (int, error) { return copy(m.b[at:], b), nil }

// raw is a file of that version with the body, and the right checksum from version
// 5 on.
func raw(version int, body string) []byte {
	out := append(fmt.Appendf(nil, "REDIS%04d", version), body+"\xff"...)
	if version >= 5 {
		out = binary.LittleEndian.AppendUint64(out, checksum(0, out))
	}
	return out
}

// TestFileParts reads what is beside keys, in the versions that have it.
func TestFileParts(t *testing.T) {
	aModule := "\x81" + string(binary.BigEndian.AppendUint64(nil, 0x6a51234567890c03))
	for _, test := range []struct {
		what    string
		version int
		body    string
		keys    string
		note    string
	}{
		{"nothing", 6, "", "map[]", ""},
		{"before there were checksums", 4, "\xfe\x00\x00\x01a\x01b", "map[0:a@0:[98]]", ""},
		{"an expiry in seconds", 6, "\xfe\x01\xfd\x02\x00\x00\x00\x00\x01a\x01b", "map[1:a@2000:[98]]", ""},
		{"an expiry in ms", 9, "\xfc\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01a\x01b\x00\x01c\x01d", "map[0:a@2:[98] 0:c@0:[100]]", ""},
		{"how often it was used", 9, "\xfa\x01a\x01b\xfb\x02\x01\xf8\x05\xf9\x07\x00\x01a\x01b", "map[0:a@0:[98]]", ""},
		{"slots", 12, "\xf4\x01\x02\x03\x00\x01a\x01b", "map[0:a@0:[98]]", ""},
		{"functions", 10, "\xf5\x04code\xf6\x01n\x03LUA\x01\x01d\x04code\xf6\x01n\x03LUA\x00\x04code\x00\x01a\x01b", "map[0:a@0:[98]]", "a library of functions"},
		{"a module's value", 10, "\xfc\x02\x00\x00\x00\x00\x00\x00\x00\x07\x01m" + aModule + "\x02\x05\x01\x05\x03abcd\x04abcdefgh\x05\x02xy\x00\x00\x01a\x01b", "map[0:a@0:[98]]", "0:m@2: it holds a value of the module alEjRWeJ"},
		{"a module's data", 10, "\xf7" + aModule + "\x02\x02\x05\x01x\x00\x00\x01a\x01b", "map[0:a@0:[98]]", "data of the module alEjRWeJ"},
	} {
		keys, notes, _, err := readAll(raw(test.version, test.body))
		if got := fmt.Sprint(keys); err != nil || got != test.keys {
			t.Errorf("%s: %s, %v", test.what, got, err)
		}
		if got := strings.Join(notes, ", "); !strings.HasPrefix(got, test.note) || test.note == "" && got != "" {
			t.Errorf("%s: noted %q", test.what, got)
		}
	}
	for body, want := range map[string]string{
		"REDIS0013": "version 13", "REDIS00x0": "not a Redis dump file", "": "it ends here", "*3\r\n$3\r\nSET": "not a Redis dump file",
		string(raw(10, "\x00\x01a\x01b"))[:15]:                                   "at byte 15: it ends here",
		string(raw(10, "\x00\x01a\x01b")[:14]) + "\xff12345678":                  "checksum",
		string(raw(10, "\x0b\x01a\x01b")):                                        `at byte 14, in the key "a"`,
		string(raw(10, "\x02\x01a\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01x")):    `in the key "a"`,
		string(raw(10, "\x06\x01m")):                                             `in the key "m"`,
		string(raw(10, "\x00\x01a\x80\x1f\xff\xff\xffx")):                        "it ends here",
		string(raw(10, "\xf7\x00\x05\x80\x1f\xff\xff\xffx")):                     "it ends here",
		string(raw(10, "\xfe\x81\xff\xff\xff\xff\xff\xff\xff\xff\x00\x01a\x00")): "damaged at byte",
	} {
		if _, _, _, err := readAll([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", body, err, want)
		}
	}
	if _, _, _, err := readAll(append(raw(10, "\x00\x01a\x01b")[:14], "\xff\x00\x00\x00\x00\x00\x00\x00\x00"...)); err != nil {
		t.Errorf("without a checksum: %v", err)
	}
}

// TestFilePieces reads large values in pieces.
func TestFilePieces(t *testing.T) {
	var l List
	var s Set
	var h Hash
	x := &Stream{}
	for i := range 10_000 {
		name := fmt.Appendf(nil, "element %d", i)
		l, s = append(l, name), append(s, name)
		h = append(h, Field{Name: name, Value: name, ExpiresAt: int64(i)})
		x.Entries = append(x.Entries, Entry{ID{uint64(i), 1}, [][]byte{name, name}})
	}
	x.Last, x.Added = ID{10_000, 0}, 10_000
	for _, v := range []Value{l, s, h, x, String(bytes.Repeat([]byte("0123456789"), 300_000)), List{make([]byte, 3<<20), make([]byte, 3<<20)}} {
		file := written(t, cut(0, "k", 0, v)...)
		keys, _, pieces, err := readAll(file)
		if err != nil || !reflect.DeepEqual(keys["0:k@0"], v) {
			t.Errorf("%T: it came back otherwise, %v", v, err)
		}
		if pieces < 2 {
			t.Errorf("%T: it came in %d pieces", v, pieces)
		}
	}
}

// TestFileDamage cuts and changes a file everywhere: never a panic, and never more
// memory than a small file can mean.
func TestFileDamage(t *testing.T) {
	file := written(t, append(samplePieces(), cut(0, "ttl", 0, fields(field("c", "d", 5000)))...)...)
	for n := range len(file) {
		if _, _, _, err := readAll(file[:n]); err == nil {
			t.Errorf("%d of %d bytes are a whole file", n, len(file))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 20_000
	for range times {
		changed := bytes.Clone(file)
		for range 1 + random.IntN(3) {
			changed[random.IntN(len(changed))] = byte(random.Uint32())
		}
		// Without the checksum, all else must hold by itself.
		copy(changed[len(changed)-8:], make([]byte, 8))
		_, _, _, err := readAll(changed)
		var damage *Damage
		if err != nil && !errors.As(err, &damage) && string(changed[:fileHeader]) == string(file[:fileHeader]) {
			t.Errorf("%q: %v", changed, err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 1<<20 {
		t.Errorf("a damaged file of %d bytes took %d bytes of memory", len(file), each)
	}
}

// TestFileLarge writes values that are large, some with small elements beside: what is read is
// what was written, and but for its head no value differs from its form in one piece.
func TestFileLarge(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), largeValue/16)
	small, number := []byte("small"), []byte("17")
	id := func(n uint64) ID { return ID{n, 1} }
	values := map[string]Value{
		"string": String(big),
		"list":   List{small, number, big, small, small, big, big, number},
		"set":    Set{number, big, small},
		"hash":   Hash{{Name: small, Value: big}, {Name: big, Value: number}},
		"fading": Hash{{Name: small, Value: big, ExpiresAt: 4102444800123}, {Name: big, Value: number}, {Name: number, Value: small, ExpiresAt: 4102444800122}},
		"zset":   ZSet{{Name: small, Score: 2}, {Name: big, Score: -1.5}, {Name: number, Score: 2}},
		"stream": &Stream{
			Entries: []Entry{{ID: id(1), Fields: [][]byte{small, big}}, {ID: id(2), Fields: [][]byte{small, small}}, {ID: id(3), Fields: [][]byte{big, number}}},
			Last:    id(9), Added: 5, Groups: []Group{{Name: small, Last: id(2), Read: 2}},
		},
	}
	for name, v := range values {
		file := written(t, Piece{DB: 3, Key: []byte(name), Value: v, ExpiresAt: 4102444800000, First: true, Last: true})
		keys, _, _, err := readAll(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := v
		if z, ok := v.(ZSet); ok {
			want = z.sorted()
		}
		if got := keys["3:"+name+"@4102444800000"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s comes back as another value", name)
		}
		if !bytes.Contains(file, appendValue(nil, v)[1:]) {
			t.Errorf("%s has another form than in one piece", name)
		}
		if summed, err := Verify(bytes.NewReader(file)); err != nil || !summed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
