package doctor_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/redis/resp"
)

// large fills a file with some thousand keys of all types, some in overflow pages.
func (p patient) large() {
	p.session(func(c *engine.Session) {
		do := func(args ...string) {
			var call [][]byte
			for _, a := range args {
				call = append(call, []byte(a))
			}
			if v, err := c.Do(context.Background(), call...); err != nil || v.IsError() {
				p.Fatalf("%.100q: %s %v", args, v.Str, err)
			}
		}
		do("MULTI") // one commit
		for i := range 250 {
			n := fmt.Sprint(i)
			do("SET", "string:"+n, "value "+n)
			do("SET", "volatile:"+n, "value "+n, "PX", "10000000")
			do("SET", "wide:"+n, strings.Repeat(n, 400))
			do("HSET", "hash:"+n, "name", "Tom "+n, "age", n)
			do("RPUSH", "list:"+n, "a", n, "c")
			do("SADD", "set:"+n, "a", n)
			do("ZADD", "zset:"+n, "1", "a", n+".5", "b")
			do("ZADD", "whole:"+n, "1", "a", n, "b")
			do("XADD", "stream:"+n, "1-1", "n", n)
			do("JSON.SET", "doc:"+n, "$", `{"a":`+n+`}`)
			do("ARSET", "array:"+n, "7", n, "y")
			do("VADD", "vectors:"+n, "VALUES", "2", "1", "0", "a")
			if i%25 == 0 {
				do("SET", "page:"+n, strings.Repeat(n, 3000))
				do("SETRANGE", "long:"+n, "0", strings.Repeat(n, 40000))
				do("HSET", "widehash:"+n, "f", strings.Repeat(n, 5000))
			}
		}
		do("EXEC")
		for i := range 100 { // leaves free pages
			do("DEL", "string:"+fmt.Sprint(i))
		}
	})
}

// dumps returns the reply of DUMP for each key of a file.
func (p patient) dumps() map[string]string {
	all := map[string]string{}
	p.session(func(c *engine.Session) {
		keys, err := c.Do(context.Background(), []byte("KEYS"), []byte("*"))
		if err != nil {
			p.Fatal(err)
		}
		for _, key := range keys.Elems {
			var v resp.Value
			for _, read := range []string{"DUMP %s", "JSON.GET %s", "ARGETRANGE %s 0 20", "VEMB %s a"} {
				args := bytes.Fields(fmt.Appendf(nil, read, key.Str))
				if v, err = c.Do(context.Background(), args...); err != nil || !v.IsError() {
					break
				}
			}
			if err != nil || v.IsError() {
				p.Fatalf("%s: %s, %v", key.Str, v.Str, err)
			}
			all[string(key.Str)] = corpus.Show(v)
		}
	})
	return all
}

// salvage copies a damaged file and its WAL to a new file.
func (p patient) salvage(file, log []byte) (patient, doctor.Salvaged, error) {
	to := patient{p.T, filepath.Join(p.TempDir(), "new.sqlite"), p.clock}
	to.session(func(*engine.Session) {})
	var report doctor.Salvaged
	err := to.open(func(f *local.File, e doctor.Exam) error {
		s := doctor.Salvage{File: bytes.NewReader(file), FileSize: int64(len(file)), Exam: e}
		if log != nil {
			s.Log = bytes.NewReader(log)
		}
		return f.Change(func() (err error) {
			report, err = s.Run()
			return err
		})
	})
	return to, report, err
}

// TestSalvage destroys a quarter of the pages and recovers the keys on all other pages.
func TestSalvage(t *testing.T) {
	p := newPatient(t)
	p.large()
	sound, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	want := p.dumps()
	var pagesOf map[int64][]uint32
	var names map[int64]string
	if err := p.open(func(f *local.File, _ doctor.Exam) error {
		pagesOf, names, err = doctor.PagesOfKeys(sound, f.Query)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	const size = 4096
	pages := uint32(len(sound) / size)
	random := rand.New(rand.NewPCG(7, 7))
	overwrite := func(file []byte, page uint32, zero bool) {
		for i := range size {
			file[int(page-1)*size+i] = byte(random.Uint32())
			if zero {
				file[int(page-1)*size+i] = 0
			}
		}
	}
	for _, test := range []struct {
		name       string
		damage     func(file []byte) ([]byte, []uint32)
		stillWhole bool
	}{
		{"not damaged", func(file []byte) ([]byte, []uint32) { return file, nil }, true},
		{"the first page", func(file []byte) ([]byte, []uint32) {
			overwrite(file, 1, false)
			return file, []uint32{1}
		}, false},
		{"a quarter", func(file []byte) (_ []byte, gone []uint32) {
			for _, page := range random.Perm(int(pages - 1))[:pages/4] {
				overwrite(file, uint32(page+2), page%2 == 0)
				gone = append(gone, uint32(page+2))
			}
			return file, gone
		}, false},
		{"a quarter and the first page", func(file []byte) (_ []byte, gone []uint32) {
			overwrite(file, 1, true)
			for _, page := range random.Perm(int(pages - 1))[:pages/4] {
				overwrite(file, uint32(page+2), page%2 == 0)
				gone = append(gone, uint32(page+2))
			}
			return file, append(gone, 1)
		}, false},
		{"cut off", func(file []byte) (_ []byte, gone []uint32) {
			cut := pages - pages/4
			for page := cut + 1; page <= pages; page++ {
				gone = append(gone, page)
			}
			return file[:cut*size-100], append(gone, cut)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p.T = t
			file, gone := test.damage(bytes.Clone(sound))
			to, report, err := p.salvage(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := to.dumps()
			candidates, same := 0, 0
			for id, on := range pagesOf {
				name := names[id]
				if want[name] == "" || slices.ContainsFunc(on, func(page uint32) bool { return slices.Contains(gone, page) }) {
					continue
				}
				candidates++
				if got[name] == want[name] {
					same++
				} else if test.stillWhole {
					t.Errorf("%s is %.50q, and was %.50q", name, got[name], want[name])
				}
			}
			t.Logf("%d of %d keys on sound pages, %d of %d in all; %d lost", same, candidates, len(got), len(want), len(report.Lost))
			if candidates == 0 || same < candidates*95/100 {
				t.Errorf("%d of %d keys on sound pages are back", same, candidates)
			}
			left := slices.DeleteFunc(to.examine(), func(check string) bool { return check == "libraries" }) // code exists
			if len(left) > 0 {
				t.Errorf("the new file has %q", left)
			}
			if whole := len(report.Lost) == 0; whole != (len(gone) == 0 || len(got) == len(want)) {
				t.Errorf("%d keys of %d, and these are reported as lost: %+.300v", len(got), len(want), report.Lost)
			}
		})
	}
}

// TestSalvageLog reads the last version of pages from the WAL, and names the lost keys.
func TestSalvageLog(t *testing.T) {
	p := newPatient(t)
	s, err := local.Open(p.path, local.Options{SweepEvery: -1, Now: p.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := engine.New(s).Session()
	if _, err := c.Do(t.Context(), []byte("SET"), []byte("greeting"), []byte("from the log")); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(p.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	to, report, err := p.salvage(file, log)
	if err != nil || len(report.Lost) > 0 {
		t.Fatalf("%v, %+v", err, report.Lost)
	}
	to.want("GET greeting", `"from the log"`)
	to.want("FCALL greet 0", `"hello"`)

	// Half of the frame with the last commit: the commit before it counts.
	to, _, err = p.salvage(file, log[:len(log)-2000])
	if err != nil {
		t.Fatal(err)
	}
	to.want("GET greeting", `"hello"`)

	// A garbage file has nothing to recover, and the run ends.
	garbage := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{})
	io.ReadFull(random, garbage)
	for i := 0; i < len(garbage); i += 4096 {
		garbage[i] = []byte{2, 5, 10, 13}[i/4096%4]
	}
	if _, report, err := p.salvage(garbage, garbage); err != nil || report.Keys != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestSalvageExpired: expired keys that no sweep has deleted are not counted as lost.
func TestSalvageExpired(t *testing.T) {
	p := newPatient(t)
	p.clock.Advance(200_000) // past the expiry of later and cat:3
	file, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	to, report, err := p.salvage(file, nil)
	if err != nil || len(report.Lost) > 0 || report.Keys == 0 || report.Keys != report.Expected {
		t.Errorf("%d of %d keys, %v, %+v", report.Keys, report.Expected, err, report.Lost)
	}
	to.want("GET greeting", `"hello"`)
	to.want("EXISTS later cat:3", "(integer) 0")
}
