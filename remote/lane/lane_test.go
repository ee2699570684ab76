package lane

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/meowdis/meowdis/store"
)

type call struct {
	Entry
	name string
}

// TestPanic panics in each function of a lane. The calls end with the panic, and the lane serves later calls.
func TestPanic(t *testing.T) {
	fault := ""
	begun, goOn := make(chan bool), make(chan bool)
	l := &Lane[*call]{Width: 1, MaxCalls: 10, MaxBytes: 100}
	l.Serve = func(group []*call) {
		if group[0].name == "first" {
			begun <- true
			<-goOn
		}
		for _, c := range group {
			if fault == "serve" && c.name != "first" {
				panic("serve")
			}
			c.End(nil)
		}
	}
	l.Join = func(_, c *call) bool {
		if fault == "join" {
			panic("join")
		}
		return true
	}
	do := func(name string) error { return l.Do(context.Background(), &call{NewEntry(1), name}) }
	for _, fault = range []string{"serve", "join", ""} {
		ended := make(chan error, 3)
		go func() { ended <- do("first") }()
		<-begun // the next calls share a request
		for range 2 {
			go func() { ended <- do("next") }()
		}
		for l.Waiting() < 2 {
			runtime.Gosched()
		}
		goOn <- true
		panics := 0
		for range 3 {
			var p *store.Panic
			if err := <-ended; errors.As(err, &p) && p.Value == fault {
				panics++
			} else if err != nil {
				t.Errorf("%q: %v", fault, err)
			}
		}
		if want := map[bool]int{true: 2}[fault != ""]; panics != want {
			t.Errorf("%q: %d calls end with the panic, want %d", fault, panics, want)
		}
		l.Wait()
		if err := do("later"); err != nil {
			if p := new(store.Panic); !errors.As(err, &p) || fault != "serve" {
				t.Errorf("after %q: %v", fault, err)
			}
		}
	}
	if l.Wait(); l.busy != 0 {
		t.Errorf("%d turns are taken", l.busy)
	}
}
