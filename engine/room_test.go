package engine

import (
	"context"
	"testing"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// stopped is a store that answers when go on is closed.
type stopped struct{ asked, goOn chan struct{} }

func (s stopped) Apply(context.Context, []store.Batch) ([]store.Result, error) {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	<-s.goOn
	return nil, context.Canceled
}

// TestLimitWaitsForNoStore changes maxmemory while a command looks how much there is.
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
	case <-time.After(10 * time.Second):
		t.Error("it waits for the store")
	}
	close(s.goOn)
	<-looked
	<-changed
}
