package soak

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNoMoreFiles lets clients take all the files that the server may open: those who are
// in read and write, as many at once as there are.
func TestNoMoreFiles(t *testing.T) {
	const files = 64
	p := startVerb(t, t.TempDir()+"/db.sqlite", files)
	var inside []session
	for range files / 4 {
		s, err := p.dial(false)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		inside = append(inside, s)
	}
	c := &crowd{t: t, server: p, here: t.Context()}
	for range files {
		if conn := c.raw(p.redis); conn != nil { // the system takes it, the server cannot
			defer conn.Close()
		}
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.log.String(), "too many open files"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server has room for %d more clients, and logged\n%s", files, p.log.String())
		}
	}
	var all sync.WaitGroup
	for _, s := range inside {
		all.Go(func() {
			for range 20 {
				for _, line := range []string{"INCR n", "GET n", "RPUSH l a b c", "LRANGE l 0 -1", "SORT l ALPHA", "KEYS *"} {
					if err := do(s, words(line)); err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
		})
	}
	all.Wait()
}
