package change

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/meowdis/meowdis/resp"
)

// Journal is what undoes the changes of a session: the commands that bring back
// what each of them overwrote, in a file of its own. Records are appended, and are
// on the disk before the change is made, so that a session that is killed can be
// undone by the next one. An undo cuts its records off the end.
//
// The file is a magic line and records: a kind, the length of the payload, the
// payload, and the XXH3 hash of all three. Whoever writes to the file has it
// locked. A journal is for one goroutine at a time.
type Journal struct {
	dir    string
	target string
	now    func() int64
	file   *os.File // nil until the first change
	end    int64
}

// NewJournal keeps what undoes the changes of a target in a directory. The file is made
// with the first change.
func NewJournal(dir, target string, now func() int64) *Journal {
	return &Journal{dir: dir, target: target, now: now}
}

// Step is a change that can be undone: where its records are in the journal, and of how
// many bytes of its commands an undo that broke off has run.
type Step struct {
	Title    string
	from, to int64
	done     int64
}

const (
	journalMagic  = "meowdis undo 1\n"
	journalSuffix = ".undo1" // ends with the version of the format

	recordTarget   = 'T' // what the target is called
	recordStep     = 'S' // begins a step: its title
	recordCommands = 'C' // a database and commands there, as Redis's protocol has them
	recordChecks   = 'L' // what the change left of what the commands before undo: see checks.go

	recordHead = 1 + 4
	recordSum  = 8
)

var (
	errDamagedJournal = errors.New("the undo journal is damaged: what it keeps of this change cannot be used")
	errJournalInUse   = errors.New("the undo journal is in use")
)

// NotKept is why a change was not made: it could not be written to the journal.
type NotKept struct{ Err error }

func (u NotKept) Error() string {
	return fmt.Sprintf("nothing was changed, since its undo cannot be kept: %v", u.Err)
}

// begin starts a step. The step before it stays as it is.
func (j *Journal) begin(title string) (Step, error) {
	if err := j.create(); err != nil {
		return Step{}, NotKept{err}
	}
	s := Step{Title: title, from: j.end}
	err := j.append(recordStep, []byte(title))
	s.to = j.end
	return s, err
}

// create makes the file, unless there is one.
func (j *Journal) create() error {
	if j.file != nil {
		return nil
	}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	f, err := j.make()
	if errors.Is(err, errJournalInUse) {
		f, err = j.make() // somebody looked into it before it was locked
	}
	if err != nil {
		return err
	}
	j.file = f
	if _, err = f.WriteString(journalMagic); err == nil {
		j.end = int64(len(journalMagic))
		err = j.append(recordTarget, []byte(j.target))
	}
	if err != nil {
		return errors.Join(err, j.Close(true))
	}
	return nil
}

func (j *Journal) make() (*os.File, error) {
	name := fmt.Sprintf("%s%013d-%s%s", journalsOf(j.target), j.now(), rand.Text()[:8], journalSuffix)
	return openAlone(filepath.Join(j.dir, name), true)
}

// journalsOf is what the names of the journals of a target begin with; the time
// follows, so that the names are in the order of the sessions.
func journalsOf(target string) string { return fmt.Sprintf("%016x-", xxh3.HashString(target)) }

// add appends commands that undo a part of the step that was begun last.
func (j *Journal) add(db int, calls [][][]byte) error {
	payload := binary.AppendUvarint(nil, uint64(db))
	for _, call := range calls {
		payload = resp.AppendCommand(payload, call...)
	}
	return j.append(recordCommands, payload)
}

// append writes a record. One that did not get there as a whole is cut off again.
func (j *Journal) append(kind byte, payload []byte) error {
	record := make([]byte, recordHead, recordHead+len(payload)+recordSum)
	record[0] = kind
	binary.LittleEndian.PutUint32(record[1:], uint32(len(payload)))
	record = append(record, payload...)
	record = binary.LittleEndian.AppendUint64(record, xxh3.Hash(record))
	if _, err := j.file.WriteAt(record, j.end); err != nil {
		j.file.Truncate(j.end)
		return NotKept{err}
	}
	j.end += int64(len(record))
	return nil
}

// sync makes sure that the journal survives a crash of the machine.
func (j *Journal) sync() error {
	if err := j.file.Sync(); err != nil {
		return NotKept{err}
	}
	return nil
}

// cut forgets a step and what follows it.
func (j *Journal) cut(s Step) error {
	j.end = s.from
	return j.file.Truncate(s.from)
}

// replay calls fn with what undoes a step, in the order in which it was added, and
// with how many bytes of the step were there before it.
func (j *Journal) replay(s Step, fn func(done int64, db int, calls [][][]byte) error) error {
	var done int64
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, s.from, s.to-s.from), 64<<10)
	for {
		kind, payload, err := readRecord(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case kind != recordCommands:
			continue
		}
		db, calls, err := parseCommands(payload)
		if err == nil {
			err = fn(done, db, calls)
		}
		if err != nil {
			return err
		}
		done += recordHead + int64(len(payload)) + recordSum
	}
}

// readRecord reads the next record; io.EOF where there is none.
func readRecord(in io.Reader) (kind byte, payload []byte, err error) {
	head := make([]byte, recordHead)
	if _, err := io.ReadFull(in, head); err != nil {
		return 0, nil, endOrDamage(err)
	}
	size := int64(binary.LittleEndian.Uint32(head[1:])) + recordSum
	record := bytes.NewBuffer(head)
	if _, err := io.CopyN(record, in, size); err != nil {
		return 0, nil, errDamagedJournal
	}
	b := record.Bytes()
	body, sum := b[:len(b)-recordSum], b[len(b)-recordSum:]
	if xxh3.Hash(body) != binary.LittleEndian.Uint64(sum) {
		return 0, nil, errDamagedJournal
	}
	return head[0], body[recordHead:], nil
}

func endOrDamage(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errDamagedJournal
	}
	return err
}

func parseCommands(payload []byte) (db int, calls [][][]byte, err error) {
	n, size := binary.Uvarint(payload)
	if size <= 0 {
		return 0, nil, errDamagedJournal
	}
	in := resp.NewReader(bytes.NewReader(payload[size:]))
	for {
		call, err := in.ReadCommand()
		if errors.Is(err, io.EOF) {
			return int(n), calls, nil
		}
		if err != nil {
			return 0, nil, errDamagedJournal
		}
		calls = append(calls, call)
	}
}

// Close ends the journal, and removes its file when nothing in it is of use any
// more.
func (j *Journal) Close(remove bool) error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	if remove {
		err = errors.Join(err, os.Remove(j.file.Name()))
	}
	j.file, j.end = nil, 0
	return err
}

// justMade is for how long, in ms, a journal without a step may be one that is
// being made.
const justMade = 60_000

// Adopt takes over the latest journal that a session on the same target left, and
// returns its steps. Those that a living session has are left alone, those
// without a step are removed.
func (j *Journal) Adopt() ([]Step, error) {
	entries, err := os.ReadDir(j.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name(), journalsOf(j.target)) || !strings.HasSuffix(e.Name(), journalSuffix) {
			continue
		}
		path := filepath.Join(j.dir, e.Name())
		f, err := openAlone(path, false)
		if errors.Is(err, errJournalInUse) || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		j.file = f
		steps, err := j.load()
		if err == nil && len(steps) > 0 {
			return steps, nil
		}
		info, _ := e.Info()
		old := info != nil && j.now()-info.ModTime().UnixMilli() > justMade
		if err := errors.Join(err, j.Close(err == nil && old)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil, nil
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
		if head[0] == recordStep {
			_, title, err := readRecord(io.NewSectionReader(j.file, at, next-at))
			if err != nil {
				break
			}
			steps = append(steps, Step{Title: string(title), from: at})
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

// keeps reports whether anything was added to a step.
func (j *Journal) keeps(s Step) bool {
	return s.to > s.from+recordHead+int64(len(s.Title))+recordSum
}
