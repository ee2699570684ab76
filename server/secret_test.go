package server_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/server"
)

// TestWrongSecretsAreSlow delays only clients that guess, one after the other and many at once.
func TestWrongSecretsAreSlow(t *testing.T) {
	var mu sync.Mutex
	var waits []time.Duration
	waited := func() (all []time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		all, waits = waits, nil
		slices.Sort(all)
		return all
	}
	waiting, answer := make(chan struct{}), make(chan struct{})
	held := false
	s := serve(t, server.Config{RequirePass: "secret", Sleep: func(_ <-chan struct{}, d time.Duration) {
		mu.Lock()
		waits = append(waits, d)
		hold := held
		mu.Unlock()
		if hold {
			waiting <- struct{}{}
			<-answer
		}
	}})
	c := s.dial(t)
	const ms = time.Millisecond
	for _, step := range []struct {
		do    func()
		waits []time.Duration
	}{
		{func() { c.do("AUTH", "wrong") }, []time.Duration{250 * ms}},
		{func() { c.do("HELLO", "3", "AUTH", "default", "wrong") }, []time.Duration{250 * ms}},
		{func() { c.do("GET", "k"); c.do("AUTH", "secret"); c.do("GET", "k") }, nil},
		{func() { s.exchange(t, "GET", "/ping", "", "Authorization: Bearer wrong") }, []time.Duration{250 * ms}},
		{func() { s.exchange(t, "GET", "/ping?_token=wrong", "") }, []time.Duration{250 * ms}},
		{func() { s.exchange(t, "GET", "/ping", ""); s.get(t, "/ping") }, nil},
	} {
		if step.do(); !slices.Equal(waited(), step.waits) {
			t.Errorf("waits are not %v", step.waits)
		}
	}
	mu.Lock()
	held = true
	mu.Unlock()
	const guessers = 30
	for range guessers {
		s.dial(t).send("AUTH wrong\r\n")
	}
	for range guessers {
		<-waiting
	}
	want(t, c.do("AUTH", "secret"), "OK")
	close(answer)
	all := waited()
	for i, d := range all {
		if want := min(time.Duration(i+1)*250*ms, 5*time.Second); d != want {
			t.Errorf("guess %d of many at once waits %v, not %v", i+1, d, want)
		}
	}
	if len(all) != guessers {
		t.Errorf("%d waits", len(all))
	}
}
