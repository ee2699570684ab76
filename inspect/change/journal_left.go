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

	"github.com/meowdis/meowdis/internal/lockfile"
)

// Journals of sessions that ended, or were killed, with changes that can be undone.

// creationGrace limits, in ms, the age of a journal without a step that may belong to a
// session just creating it.
const creationGrace = 60_000

// Adopt takes over the latest journal that an earlier session on the same target left, and
// returns its steps. It skips journals of running sessions, and removes journals without
// steps.
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

// Sweep removes the journals of sessions that were killed.
func (j *Journal) Sweep() error {
	return j.eachOrphan(func(f *os.File) (bool, error) {
		return false, errors.Join(f.Close(), os.Remove(f.Name()))
	})
}

// eachOrphan calls fn with the target's journals that no running session has locked, the
// latest first, until fn returns true.
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
		f, err := lockfile.Open(path, false)
		if errors.Is(err, lockfile.ErrInUse) || errors.Is(err, os.ErrNotExist) {
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

// load reads the steps of an existing file from the heads of its records. No change
// followed anything after the last whole record, so load truncates it.
func (j *Journal) load() (steps []Step, err error) {
	head := make([]byte, len(journalMagic))
	if _, err := j.file.ReadAt(head, 0); err != nil || string(head) != journalMagic {
		return nil, nil // the session was killed before it saved anything
	}
	size, err := j.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	var starts []int64 // offsets of the records
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

// applyStepRecord adds a record that begins or ends a step to steps.
func applyStepRecord(steps []Step, kind byte, payload []byte, from, next int64) []Step {
	n, size := binary.Uvarint(payload)
	rest := payload[max(size, 0):]
	switch last := len(steps) - 1; {
	case kind == recordStep:
		return append(steps, Step{Title: string(rest), When: int64(n), from: from, first: next})
	case last >= 0:
		steps[last].Keys, steps[last].Confirmed = int64(n), len(rest) > 0 && rest[0] == 1
	}
	return steps
}

// trim drops records from the end that no change followed: records cut short by a crash, and
// steps without commands. It repeats this for the records before them, so that the next
// session finds the same steps.
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

// hasRecords reports whether the step has any records beside its first.
func (j *Journal) hasRecords(s Step) bool {
	return s.to > s.first
}
