package rdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

// FuzzFile reads files that hold anything. The offset never goes beyond the end, and
// each error but that of the kind and the version says where.
func FuzzFile(f *testing.F) {
	f.Add([]byte("REDIS0010\xfa\x01a\x01b\xfe\x00\xfb\x02\x01\xfc\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01k\x01v\xf8\x05\xf9\x07\x01\x01l\x02\x01a\x01b\xff"))
	f.Add([]byte("REDIS0003\xfd\x01\x00\x00\x00\x03\x01z\x01\x01m\x031.5\xff"))
	f.Add([]byte("REDIS0012\xf4\x01\x02\x03\xf5\x01x\xf6\x01n\x01e\x01\x01d\x01c\x07\x01k\x00\x02\x01\x00\xff"))
	f.Add([]byte("REDIS0009\x00\x01k\x81\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("REDIS0011\x02\x01k\x81\x00\x00\x00\x01\x00\x00\x00\x00\x01a"))
	f.Fuzz(func(t *testing.T, file []byte) {
		in := NewFile(bufio.NewReader(bytes.NewReader(file)), func(int64, string) {})
		for {
			_, err := in.Next()
			if in.Offset() > int64(len(file)) {
				t.Fatalf("at byte %d of %d", in.Offset(), len(file))
			}
			if damage := (*Damage)(nil); err != nil && in.version != 0 && err != io.EOF && !errors.As(err, &damage) {
				t.Fatalf("%v says nothing of the place", err)
			}
			if err != nil {
				return
			}
		}
	})
}

// TestSmallBomb reads a set that is small and decompresses to many elements: it is
// refused before they take the memory.
func TestSmallBomb(t *testing.T) {
	// An element is two bytes: 0, and its length for walking backwards. A run is of
	// 264 bytes that stand two bytes further back.
	const runs, run = 200_000, 264
	listpack := binary.LittleEndian.AppendUint32(nil, listpackHeader+2+runs*run+1)
	listpack = append(listpack, 0xff, 0xff, 0, 1)
	packed := append([]byte{byte(len(listpack) - 1)}, listpack...)
	packed = append(packed, bytes.Repeat([]byte{0xe0, 0xff, 1}, runs)...)
	packed = append(packed, 0, packedEnd)
	bomb := appendLength([]byte{typeSetListpack, lengthEncoded<<6 | encodedLZF}, uint64(len(packed)))
	bomb = append(appendLength(bomb, listpackHeader+2+runs*run+1), packed...)

	taken := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := taken()
	if _, err := Restore(payload(12, string(bomb)), nil); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if took := taken() - before; took > 1<<30 {
		t.Errorf("%d bytes took %d MB", len(bomb), took>>20)
	}
}

// TestSanitized refuses and takes the payloads that redis-server does with sanitize-dump-payload.
func TestSanitized(t *testing.T) {
	redis := oracle.Start(t, "--sanitize-dump-payload", "yes").Dial(t)
	if redis.Version().Before("8.0") {
		t.Skip("redis-server before 7.4 has no expiry of fields")
	}
	expiring := func(at ...uint64) string { // a small hash
		body := ""
		for i, at := range at {
			body += string([]byte{0x81, 'a' + byte(i), 2, 0x81, 'v', 2, packInt64})
			body += string(binary.LittleEndian.AppendUint64(nil, at)) + "\x09"
		}
		pack := binary.LittleEndian.AppendUint32(nil, uint32(listpackHeader+len(body)+1))
		pack = append(binary.LittleEndian.AppendUint16(pack, uint16(3*len(at))), body+"\xff"...)
		head := binary.LittleEndian.AppendUint64([]byte{typeHashPackExpiry}, 9e12)
		return string(appendBytes(head, pack))
	}
	early := func(first uint64) string { // a large one, with a field that expires first
		return string(binary.LittleEndian.AppendUint64([]byte{typeHashExpiry}, first)) + "\x01\x01\x01f\x01v"
	}
	for _, test := range []struct {
		name, body string
		taken      bool
	}{
		{"a set of integers", "\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\xfb\xff\x01\x00", true},
		{"integers that fall", "\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\xfb\xff", false},
		{"an integer twice", "\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x01\x00", false},
		{"a ziplist", "\x0a\x12\x12\x00\x00\x00\x0d\x00\x00\x00\x02\x00\x00\x01a\x03\x02bb\xff", true},
		{"a ziplist whose last element is elsewhere", "\x0a\x12\x12\x00\x00\x00\x0a\x00\x00\x00\x02\x00\x00\x01a\x03\x02bb\xff", false},
		{"a zipmap that counts", "\x09\x07\x01\x01f\x01\x00v\xff", true},
		{"a zipmap that does not", "\x09\x07\xfe\x01f\x01\x00v\xff", true},
		{"a zipmap of 255", "\x09\x07\xff\x01f\x01\x00v\xff", false},
		{"a large element", "\x12\x01\x01\x01a", true},
		{"a large element that is empty", "\x12\x01\x01\x00", false},
		{"fields that expire", expiring(9e12, 9e12, 9e12+1, 0, 0), true},
		{"fields that expire in no order", expiring(9e12+1, 9e12), false},
		{"a field that expires after others that do not", expiring(9e12, 0, 9e12), false},
		{"the latest expiry in a small hash", expiring(maxExpiry), true},
		{"a later one", expiring(maxExpiry + 1), false},
		{"the latest expiry in a large hash", early(maxExpiry), true},
		{"and a later one", early(maxExpiry + 1), false},
	} {
		dump := payload(12, test.body)
		if _, err := Restore(dump, nil); (err == nil) != test.taken {
			t.Errorf("%s: %v", test.name, err)
		}
		if v := redis.Do([]byte("RESTORE"), []byte("k"), []byte("0"), dump, []byte("REPLACE")); v.IsError() == test.taken {
			t.Errorf("%s: redis-server answers %s", test.name, v.Str)
		}
	}
}
