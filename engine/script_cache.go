package engine

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
)

// scriptCache keeps compiled scripts by the SHA1 of their source. Like Redis it evicts old scripts of EVAL, and
// keeps the scripts of SCRIPT LOAD. Unlike Redis it bounds those, too: a program that writes values into the
// source creates a new script with each call.
type scriptCache struct {
	mu      sync.Mutex
	known   map[string]*list.Element
	evaled  list.List // of *cachedScript, the least recently used in front
	loaded  list.List
	bytes   int // of all scripts
	evicted atomic.Int64
}

// cachedScript is a script with the list that holds it.
type cachedScript struct {
	*script.Script
	in *list.List
}

const (
	maxEvaled      = 500 // as in Redis
	maxLoaded      = 10_000
	maxCachedBytes = 64 << 20
)

// find returns a script, or nil. use marks the script as recently used.
func (sc *scriptCache) find(sha string, use bool) *script.Script {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	at := sc.known[sha]
	if at == nil {
		return nil
	}
	have := at.Value.(*cachedScript)
	if use {
		have.in.MoveToBack(at)
	}
	return have.Script
}

// load compiles and caches a script, unless it is cached already. forGood is set for SCRIPT LOAD, which, as in
// Redis, does not change a cached script. Compiling charges work.
func (sc *scriptCache) load(source []byte, forGood bool, work *store.Work) (*script.Script, resp.Value) {
	if have := sc.find(script.SHA1(source), !forGood); have != nil {
		return have, resp.Value{}
	}
	made, bad := script.Compile(source, true, work.Allocate)
	if bad.IsError() {
		return nil, bad
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if at := sc.known[made.SHA]; at != nil { // another session was faster
		return at.Value.(*cachedScript).Script, resp.Value{}
	}
	in, most := &sc.evaled, maxEvaled
	if forGood {
		in, most = &sc.loaded, maxLoaded
	}
	for in.Len() >= most {
		sc.evict(in)
	}
	for sc.bytes+made.Bytes > maxCachedBytes && len(sc.known) > 0 {
		if sc.evaled.Len() > 0 {
			sc.evict(&sc.evaled)
		} else {
			sc.evict(&sc.loaded)
		}
	}
	if sc.known == nil {
		sc.known = map[string]*list.Element{}
	}
	sc.known[made.SHA] = in.PushBack(&cachedScript{made, in})
	sc.bytes += made.Bytes
	return made, resp.Value{}
}

// evict removes the least recently used script of a list.
func (sc *scriptCache) evict(from *list.List) {
	s := from.Remove(from.Front()).(*cachedScript)
	delete(sc.known, s.SHA)
	sc.bytes -= s.Bytes
	sc.evicted.Add(1)
}

func (sc *scriptCache) flush() {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	clear(sc.known)
	sc.evaled.Init()
	sc.loaded.Init()
	sc.bytes = 0
}

// CachedScripts returns the number of scripts that EVALSHA can run.
func (e *Engine) CachedScripts() int {
	e.scripts.cache.mu.Lock()
	defer e.scripts.cache.mu.Unlock()
	return len(e.scripts.cache.known)
}

// EvictedScripts returns the number of scripts that the cache has evicted.
func (e *Engine) EvictedScripts() int64 { return e.scripts.cache.evicted.Load() }
