//go:build wasip1

package main

import (
	"context"
	"time"
	"unsafe"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema/install"
	"github.com/meowdis/meowdis/store/sweep"
)

// object is what we know of a Durable Object. Losing it costs its streams and what SCRIPT LOAD has left.
type object struct {
	engine  *engine.Engine
	streams map[int32]*pubsub.Queue
	used    uint64 // when, in calls
}

var (
	objects = map[int32]*object{}
	calls   uint64
	// memory is what the rows and replies of a request may take. An isolate has 128 MB, for all.
	memory = store.NewPool(48 << 20)
)

// maxObjects is how many objects are remembered; those that were not used for longest go first.
const maxObjects = 100

// known is the object with a number of JavaScript's, whose tables are there.
func known(number int32) (*object, error) {
	calls++
	o := objects[number]
	if o == nil {
		if err := install.Ready(context.Background(), objectStore{}.Apply, time.Now().UnixMilli()); err != nil {
			return nil, err
		}
		forgetOne()
		o = &object{engine: engine.New(objectStore{}, engine.WithInterrupt(interrupt)), streams: map[int32]*pubsub.Queue{}}
		objects[number] = o
	}
	o.used = calls
	return o, nil
}

// forgetOne makes room for another object. One with streams stays.
func forgetOne() {
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

// ready makes the tables, unless they are there. It returns 1 when they are.
//
//go:wasmexport ready
func ready(number int32) int32 {
	if _, err := known(number); err != nil {
		println("meowdis:", err.Error())
		return 0
	}
	return 1
}

// What is swept in one alarm: slices of so many keys.
const (
	sweepSlices = 50
	sweepKeys   = 100
)

// sweepObject deletes what has expired and what deleted keys have left, and returns when there is more to
// do, in Unix ms, or -1 for never.
//
//go:wasmexport sweep
func sweepObject(number int32) float64 {
	if _, err := known(number); err != nil {
		return -1
	}
	for range sweepSlices {
		swept, err := sweep.Slice(context.Background(), objectStore{}.Apply, time.Now().UnixMilli(), sweepKeys)
		if err != nil || swept.Rows == 0 {
			break
		}
	}
	return due(number)
}

// due is when something is to be swept, in Unix ms, or -1 for never.
//
//go:wasmexport due
func due(int32) float64 {
	at, some, err := sweep.Due(context.Background(), objectStore{}.Apply)
	if err != nil || !some {
		return -1
	}
	return float64(at)
}

// flush sends what waits for the streams.
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

// leaveStream says that the client of a stream is gone.
//
//go:wasmexport leave
func leaveStream(number, stream int32) {
	if o := objects[number]; o != nil {
		o.leave(stream)
	}
}
