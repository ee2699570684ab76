package change

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/internal/lockfile"
)

// FuzzJournal loads journals with arbitrary content. Their steps must be consecutive, must
// replay or be reported as damaged, and must be found again by the next load.
func FuzzJournal(f *testing.F) {
	kept := NewJournal(f.TempDir(), "t", func() int64 { return 1 })
	var ends []int64
	for range 2 {
		s, err := kept.begin("SET")
		if err != nil {
			f.Fatal(err)
		}
		if err := kept.add(3, [][][]byte{{[]byte("SET"), []byte("k"), {0xff}}, {[]byte("DEL"), []byte("l")}}); err != nil {
			f.Fatal(err)
		}
		kept.conclude(&s)
		ends = append(ends, kept.end)
	}
	whole, err := os.ReadFile(kept.file.Name())
	if err != nil {
		f.Fatal(err)
	}
	if err := kept.Close(true); err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Clone(whole))
	f.Add(slices.Clone(whole[:len(whole)-3]))
	for _, end := range ends { // the commands of both steps are damaged
		whole[end-1] ^= 1
	}
	f.Add(whole)
	f.Add([]byte(journalMagic + "S\xff\xff\xff\xff"))
	f.Add([]byte(journalMagic + "S\x03\x00\x00\x00SETٽ\xd5\xe9{\xd6=\xd8S\x03\x00\x00\x00SETٽ\xd5\xe9{\xd6=\xd8")) // two steps without commands
	f.Add([]byte(journalMagic + "S\xff\xff\xff\xffS\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x"+journalSuffix)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var before []Step
		for again := range 2 {
			file, err := lockfile.Open(path, false)
			if err != nil {
				t.Fatal(err)
			}
			j := Journal{file: file, suffix: journalSuffix}
			steps, err := j.load()
			if err != nil {
				t.Fatal(err)
			}
			at := int64(0)
			for _, s := range steps {
				if s.from < at || s.to <= s.from || s.to > j.end {
					t.Fatalf("step %+v after %d, in %d bytes", s, at, j.end)
				}
				at = s.to
				j.replay(s, func(int64, int, [][][]byte) error { return nil })
			}
			if again > 0 && !slices.Equal(steps, before) {
				t.Fatalf("%+v were %+v before", steps, before)
			}
			before = steps
			if err := j.Close(false); err != nil {
				t.Fatal(err)
			}
		}
	})
}
