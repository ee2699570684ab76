package rdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
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
	if _, err := Restore(payload(12, string(bomb))); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if took := taken() - before; took > 1<<30 {
		t.Errorf("%d bytes took %d MB", len(bomb), took>>20)
	}
}
