package catalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
)

// place holds the position of a key in an order.
type place struct{ rank, id int64 }

func (p place) compare(q place) int {
	if p.rank == q.rank {
		return cmp.Compare(p.id, q.id)
	}
	return cmp.Compare(p.rank, q.rank)
}

// placeSize counts the bytes of a place in a run: two 64-bit numbers.
const placeSize = 16

// run holds a sorted sequence of places.
type run struct {
	places io.ReaderAt
	at     int64 // offset of the first place
	n      int
}

// read returns places i to j-1.
func (r run) read(i, j int) ([]place, error) {
	if i == j {
		return nil, nil
	}
	buf := make([]byte, (j-i)*placeSize)
	if _, err := r.places.ReadAt(buf, r.at+int64(i)*placeSize); err != nil {
		return nil, fmt.Errorf("reading the order of the keys: %w", err)
	}
	places := make([]place, j-i)
	for k := range places {
		b := buf[k*placeSize:]
		places[k] = place{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))}
	}
	return places, nil
}

// near returns up to n places after from, or before from if down is set, in ascending order. A
// nil from is the beginning, or the end if down is set.
func (r run) near(from *place, down bool, n int) (found []place, err error) {
	i := 0
	switch {
	case from == nil && down:
		i = r.n
	case from != nil:
		i = sort.Search(r.n, func(i int) bool {
			p, fail := r.read(i, i+1)
			if fail != nil {
				err = fail
				return true
			}
			c := p[0].compare(*from)
			return c > 0 || c == 0 && down
		})
	}
	if err != nil {
		return nil, err
	}
	if down {
		return r.read(max(i-n, 0), i)
	}
	return r.read(i, min(i+n, r.n))
}

// spill holds the places that do not fit in memory, as sorted runs in a temporary file. The
// file holds numbers and no key names. A single run stays in memory.
type spill struct {
	runs []run
	file *os.File // nil until a run is written
	size int64
}

// add sorts places and adds them as a run. Only the last run may stay in memory.
func (s *spill) add(places []place, last bool) error {
	slices.SortFunc(places, place.compare)
	buf := make([]byte, 0, len(places)*placeSize)
	for _, p := range places {
		buf = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(buf, uint64(p.rank)), uint64(p.id))
	}
	if last {
		s.runs = append(s.runs, run{bytes.NewReader(buf), 0, len(places)})
		return nil
	}
	if s.file == nil {
		file, err := os.CreateTemp("", "meowdis-order-")
		if err != nil {
			return fmt.Errorf("keeping the order of the keys: %w", err)
		}
		// Unix allows removing an open file, so nothing is left behind if the process is
		// killed.
		os.Remove(file.Name())
		s.file = file
	}
	if _, err := s.file.WriteAt(buf, s.size); err != nil {
		return fmt.Errorf("keeping the order of the keys: %w", err)
	}
	s.runs = append(s.runs, run{s.file, s.size, len(places)})
	s.size += int64(len(buf))
	return nil
}

// near merges the results of run.near over all runs.
func (s *spill) near(from *place, down bool, n int) (found []place, err error) {
	for _, r := range s.runs {
		part, err := r.near(from, down, n)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	slices.SortFunc(found, place.compare)
	if down {
		return found[max(len(found)-n, 0):], nil
	}
	return found[:min(n, len(found))], nil
}

// close closes and removes the file.
func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}
