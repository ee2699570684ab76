package change

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/alone"
)

// What sessions leave that end, or are killed, with changes that can be undone.

// creationGrace is for how long, in ms, a journal without a step may be one that is
// being made.
const creationGrace = 60_000

// Adopt takes over the latest journal that a session on the same target left, and
// returns its steps. Those that a living session has are left alone, those
// without a step are removed.
func (j *Journal) Adopt() (steps []Step, err error) {
	err = j.eachOrphan(func(f *os.File) (over bool, err error) {
		j.file = f
		steps, err = j.load()
		if err == nil && len(steps) > 0 {
			return true, nil
		}
		info, _ := f.Stat()
		old := info != nil && j.now()-info.ModTime().UnixMilli() > creationGrace
		return false, errors.Join(err, j.Close(err == nil && old))
	})
	return steps, err
}

// Sweep removes what sessions left that were killed.
func (j *Journal) Sweep() error {
	return j.eachOrphan(func(f *os.File) (bool, error) {
		return false, errors.Join(f.Close(), os.Remove(f.Name()))
	})
}

// eachOrphan calls fn with the journals of the target that no living session has, the last one
// first, until it is over.
func (j *Journal) eachOrphan(fn func(*os.File) (over bool, err error)) error {
	entries, err := os.ReadDir(j.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name(), journalsOf(j.target)) || !strings.HasSuffix(e.Name(), j.suffix) {
			continue
		}
		path := filepath.Join(j.dir, e.Name())
		f, err := alone.Open(path, false)
		if errors.Is(err, alone.ErrInUse) || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		over, err := fn(f)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if over {
			return nil
		}
	}
	return nil
}

// load finds the steps of a file that is there, by the heads of its records. What
// is after the last whole record was never followed by a change, and is cut off.
func (j *Journal) load() (steps []Step, err error) {
	head := make([]byte, len(journalMagic))
	if _, err := j.file.ReadAt(head, 0); err != nil || string(head) != journalMagic {
		return nil, nil // it was killed before anything was kept
	}
	size, err := j.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	var starts []int64 // of the records
	head = make([]byte, recordHead)
	for at := int64(len(journalMagic)); at+recordHead+recordSum <= size; {
		if _, err := j.file.ReadAt(head, at); err != nil {
			return nil, err
		}
		next := at + recordHead + int64(binary.LittleEndian.Uint32(head[1:])) + recordSum
		if next > size {
			break
		}
		if head[0] == recordStep || head[0] == recordEnd {
			_, payload, err := readRecord(io.NewSectionReader(j.file, at, next-at))
			if err != nil {
				break
			}
			steps = applyStepRecord(steps, head[0], payload, at, next)
		}
		if len(steps) > 0 {
			steps[len(steps)-1].to = next
		}
		starts = append(starts, at)
		at, j.end = next, next
	}
	steps = j.trim(steps, starts)
	return steps, j.file.Truncate(max(j.end, int64(len(journalMagic))))
}

// applyStepRecord takes in a record that begins or ends a step.
func applyStepRecord(steps []Step, kind byte, payload []byte, from, next int64) []Step {
	n, size := binary.Uvarint(payload)
	rest := payload[max(size, 0):]
	switch last := len(steps) - 1; {
	case kind == recordStep:
		return append(steps, Step{Title: string(rest), When: int64(n), from: from, first: next})
	case last >= 0:
		steps[last].Keys, steps[last].Asked = int64(n), len(rest) > 0 && rest[0] == 1
	}
	return steps
}

// trim takes off the end what no change followed: records that the machine went down in
// the middle of, and steps that were begun and have no commands. What is in front of them
// by then is looked at in the same way, so that the next session finds the same steps.
func (j *Journal) trim(steps []Step, starts []int64) []Step {
	for at := range slices.Backward(starts) {
		last := starts[at]
		begun := len(steps) > 0 && steps[len(steps)-1].from == last
		_, _, err := readRecord(io.NewSectionReader(j.file, last, j.end-last))
		switch {
		case err == nil && !begun:
			return steps
		case begun:
			steps = steps[:len(steps)-1]
		case len(steps) > 0:
			steps[len(steps)-1].to = last
		}
		j.end = last
	}
	return steps
}

// hasRecords reports whether anything was added to a step.
func (j *Journal) hasRecords(s Step) bool {
	return s.to > s.first
}
