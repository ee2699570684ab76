package transfer

import (
	"context"
	"iter"
	"runtime/debug"
)

// Source yields the parts of one key after another. An error ends it: the place
// is gone, or what it holds is damaged from here on. What belongs to one key only
// is that key's Part.Err, and the next key follows.
//
// A part and what it holds belong to the sink that takes it.
type Source = iter.Seq2[Part, error]

// Sink takes parts in the order in which a source yields them.
type Sink interface {
	// Put takes the next part. A part with Err undoes what came of its key.
	//
	// An error is the end: the place is gone. What went wrong with one key only is
	// reported to the Notify that the sink was made with, at any time up to Close,
	// and Put takes the rest of the key without doing anything.
	Put(ctx context.Context, p Part) error

	// Close ends the sink. With a nil cause all that it was given is written or
	// was reported when Close returns nil. With a cause, what made the move end
	// early, it takes back the key that is not finished, leaves a mark that
	// more was to come, and returns the cause.
	Close(ctx context.Context, cause error) error
}

// Notify is called with a key that was not moved, and why; with an Incomplete that it was, but for
// something.
type Notify func(k *Key, err error)

// Incomplete is what a key that was moved has lost.
type Incomplete struct{ Lost string }

func (e *Incomplete) Error() string { return e.Lost }

// Run puts all that source yields into sink, and closes it. Keys that the source
// could not read are reported to notify; seen, which may be nil, is shown each part
// that was put.
func Run(ctx context.Context, source Source, sink Sink, notify Notify, seen func(Part)) error {
	return sink.Close(ctx, pump(ctx, source, sink, notify, seen))
}

// heavy is the bytes of a part that is rare enough for collections of garbage of its own.
const heavy = 16 << 20

// tidy gives back the memory of what is garbage where v is heavy: or else that would be there
// beside what is made of v.
func tidy(v Value) {
	if weight(v) >= heavy {
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
		if isTemporary(p.Key.Name) { // of an archive or a dump file that another program made
			continue
		}
		if p.Err != nil {
			notify(p.Key, p.Err)
			if p.First {
				continue
			}
		}
		tidy(p.Value) // what the source has left is garbage now
		if err := sink.Put(ctx, p); err != nil {
			return err
		}
		tidy(p.Value)
		if seen != nil {
			seen(p)
		}
	}
	return nil
}
