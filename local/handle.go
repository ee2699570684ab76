package local

import "sync"

// handles maps numbers to Go values for C memory: a Go pointer in C memory would not keep its value alive, and
// would not follow it when it moves.
var handles = struct {
	sync.RWMutex
	values map[uintptr]any
	last   uintptr
}{values: map[uintptr]any{}}

// newHandle returns a number for value, valid until dropHandle.
func newHandle(value any) uintptr {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.values[handles.last] = value
	return handles.last
}

// handled returns the value of a handle.
func handled[T any](handle uintptr) T {
	handles.RLock()
	defer handles.RUnlock()
	return handles.values[handle].(T)
}

func dropHandle(handle uintptr) {
	handles.Lock()
	defer handles.Unlock()
	delete(handles.values, handle)
}
