//go:build wasip1

package main

import (
	"context"
	"time"
	"unsafe"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/store/sweep"
)

// object holds the state of a Durable Object. Losing it loses its streams and the scripts of SCRIPT LOAD.
type object struct {
	engine  *engine.Engine
	streams map[int32]*pubsub.Queue
	used    uint64 // number of the last call
}

var (
	objects = map[int32]*object{}
	calls   uint64
	// memory limits the rows and replies of all requests together. An isolate has 128 MB.
	memory = store.NewPool(48 << 20)
)

// maxObjects limits the objects in memory. The least recently used is dropped first.
const maxObjects = 100

// objectFor returns the object with a number assigned by JavaScript, and creates its tables if needed.
func objectFor(number int32) (*object, error) {
	calls++
	o := objects[number]
	if o == nil {
		if err := schema.Ready(context.Background(), objectStore{}.Apply, time.Now().UnixMilli()); err != nil {
			return nil, err
		}
		evictObject()
		o = &object{engine: engine.New(objectStore{}, engine.WithInterrupt(interrupt)), streams: map[int32]*pubsub.Queue{}}
		o.engine.SetReport(logPanic)
		objects[number] = o
	}
	o.used = calls
	return o, nil
}

// evictObject drops the least recently used object if maxObjects is reached. Objects with streams stay.
func evictObject() {
	if len(objects) < maxObjects {
		return
	}
	oldest := int32(-1)
	for number, o := range objects {
		if len(o.streams) == 0 && (oldest < 0 || o.used < objects[oldest].used) {
			oldest = number
		}
	}
	delete(objects, oldest)
}

// ready creates missing tables. It returns 1 on success.
//
//go:wasmexport ready
func ready(number int32) (done int32) {
	defer guard(func() {})
	if _, err := objectFor(number); err != nil {
		println("meowdis:", err.Error())
		return 0
	}
	return 1
}

// One alarm sweeps up to sweepSlices slices of sweepKeys keys.
const (
	sweepSlices = 50
	sweepKeys   = 100
)

// sweepObject deletes expired keys and the rest of deleted keys. It returns the time of the next sweep in Unix ms, or
// -1.
//
//go:wasmexport sweep
func sweepObject(number int32) (at float64) {
	defer guard(func() { at = -1 })
	if _, err := objectFor(number); err != nil {
		return -1
	}
	for range sweepSlices {
		swept, err := sweep.Slice(context.Background(), objectStore{}.Apply, time.Now().UnixMilli(), sweepKeys)
		if err != nil || swept.Rows+swept.Indexed == 0 {
			break
		}
	}
	return due(number)
}

// due returns the time of the next sweep in Unix ms, or -1 if there is nothing to sweep.
//
//go:wasmexport due
func due(int32) (at float64) {
	defer guard(func() { at = -1 })
	ms, some, err := sweep.Due(context.Background(), objectStore{}.Apply)
	if err != nil || !some {
		return -1
	}
	return float64(ms)
}

// flush sends queued messages to the streams.
func (o *object) flush() {
	for number, queue := range o.streams {
		all, err := queue.Next()
		if err != nil {
			hostEnd(number)
			o.leave(number)
			continue
		}
		for _, piece := range events(all) {
			hostSend(number, unsafe.Pointer(unsafe.SliceData(piece)), int32(len(piece)))
		}
	}
}

// leave ends a stream.
func (o *object) leave(stream int32) {
	if queue := o.streams[stream]; queue != nil {
		o.engine.Hub().Leave(queue)
		delete(o.streams, stream)
	}
}

// leaveStream ends a stream whose client has left.
//
//go:wasmexport leave
func leaveStream(number, stream int32) {
	defer guard(func() {})
	if o := objects[number]; o != nil {
		o.leave(stream)
	}
}
