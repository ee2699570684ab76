package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// payload puts the footer after a body.
func payload(version uint16, body string) []byte {
	out := binary.LittleEndian.AppendUint16([]byte(body), version)
	return binary.LittleEndian.AppendUint64(out, checksum(0, out))
}

func TestChecksum(t *testing.T) {
	if got := checksum(0, []byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("%x", got)
	}
	if got := checksum(checksum(0, []byte("1234")), []byte("56789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("in two parts %x", got)
	}
}

// words is a listpack in the form of a string.
func words(all ...string) string {
	p := newListpack()
	for _, w := range all {
		p.add([]byte(w))
	}
	return string(appendBytes(nil, p.end()))
}

func fields(more ...Field) Hash { return more }

func field(name, value string, at int64) Field {
	return Field{Name: []byte(name), Value: []byte(value), ExpiresAt: at}
}

// TestNewerEncodings reads what only versions beyond the oracle's write.
func TestNewerEncodings(t *testing.T) {
	ms := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	node := string(appendBytes(nil, ID{1, 1}.append(nil))) + words("1", "0", "1", "f", "0", "2", "0", "0", "v", "4")
	for _, test := range []struct {
		what, body string
		want       Value
	}{
		{"a set listpack", "\x14" + words("a", "1", "-5"), Set{[]byte("a"), []byte("1"), []byte("-5")}},
		{"fields that expire", "\x18" + ms(1000) + "\x03\x00\x01a\x01b\x01\x01c\x01d\x42\x58\x01e\x01f",
			fields(field("a", "b", 0), field("c", "d", 1000), field("e", "f", 1599))},
		{"fields that expire, in a listpack", "\x19" + ms(1000) + words("a", "b", "1000", "c", "d", "0"),
			fields(field("a", "b", 1000), field("c", "d", 0))},
		{"fields that expire, before the release", "\x16\x02\x00\x01a\x01b\x43\xe8\x01c\x01d", fields(field("a", "b", 0), field("c", "d", 1000))},
		{"the same in a listpack", "\x17" + words("a", "b", "1000"), fields(field("a", "b", 1000))},
		{"a consumer that was active", "\x15\x01" + node + "\x01\x01\x01\x01\x01\x00\x00\x01\x01\x01g\x01\x01\x01\x01" +
			string(ID{1, 1}.append(nil)) + ms(50) + "\x07\x01\x01c" + ms(60) + ms(70) + "\x01" + string(ID{1, 1}.append(nil)),
			&Stream{
				Entries: []Entry{{ID{1, 1}, [][]byte{[]byte("f"), []byte("v")}}}, Last: ID{1, 1}, Added: 1,
				Groups: []Group{{Name: []byte("g"), Last: ID{1, 1}, Read: 1, Consumers: []Consumer{
					{Name: []byte("c"), SeenAt: 60, ActiveAt: 70, Pending: []Pending{{ID{1, 1}, 50, 7}}},
				}}},
			}},
	} {
		got, err := Restore(payload(12, test.body), nil)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %v", test.what, got, err)
		}
	}
}

// TestRoundTrip writes and reads what the oracle cannot hold.
func TestRoundTrip(t *testing.T) {
	for _, v := range []Value{
		fields(field("a", "b", 5000), field("c", "d", 0), field("e", "f", 4000), field("", "", maxExpiry)),
		List{bytes.Repeat([]byte("x"), 300_000), {}, []byte("1")},
		ZSet{{[]byte("b"), math.Inf(-1)}, {[]byte("a"), math.Copysign(0, -1)}, {[]byte("c"), 5e-324}},
		&Stream{Last: ID{math.MaxUint64, math.MaxUint64}, Deleted: ID{7, 1 << 40}, Added: math.MaxInt64,
			Groups: []Group{{Name: []byte{}, Last: ID{1 << 33, 5}, Read: Unknown}}},
		&Stream{Entries: []Entry{{ID{1, 9}, [][]byte{{}, {}}}, {ID{2, 0}, [][]byte{{}, []byte("1")}}}, Last: ID{2, 0}, Added: 2},
		&VectorSet{Dim: 2, Kind: 1, M: 16, Elements: []Vector{
			{Name: []byte("b"), Components: []byte{1, 2}, Length: 2.5, Range: 0.5},
			{Name: []byte{}, Attributes: []byte("1"), Components: []byte{3, 255}, Length: 1, Range: 1},
		}},
		&VectorSet{Dim: 1, M: 4, Input: 2, Matrix: make([]byte, 8), Elements: []Vector{{Name: []byte("12"), Components: make([]byte, 4), Length: 1}}},
	} {
		dumped := Dump(v, nil)
		got, err := Restore(dumped, nil)
		if err != nil || !bytes.Equal(Dump(got, nil), dumped) {
			t.Errorf("%+v came back as %+v, %v", v, got, err)
		}
	}
	if got := binary.LittleEndian.Uint16(Dump(fields(field("a", "b", 1)), nil)[15:]); got == version {
		t.Error("a payload with an expiry has a version that knows none")
	}
}

// TestRangeOfFloats reads a vector set of floats that redis-server 8.0.2 dumped: where a range would
// be it has what was in its memory, here NaN.
func TestRangeOfFloats(t *testing.T) {
	body := "\x07\x81\xbd\xe7-\xa2\xbb\x1e\xb4\x00\x02\x01\x02\x01\x02\x50\x00\x02\x00\x05\x01e\x05\x04\x00\x00\x80?\x02\x05" +
		"\x02\x01\x02\x00\x02\x00\x02\x20\x02\x81\xff\xff\xff\xff\x40\x00\x00\x00\x00"
	got, err := Restore(payload(12, body), nil)
	want := &VectorSet{Dim: 1, M: 16, Elements: []Vector{{Name: []byte("e"), Components: []byte("\x00\x00\x80?"), Length: 2}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDamage are values that a store could not hold.
func TestDamage(t *testing.T) {
	long := strings.Repeat("\x00", 300)
	id := string(ID{1, 1}.append(nil))
	node := "\x10" + id + words("1", "0", "1", "f", "0", "2", "0", "0", "v", "4")
	rest := "\x01\x01\x01\x01\x00\x00\x01"
	zeros := strings.Repeat("\x00", 8)
	for what, body := range map[string]string{
		"a field twice":                    "\x04\x02\x01a\x01b\x01a\x01c",
		"a member twice":                   "\x11" + words("a", "1", "a", "2"),
		"a member without a score":         "\x11" + words("a"),
		"a score that is none":             "\x11" + words("a", "b"),
		"a score that is NaN":              "\x11" + words("a", "nan"),
		"an expiry that is none":           "\x19" + zeros + words("a", "b", "c"),
		"an expiry before all time":        "\x19" + zeros + words("a", "b", "-1"),
		"an expiry beyond all time":        "\x18\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x02\x01a\x01b",
		"a listpack of another size":       "\x10\x07\x08\x00\x00\x00\x00\x00\xff",
		"a listpack of another count":      "\x12\x01\x02\x0a\x0a\x00\x00\x00\x02\x00\x01\x01\xff",
		"a listpack without end":           "\x12\x01\x02\x09\x09\x00\x00\x00\x01\x00\x01\x01",
		"a listpack that ends early":       "\x12\x01\x02\x0a\x0a\x00\x00\x00\x00\x00\xff\x01\xff",
		"a listpack with a wrong way back": "\x12\x01\x02\x0a\x0a\x00\x00\x00\x01\x00\x01\x02\xff",
		"an unknown container":             "\x12\x01\x03\x01a",
		"a huge promise":                   "\x00\xc3\x40\x03\x80\x1f\xff\xff\xff\x01ab",
		"a run from before the beginning":  "\x00\xc3\x03\x05\x20\x00\x00",
		"a text that is too long":          "\x00\xc3\x03\x01\x01ab",
		"a text that is too short":         "\x00\xc3\x03\x03\x01ab",
		"a length in front of a string":    "\x01\xc0\x01",
		"an ID of 15 bytes":                "\x13\x01\x0f" + id[1:] + words("0", "0", "0", "0") + "\x00",
		"fewer entries than it says":       "\x13\x01" + node + "\x02" + rest[1:] + "\x00",
		"a last ID before the last entry":  "\x13\x01" + node + "\x01\x00\x00\x01\x01\x00\x00\x01\x00",
		"an entry twice":                   "\x13\x02" + node + node + "\x02" + rest + "\x00",
		"a master entry that is endless":   "\x13\x01\x10" + id + words("1", "0", "9223372036854775807", "0") + "\x01" + rest,
		"an entry with half a field":       "\x13\x01\x10" + id + words("1", "0", "0", "0", "0", "0", "0", "1", "f", "5") + "\x01" + rest,
		"entries without number":           "\x13\x01\x10" + id + words("-1", "0", "0", "0") + "\x00" + rest,
		"a pending entry without consumer": "\x13\x00\x00\x01\x01\x00\x00\x00\x00\x00\x01\x01g\x00\x00\x00\x01" + id + zeros + "\x01\x00",
		"a consumer's that is not pending": "\x13\x00\x00\x01\x01\x00\x00\x00\x00\x00\x01\x01g\x00\x00\x00\x00\x01\x01c" + zeros + "\x01" + id,
		"a group twice":                    "\x13\x00\x00\x01\x01\x00\x00\x00\x00\x00\x02\x01g\x00\x00\x00\x00\x00\x01g\x00\x00\x00\x00\x00",
		"a consumer twice":                 "\x13\x00\x00\x01\x01\x00\x00\x00\x00\x00\x01\x01g\x00\x00\x00\x00\x02\x01c" + zeros + "\x00\x01c" + zeros + "\x00",
		"a zipmap of another count":        "\x09\x08\x02\x01a\x01\x00b\xff",
		"a ziplist with a wrong way back":  "\x0a\x0f\x0f\x00\x00\x00\x0c\x00\x00\x00\x02\x00\x00\xf1\x05\xf2\xff",
		"a module's value":                 "\x07" + long,
	} {
		if v, err := Restore(payload(10, body), nil); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
	for _, p := range [][]byte{nil, make([]byte, 9), []byte("12345678901"), payload(13, "\x00\x01a"), append(payload(10, "\x00\x01a"), 0)} {
		if v, err := Restore(p, nil); !errors.Is(err, ErrFooter) {
			t.Errorf("%q: %+v, %v", p, v, err)
		}
	}
}

// TestReader reads the parts of a file one after the other.
func TestReader(t *testing.T) {
	var file []byte
	numbers := []uint64{0, 63, 64, 16383, 16384, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64}
	for _, n := range numbers {
		file = appendLength(file, n)
	}
	file = appendBytes(file, []byte("-129"))
	file = appendValue(file, Set{[]byte("a")})
	r := newReader(bytes.NewReader(file))
	for _, n := range numbers {
		if got := r.length(); got != n {
			t.Errorf("%d was read as %d", n, got)
		}
	}
	if got := r.string(); string(got) != "-129" {
		t.Errorf("%q", got)
	}
	if v, err := r.typed(); !reflect.DeepEqual(v, Set{[]byte("a")}) || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := r.typed(); err == nil {
		t.Error("there is no end")
	}
}

// FuzzRestore feeds damaged bodies with a right footer. What is read must be
// written and read again the same.
func FuzzRestore(f *testing.F) {
	id := string(ID{1, 1}.append(nil))
	for _, body := range []string{
		"\x00\x05hello", "\x00\xc0{", "\x00\xc3\x05\x0a\x00a\xe0\x00\x00", "\x01\x02\x01a\x01b", "\x02\x02\x01a\x01b",
		"\x03\x02\x01a\x031.5\x01b\xfe", "\x04\x01\x01f\x01v", "\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf0\x3f",
		"\x09\x08\x01\x01a\x01\x00b\xff", "\x0a\x0f\x0f\x00\x00\x00\x0c\x00\x00\x00\x02\x00\x00\xf1\x02\xf2\xff",
		"\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x02\x00", "\x10" + words("f", "v"), "\x11" + words("m", "1.5"),
		"\x12\x02\x02" + words("a", "1") + "\x01\x03raw", "\x14" + words("a", "b"), "\x16\x01\x05\x01a\x01b", "\x17" + words("a", "b", "1"),
		"\x18\x01\x00\x00\x00\x00\x00\x00\x00\x01\x05\x01a\x01b", "\x19\x01\x00\x00\x00\x00\x00\x00\x00" + words("a", "b", "1"),
		"\x13\x01\x10" + id + words("1", "1", "1", "f", "0", "2", "0", "0", "v", "4", "1", "0", "1", "1", "g", "w", "6") +
			"\x01\x01\x01\x01\x01\x00\x00\x02\x01\x01g\x01\x01\x01\x01" + id + "\x00\x00\x00\x00\x00\x00\x00\x00\x07\x01\x01c\x00\x00\x00\x00\x00\x00\x00\x00\x01" + id,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := Restore(payload(12, string(body)), nil)
		if err != nil {
			return
		}
		dumped := Dump(v, nil)
		again, err := Restore(dumped, nil)
		if err != nil || !bytes.Equal(Dump(again, nil), dumped) {
			t.Fatalf("%+v came back as %+v, %v", v, again, err)
		}
	})
}

// TestSteps counts the work on a payload while it is done.
func TestSteps(t *testing.T) {
	value := make(String, 4<<20)
	rand.NewChaCha8([32]byte{1}).Read(value)
	steps, calls := 0, 0
	step := func(n int) { steps, calls = steps+n, calls+1 }
	payload := Dump(value, step)
	if steps < len(value) || calls < len(value)>>15 {
		t.Errorf("DUMP: %d steps in %d calls", steps, calls)
	}
	steps, calls = 0, 0
	if _, err := Restore(payload, step); err != nil || steps < len(value) || calls < len(value)>>15 {
		t.Errorf("RESTORE: %d steps in %d calls, %v", steps, calls, err)
	}
}
