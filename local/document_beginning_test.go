package local_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// TestBeginningOfDocument reads the beginnings of documents of one page and of many, in memory, in a file and in a read-only file.
func TestBeginningOfDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	now := int64(1_700_000_000_000)
	clock := func() int64 { return now }
	large := `{"a":"` + strings.Repeat("0123456789", 50_000) + `","b":2}`
	fill := func(s *local.Store) {
		session := engine.New(s, engine.WithClock(clock)).Session()
		for _, words := range [][]string{
			{"JSON.SET", "small", "$", "[1,2]"}, {"JSON.SET", "large", "$", large}, {"SET", "text", "abc"},
			{"JSON.SET", "old", "$", "1"}, {"PEXPIRE", "old", "10"}, {"SELECT", "1"}, {"JSON.SET", "other", "$", "true"},
		} {
			args := make([][]byte, len(words))
			for i, w := range words {
				args[i] = []byte(w)
			}
			if v, err := session.Do(t.Context(), args...); err != nil || v.IsError() {
				t.Fatal(words[:2], err, string(v.Str))
			}
		}
	}
	open := func(path string, o local.Options) *local.Store {
		o.Now, o.SweepEvery = clock, -1
		s, err := local.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	check := func(name string, s *local.Store) {
		for _, c := range []struct {
			db   int
			key  string
			n    int64
			want string
			size int64
		}{
			{0, "small", 100, "[1,2]", 5}, {0, "small", 2, "[1", 5}, {0, "small", 0, "", 5},
			{0, "large", 20, large[:20], int64(len(large))}, {0, "large", 123_456, large[:123_456], int64(len(large))}, {0, "large", 1 << 40, large, int64(len(large))},
			{0, "text", 9, "", -1}, {0, "missing", 9, "", -1}, {0, "old", 9, "", -1}, {0, "other", 9, "", -1}, {1, "other", 9, "true", 4},
		} {
			part, size, err := s.BeginningOfDocument(t.Context(), c.db, c.key, c.n)
			if err != nil || string(part) != c.want || size != c.size {
				t.Errorf("%s: %d bytes of %s: %.20q of %d, %v; want %.20q of %d", name, c.n, c.key, part, size, err, c.want, c.size)
			}
		}
	}
	for name, at := range map[string]string{"memory": local.Memory, "file": path} {
		s := open(at, local.Options{})
		fill(s)
		now += 20
		check(name, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		now -= 20
		if _, _, err := s.BeginningOfDocument(t.Context(), 0, "small", 1); err == nil {
			t.Error("a closed store has documents")
		}
	}
	now += 20
	s := open(path, local.Options{ReadOnly: true})
	check("read-only", s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
