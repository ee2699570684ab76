package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/transfer"
)

// archive returns all keys of a session as an archive.
func archive(t testing.TB, s keyspace.Session) []byte {
	t.Helper()
	var out bytes.Buffer
	dumpTo(t, s, transfer.NewArchiveWriter(&out))
	return out.Bytes()
}

func dumpTo(t testing.TB, s keyspace.Session, sink transfer.Sink) {
	t.Helper()
	var told problems
	ctx := context.Background()
	err := transfer.Run(ctx, transfer.FromSession(ctx, s, transfer.ReadOptions{}), sink, told.add, nil)
	if err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
}

// restore writes a source to an empty file.
func restore(t testing.TB, source transfer.Source) (keyspace.Session, problems, error) {
	t.Helper()
	s, _ := openLocal(t)
	var told problems
	err := transfer.Run(context.Background(), source, transfer.NewWriter(s, transfer.WriteOptions{Notify: told.add}), told.add, nil)
	return s, told, err
}

// newTypes lists commands that create keys of types newer than Redis 7.0.
var newTypes = append(vectorSets(),
	"ARMSET a 0 x 5 y 18446744073709551614 z", "ARSEEK a 7", many("ARMSET a:long", 6_000, "7# v#"),
	"BF.MADD bloom a b c", "CF.INSERT cuckoo ITEMS a b", "CMS.INITBYDIM cms 50 3", "CMS.INCRBY cms a 1 b 2", "TOPK.RESERVE topk 5", "TOPK.ADD topk a b a", "TDIGEST.CREATE tdigest", "TDIGEST.ADD tdigest 1 2 3", "FT.SUGADD sugg hello 1.5 PAYLOAD p", "FT.SUGADD sugg Held 2", "TS.ADD series 1000 2.5 RETENTION 9000 LABELS area north", "TS.ADD series 2000 nan",
	`HSET he a 1 b 2 "\xff" 3`, `HPEXPIREAT he 9999999999999 FIELDS 2 a b`, `JSON.SET doc $ '{"a":[1,2.5,"é\n",null,true],"b":{"c":1e30}}'`,
)

func TestArchive(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	run(t, file, append(sample(), newTypes...)...)
	s, told, err := restore(t, transfer.FromArchive(bytes.NewReader(archive(t, file)), transfer.ArchiveOptions{}))
	if err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, s, 0, 3), contents(t, file, 0, 3))
}

// marks returns the positions of the blocks of an archive.
func marks(b []byte) (at []int) {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte("\xb7MDB"))
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// TestDamagedArchive damages each part of an archive of several blocks.
func TestDamagedArchive(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	for i := range 40 {
		do(t, file, []byte("SET"), []byte{'s', byte('A' + i)}, random(100_000, i))
	}
	for i := range 10 {
		do(t, file, []byte("RPUSH"), []byte("list"), random(400_000, 100+i))
	}
	whole := archive(t, file)
	blocks := marks(whole)
	if len(blocks) < 6 {
		t.Fatalf("%d blocks", len(blocks))
	}
	want := contents(t, file, 0)
	for _, c := range []struct {
		name  string
		spoil func(b []byte) []byte
		block int
		says  string
	}{
		{"payload", func(b []byte) []byte { b[blocks[3]+1000] ^= 1; return b }, 3, "its checksum is wrong"},
		{"checksum", func(b []byte) []byte { b[blocks[4]-1] ^= 1; return b }, 3, "its checksum is wrong"},
		{"mark", func(b []byte) []byte { b[blocks[3]] ^= 1; return b }, 3, "its header is damaged"},
		{"size", func(b []byte) []byte { b[blocks[3]+10] ^= 1; return b }, 3, "its header is damaged"},
		{"inserted", func(b []byte) []byte { return slices.Insert(b, blocks[3]+100, 'x') }, 3, "its checksum is wrong"},
		{"left out", func(b []byte) []byte { return slices.Delete(b, blocks[3], blocks[4]) }, 3, "block 4 follows"},
		{"truncated", func(b []byte) []byte { return b[:blocks[3]+5000] }, 3, "it ends here, and is incomplete"},
		{"no end", func(b []byte) []byte { return b[:blocks[len(blocks)-1]] }, len(blocks) - 1, "it ends here, and is incomplete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spoilt := c.spoil(slices.Clone(whole))
			s, _, err := restore(t, transfer.FromArchive(bytes.NewReader(spoilt), transfer.ArchiveOptions{}))
			var d *transfer.Damage
			if !errors.As(err, &d) || d.Block != c.block || d.Why != c.says || d.Offset != int64(blocks[c.block]) && c.says != "it ends here, and is incomplete" {
				t.Errorf("%v, %+v", err, d)
			}
			before := part(t, contents(t, s, 0), want)

			var found []string
			s, told, err := restore(t, transfer.FromArchive(bytes.NewReader(spoilt), transfer.ArchiveOptions{
				Damaged: func(d *transfer.Damage) { found = append(found, d.Error()) },
			}))
			if err != nil || len(found) == 0 || !strings.Contains(found[0], c.says) {
				t.Errorf("%v, found %q", err, found)
			}
			salvaged := part(t, contents(t, s, 0), want)
			if salvaged < before || c.says != "it ends here, and is incomplete" && salvaged == before {
				t.Errorf("salvaged %d keys, %d before the damage, %v", salvaged, before, told)
			}
		})
	}
}

// part checks that existing keys are unchanged, and counts them.
func part(t testing.TB, got, want map[string]string) int {
	t.Helper()
	for k, v := range got {
		if v != want[k] {
			t.Errorf("%s is half there", k)
		}
	}
	return len(got)
}

// random returns bytes that do not compress.
func random(n, seed int) []byte {
	out := make([]byte, n)
	x := uint64(seed)*2654435761 + 1
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return out
}
