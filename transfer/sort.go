package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/internal/sortedrun"
)

// SortOptions configures SortByName.
type SortOptions struct {
	Bytes   int              // memory for a run; 0 for the default. The first runs are smaller
	Now     func() time.Time // nil for the system clock
	Written func() error     // is called when the sink has received every key that was read; nil for none
}

const (
	// A slow source is held back for runTime at first, then for up to as long as the runs before took, so that there are
	// few runs.
	runTime, maxRunTime = 3 * time.Second, 30 * time.Second
	// A larger key, or one in several parts, ends a run.
	sortedBytes = 1 << 20
)

// SortByName returns the keys of source in runs that are sorted by name, the order of a file's index.
// A run ends when it fills its memory, after some seconds, at a large key and when the database
// changes. Keys of one name keep their order.
func SortByName(ctx context.Context, source Source, o SortOptions) Source {
	if o.Now == nil {
		o.Now = time.Now
	}
	return func(yield func(Part, error) bool) {
		s := &sorter{o: o, yield: yield, run: sortedrun.New(recordName, o.Bytes)}
		for p, err := range source {
			if err == nil && ctx.Err() != nil {
				yield(Part{}, context.Cause(ctx))
				return
			}
			if err == nil {
				err = s.put(p)
			} else if ended := s.end(); ended != nil {
				err = ended
			}
			if err != nil {
				if err != errStopped {
					yield(Part{}, err)
				}
				return
			}
		}
		if err := s.end(); err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

// sorter collects the records of small keys, encoded as in an archive.
type sorter struct {
	o      SortOptions
	yield  func(Part, error) bool
	run    *sortedrun.Run
	record block
	db     int
	first  time.Time // the first run began
	began  time.Time // this run began
}

const clockKeys = 1024 // keys between two readings of the clock

// recordName returns the name of the key in a record.
func recordName(record []byte) []byte {
	d := &recordReader{b: record[2:]} // after the flags and the type
	d.number()
	return d.bytes()
}

func (s *sorter) put(p Part) error {
	small := p.First && p.Last && weight(p.Value) <= sortedBytes
	if p.Err == nil && (p.First && !small || s.full(p.Key.DB)) {
		if err := s.end(); err != nil {
			return err
		}
	}
	if p.Err != nil || !small {
		return stoppedUnless(s.yield(p, nil))
	}
	if s.run.Len() == 0 {
		s.db, s.began = p.Key.DB, s.o.Now()
		if s.first.IsZero() {
			s.first = s.began
		}
	}
	s.record = s.record[:0]
	if err := writeRecord(&s.record, p); err != nil {
		return err
	}
	s.run.Add(s.record)
	return nil
}

// full reports whether the run ends before a key of database db.
func (s *sorter) full(db int) bool {
	n := s.run.Len()
	return n > 0 && (db != s.db || s.run.Full() || n%clockKeys == 0 && s.o.Now().Sub(s.began) > s.mostTime())
}

// mostTime limits the duration of the run.
func (s *sorter) mostTime() time.Duration {
	return min(max(runTime, s.began.Sub(s.first)), maxRunTime)
}

// end yields the keys of the run.
func (s *sorter) end() error {
	for record := range s.run.Drain() {
		d := &recordReader{b: record}
		p := d.part()
		if d.bad {
			p.Value, p.Err = nil, errUnsortable
		}
		if !s.yield(p, nil) {
			return errStopped
		}
	}
	if s.o.Written == nil {
		return nil
	}
	return s.o.Written()
}

var errUnsortable = errors.New("its value is invalid")
