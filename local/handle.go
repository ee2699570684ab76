package local

import "sync"

// handles are Go values that C memory refers to, by numbers: a Go pointer in C memory
// would keep nothing alive, and would not follow the value when it moves.
var handles = struct {
	sync.RWMutex
	values map[uintptr]any
	last   uintptr
}{values: map[uintptr]any{}}

// newHandle is a number for a value, until dropHandle.
func newHandle(value any) uintptr {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.values[handles.last] = value
	return handles.last
}

// handled is the value that has the number.
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
