package transfer

import (
	"context"
	"iter"
	"runtime/debug"
)

// Source yields the parts of one key after another. An error ends it: reading failed, or the
// rest of the data is damaged. An error of a single key is its Part.Err, and the next key
// follows.
//
// The sink that takes a part owns it.
type Source = iter.Seq2[Part, error]

// Sink receives parts in the order of a source.
type Sink interface {
	// Put receives the next part. A part with Err undoes the earlier parts of its key.
	//
	// An error is final: the target failed. An error of a single key goes to the sink's Notify
	// at any time until Close, and Put ignores the rest of that key.
	Put(ctx context.Context, p Part) error

	// Close ends the sink. With a nil cause, a nil result means that every part was written or
	// reported. A cause is the error that ended the transfer early: Close then removes the
	// unfinished key, marks the output as truncated, and returns the cause.
	Close(ctx context.Context, cause error) error
}

// Notify receives a key that was not moved, with the reason. The error is an Incomplete for a
// key that was moved with losses.
type Notify func(k *Key, err error)

// Incomplete describes the loss of a moved key.
type Incomplete struct{ Lost string }

func (e *Incomplete) Error() string { return e.Lost }

// Run copies source to sink and closes sink. It reports unreadable keys to notify. seen, if not
// nil, receives each part after Put.
func Run(ctx context.Context, source Source, sink Sink, notify Notify, seen func(Part)) error {
	return sink.Close(ctx, pump(ctx, source, sink, notify, seen))
}

// largeValueBytes limits values, in bytes, that need no garbage collection of their own.
const largeValueBytes = 16 << 20

// releaseMemory returns freed memory to the system if v is large. Otherwise the garbage would add to the
// memory of the next step.
func releaseMemory(v Value) {
	if weight(v) >= largeValueBytes {
		debug.FreeOSMemory()
	}
}

func pump(ctx context.Context, source Source, sink Sink, notify Notify, seen func(Part)) error {
	for p, err := range source {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if IsOwn(p.Key.Name) { // from another program's archive or dump
			continue
		}
		if p.Err != nil {
			notify(p.Key, p.Err)
			if p.First {
				continue
			}
		}
		releaseMemory(p.Value) // the source's buffers are garbage now
		if err := sink.Put(ctx, p); err != nil {
			return err
		}
		releaseMemory(p.Value)
		if seen != nil {
			seen(p)
		}
	}
	return nil
}
