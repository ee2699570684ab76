package engine

import "github.com/meowdis/meowdis/store"

// Effect is a command that changes a replica as the store has changed.
type Effect struct {
	DB   int
	Args [][]byte
	Unit any // consecutive effects with the same unit take effect together; nil for an effect of its own
	For  Audience
}

// Audience says which replicas an effect is for: replicas that take values of modules (JSON documents, sketches, time series,
// indexes of search), as Redis servers cannot without the modules, or the others.
type Audience uint8

const (
	Everyone Audience = iota
	WithModules
	WithoutModules
)

// Effects are the effects of one transaction, in order.
type Effects struct {
	List []Effect
	// Unknown means that something has changed that List does not contain: replicas need all data again.
	Unknown bool
	// Skipped is the number of changes of values that no replica gets, and ModuleKeys that replicas without modules do not
	// get. If the key had another type before, they delete it.
	Skipped, ModuleKeys int
}

func (e *Effects) empty() bool {
	return len(e.List) == 0 && !e.Unknown && e.Skipped == 0 && e.ModuleKeys == 0
}

// effectListener receives effects. Its work bounds the values that are read for them.
type effectListener struct {
	tell    func(Effects)
	modules func() bool
	work    store.Work
}

// ListenEffects calls tell with the effects of each transaction until stop is called: after the commit, before any
// client gets its reply, and in commit order (docs/design/replicas.md). Another process's commit is an Unknown
// change. tell must neither wait nor call the engine. modules reports whether any replica takes values of modules: without,
// all effects are for everyone. budget bounds a value that is read. There is one listener at a time, and the store must
// hold transactions open.
func (e *Engine) ListenEffects(tell func(Effects), modules func() bool, budget *store.Budget) (stop func()) {
	f := &e.feed
	f.replicas.Store(&effectListener{tell: tell, modules: modules, work: store.Work{Budget: budget}})
	leave := f.join()
	return func() {
		f.replicas.Store(nil)
		leave()
	}
}

// lostTrack reports a change by another process.
func (f *feed) lostTrack() {
	if l := f.replicas.Load(); l != nil {
		l.tell(Effects{Unknown: true})
	}
}
