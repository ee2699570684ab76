package engine

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// stopped is a store that replies once the channel is closed.
type stopped struct{ asked, goOn chan struct{} }

func (s stopped) Apply(context.Context, []store.Batch) ([]store.Result, error) {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	<-s.goOn
	return nil, context.Canceled
}

// TestLimitWaitsForNoStore changes maxmemory while a command measures the store.
func TestLimitWaitsForNoStore(t *testing.T) {
	s := stopped{make(chan struct{}, 1), make(chan struct{})}
	e := New(s)
	e.SetMaxMemory(1, translator.NoEviction)
	looked, changed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		e.Session().Do(t.Context(), []byte("SET"), []byte("k"), []byte("v"))
	}()
	<-s.asked
	go func() {
		defer close(changed)
		e.SetMaxMemory(2, translator.NoEviction)
	}()
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Error("it waits for the store")
	}
	close(s.goOn)
	<-looked
	<-changed
}

// TestSlowLookMakesRoom evicts a key for each command, even if the measurement takes longer than a command may
// evict.
func TestSlowLookMakesRoom(t *testing.T) {
	old := evictFor
	evictFor = 0
	t.Cleanup(func() { evictFor = old })
	s, err := local.Open(filepath.Join(t.TempDir(), "room.sqlite"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := New(s)
	for _, key := range []string{"a", "b"} {
		if v, err := e.Session().Do(t.Context(), []byte("SET"), []byte(key), []byte("v")); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
	}
	e.SetMaxMemory(1, translator.AllKeysRandom)
	e.Session().Do(t.Context(), []byte("SET"), []byte("c"), []byte("v"))
	if e.Evicted() == 0 {
		t.Error("no key had to go")
	}
}
