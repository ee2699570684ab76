package rdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// dumped is a dump file of what comes between its header and its checksum.
func dumped(body ...[]byte) []byte {
	out := bytes.Join(append([][]byte{header(10)}, body...), nil)
	out = append(out, opEnd)
	return binary.LittleEndian.AppendUint64(out, checksum(0, out))
}

// entry is a key and its value as they stand in a file.
func entry(key string, v Value) []byte {
	value := appendValue(nil, v)
	return append(appendBytes([]byte{value[0]}, []byte(key)), value[1:]...)
}

// told are the keys of a file, each with what is wrong with it, and the end.
func told(file []byte, salvage bool) (lines []string, f *File) {
	f = NewFile(bufio.NewReader(bytes.NewReader(file)), nil)
	if salvage {
		f.Salvage()
	}
	for {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return lines, f
		}
		if err != nil {
			return append(lines, err.Error()), f
		}
		if p.Last {
			line := string(p.Key)
			if p.Err != nil {
				line += " " + p.Err.Error()
			}
			lines = append(lines, line)
		}
	}
}

// TestSalvage damages the value of one key in each way that leaves its end where it was.
func TestSalvage(t *testing.T) {
	small := Hash{{Name: []byte("field"), Value: []byte("value")}}
	large := Set{}
	for i := range 3000 {
		large = append(large, fmt.Appendf(nil, "member %d", i))
	}
	stream := &Stream{Entries: []Entry{{ID{1, 1}, [][]byte{[]byte("field"), []byte("value")}}}, Last: ID{1, 1}, Added: 1}
	zset := []byte{typeZSet, 3, 'b', 'a', 'd', 1, 1, 'm', 3, 'x', '.', 'y'} // a score that is no number
	packed := []byte{typeString, 3, 'b', 'a', 'd', 0xc3, 4, 6, 0xff, 0xff, 0xff, 0xff}
	for name, bad := range map[string][]byte{
		"a listpack":      bytes.Replace(entry("bad", small), []byte("\x85field"), []byte("\xf0field"), 1),
		"a member twice":  bytes.Replace(entry("bad", large), []byte("member 10"), []byte("member 11"), 1),
		"entries":         bytes.Replace(entry("bad", stream), []byte("\x85field"), []byte("\xf0field"), 1),
		"a node":          bytes.Replace(entry("bad", List{[]byte("field")}), []byte("\x85field"), []byte("\xf0field"), 1),
		"a score":         zset,
		"what unpacks to": packed,
	} {
		file := dumped(entry("before", String("v")), bad, entry("after", small))
		if lines, _ := told(file, true); strings.Join(lines, ", ") != "before, bad bad data format, after" {
			t.Errorf("%s: %q", name, lines)
		}
		if lines, _ := told(file, false); len(lines) == 0 || !strings.Contains(lines[len(lines)-1], `in the key "bad": bad data format`) {
			t.Errorf("%s, read strictly: %q", name, lines)
		}
	}
}

// TestEmptyCollections reads what some versions of Redis have written, and load by passing it
// over.
func TestEmptyCollections(t *testing.T) {
	p := newListpack()
	empty := string(p.end())
	var body [][]byte
	for _, typ := range []byte{typeList, typeSet, typeZSet, typeZSet2, typeHash, typeQuicklist, typeQuicklist2} {
		body = append(body, []byte{typ, 1, 'e', 0})
	}
	for _, typ := range []byte{typeHashListpack, typeZSetListpack, typeSetListpack} {
		body = append(body, append([]byte{typ, 1, 'e', byte(len(empty))}, empty...))
	}
	body = append(body, append([]byte{typeQuicklist2, 1, 'e', 1, 2, byte(len(empty))}, empty...), entry("k", String("")))
	lines, f := told(dumped(body...), false)
	if len(lines) != 1 || lines[0] != "k" || f.Empty() != int64(len(body)-1) {
		t.Errorf("%q, %d empty ones of %d", lines, f.Empty(), len(body)-1)
	}
}

// TestVerify knows of each flipped bit.
func TestVerify(t *testing.T) {
	file := dumped(entry("k", String("value")))
	if summed, err := Verify(bytes.NewReader(file)); err != nil || !summed {
		t.Fatal(summed, err)
	}
	for i := len("REDIS"); i < 8*len(file); i++ {
		if i/8 < fileHeader {
			continue
		}
		bad := bytes.Clone(file)
		bad[i/8] ^= 1 << (i % 8)
		if _, err := Verify(bytes.NewReader(bad)); !errors.Is(err, ErrChecksum) {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	unsummed := append(bytes.Clone(file[:len(file)-8]), make([]byte, 8)...)
	if summed, err := Verify(bytes.NewReader(unsummed)); summed || err != nil {
		t.Error(summed, err)
	}
	// One that is longer than what is read at once.
	long := dumped(entry("k", String(bytes.Repeat([]byte("abc"), 3<<20))))
	if summed, err := Verify(bytes.NewReader(long)); err != nil || !summed {
		t.Error(summed, err)
	}
}
