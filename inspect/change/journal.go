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

	"github.com/meowdis/meowdis/internal/alone"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/xxh3"
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
	suffix string // of the file's name
	now    func() int64
	file   *os.File // nil until the first change
	end    int64
	keys   int64 // that the step that was begun last has changed so far
}

// NewJournal keeps what undoes the changes of a target in a directory. The file is made
// with the first change.
func NewJournal(dir, target string, now func() int64) *Journal {
	return &Journal{dir: dir, target: target, suffix: journalSuffix, now: now}
}

// NewRedoJournal keeps what makes undone changes again, for as long as the session lasts.
func NewRedoJournal(dir, target string, now func() int64) *Journal {
	return &Journal{dir: dir, target: target, suffix: redoSuffix, now: now}
}

// Step is a change that can be undone: where its records are in the journal, and of how
// many bytes of its commands an undo that broke off has run.
type Step struct {
	Title string
	When  int64 // it was begun, Unix ms
	Keys  int64 // how many it changed; 0 where that is not known
	Asked bool  // the person was asked before it was made

	from, first, to int64 // first: after the record that begins it
	done            int64
}

const (
	journalMagic  = "meowdis undo 2\n"
	journalSuffix = ".undo2" // ends with the version of the format
	redoSuffix    = ".redo2"

	recordTarget   = 'T' // what the target is called
	recordStep     = 'S' // begins a step: when, and its title
	recordCommands = 'C' // a database and commands there, as Redis's protocol has them
	recordRedo     = 'R' // likewise: what makes the change again, where that needs no images
	recordChecks   = 'L' // what the change left of what the commands before undo: see checks.go
	recordEnd      = 'E' // ends a step: how many keys, and whether the person was asked

	recordHead = 1 + 4
	recordSum  = 8
)

var (
	errDamagedJournal = errors.New("the undo journal is damaged: what it keeps of this change cannot be used")
)

// NotKept is why a change was not made: it could not be written to the journal.
type NotKept struct{ Err error }

func (u NotKept) Error() string {
	return fmt.Sprintf("nothing was changed, since its undo cannot be kept: %v", u.Err)
}

// begin starts a step. The step before it stays as it is.
func (j *Journal) begin(title string) (Step, error) {
	return j.beginStep(Step{Title: title, When: j.now()})
}

// beginStep is begin with what is known of the step.
func (j *Journal) beginStep(s Step) (Step, error) {
	if err := j.create(); err != nil {
		return Step{}, NotKept{err}
	}
	s.from, s.done, j.keys = j.end, 0, 0
	err := j.append(recordStep, append(binary.AppendUvarint(nil, uint64(s.When)), s.Title...))
	s.first, s.to = j.end, j.end
	return s, err
}

// conclude ends the step that was begun last, with what is known of it by now. A step
// without that is as good.
func (j *Journal) conclude(s *Step) {
	asked := byte(0)
	if s.Asked {
		asked = 1
	}
	if j.append(recordEnd, append(binary.AppendUvarint(nil, uint64(s.Keys)), asked)) == nil {
		s.to = j.end
	}
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
	if errors.Is(err, alone.ErrInUse) {
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
	name := fmt.Sprintf("%s%013d-%s%s", journalsOf(j.target), j.now(), rand.Text()[:8], j.suffix)
	return alone.Open(filepath.Join(j.dir, name), true)
}

// journalsOf is what the names of the journals of a target begin with; the time
// follows, so that the names are in the order of the sessions.
func journalsOf(target string) string { return fmt.Sprintf("%016x-", xxh3.HashString(target)) }

// add appends commands that undo a part of the step that was begun last.
func (j *Journal) add(db int, calls [][][]byte) error { return j.addCalls(recordCommands, db, calls) }

// addRedo appends commands that make the step again after its undo.
func (j *Journal) addRedo(db int, calls [][][]byte) error { return j.addCalls(recordRedo, db, calls) }

func (j *Journal) addCalls(kind byte, db int, calls [][][]byte) error {
	payload := binary.AppendUvarint(nil, uint64(db))
	for _, call := range calls {
		payload = resp.AppendCommand(payload, call...)
	}
	return j.append(kind, payload)
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
func (j *Journal) cut(s Step) error { return j.cutAt(s.from) }

func (j *Journal) cutAt(end int64) error {
	j.end = end
	return j.file.Truncate(end)
}

// replay calls fn with what undoes a step, in the order in which it was added, and
// with how many bytes of the step were there before it.
func (j *Journal) replay(s Step, fn func(done int64, db int, calls [][][]byte) error) error {
	return j.replayKind(recordCommands, s, fn)
}

// replayKind is replay for records of a kind that hold commands.
func (j *Journal) replayKind(wanted byte, s Step, fn func(done int64, db int, calls [][][]byte) error) error {
	var done int64
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, s.from, s.to-s.from), 64<<10)
	for {
		kind, payload, err := readRecord(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case kind != wanted:
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
