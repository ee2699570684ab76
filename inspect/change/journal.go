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

	"github.com/meowdis/meowdis/internal/lockfile"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/xxh3"
)

// Journal is a file of the commands that undo a session's changes. Records are appended
// and synced before a change is made, so that the next session can undo the changes of a
// session that was killed. An undo truncates its records.
//
// The file is a magic line and records: a kind, the length of the payload, the payload,
// and the XXH3 hash of all three. The writing process holds a lock on the file. A Journal
// must be used by one goroutine at a time.
type Journal struct {
	dir    string
	target string
	suffix string // of the file name
	now    func() int64
	file   *os.File // nil until the first change
	end    int64
	keys   int64 // keys changed so far by the current step
}

// NewJournal returns the undo journal of a target, in directory dir. The file is created
// with the first change.
func NewJournal(dir, target string, now func() int64) *Journal {
	return &Journal{dir: dir, target: target, suffix: journalSuffix, now: now}
}

// NewRedoJournal returns the journal that redoes undone changes. It lasts for the session.
func NewRedoJournal(dir, target string, now func() int64) *Journal {
	return &Journal{dir: dir, target: target, suffix: redoSuffix, now: now}
}

// Step is a change that can be undone: the position of its records in the journal, and the
// number of bytes of its commands that an interrupted undo executed.
type Step struct {
	Title     string
	When      int64 // start of the change, Unix ms
	Keys      int64 // number of changed keys; 0 if unknown
	Confirmed bool  // the person confirmed the change

	from, first, to int64 // first: after the record that begins the step
	done            int64
}

const (
	journalMagic  = "meowdis undo 2\n"
	journalSuffix = ".undo2" // ends with the version of the format
	redoSuffix    = ".redo2"

	recordTarget   = 'T' // the name of the target
	recordStep     = 'S' // begins a step: time and title
	recordCommands = 'C' // a database and commands there, in the Redis protocol
	recordRules    = 'K' // a database and commands that create compaction rules, after all commands of the step
	recordRedo     = 'R' // the commands that redo the change, if it needs no saved keys
	recordChecks   = 'L' // the new state of the keys that the preceding commands restore: see checks.go
	recordEnd      = 'E' // ends a step: number of keys, and whether the person confirmed it

	recordHead = 1 + 4
	recordSum  = 8
)

var (
	errDamagedJournal = errors.New("the undo journal is damaged: this change cannot be undone")
)

// JournalError is an error: the change was not made because the journal could not be written.
type JournalError struct{ Err error }

func (u JournalError) Error() string {
	return fmt.Sprintf("nothing was changed, because its undo cannot be saved: %v", u.Err)
}

// begin starts a step. The previous step is unchanged.
func (j *Journal) begin(title string) (Step, error) {
	return j.beginStep(Step{Title: title, When: j.now()})
}

// beginStep is begin with the fields of s.
func (j *Journal) beginStep(s Step) (Step, error) {
	if err := j.create(); err != nil {
		return Step{}, JournalError{err}
	}
	s.from, s.done, j.keys = j.end, 0, 0
	err := j.append(recordStep, append(binary.AppendUvarint(nil, uint64(s.When)), s.Title...))
	s.first, s.to = j.end, j.end
	return s, err
}

// conclude records the key count and the confirmation of the last step. A step without
// this record is valid, too.
func (j *Journal) conclude(s *Step) {
	asked := byte(0)
	if s.Confirmed {
		asked = 1
	}
	if j.append(recordEnd, append(binary.AppendUvarint(nil, uint64(s.Keys)), asked)) == nil {
		s.to = j.end
	}
}

// create creates the file if it does not exist yet.
func (j *Journal) create() error {
	if j.file != nil {
		return nil
	}
	if j.dir == "" {
		return errors.New("it has no directory: set HOME")
	}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	f, err := j.make()
	if errors.Is(err, lockfile.ErrInUse) {
		f, err = j.make() // another process opened it before it was locked
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
	return lockfile.Open(filepath.Join(j.dir, name), true)
}

// journalsOf returns the prefix of a target's journal names. The time follows it, so that
// names sort in the order of the sessions.
func journalsOf(target string) string { return fmt.Sprintf("%016x-", xxh3.HashString(target)) }

// add appends commands that undo part of the current step.
func (j *Journal) add(db int, calls [][][]byte) error { return j.addCalls(recordCommands, db, calls) }

// addRedo appends commands that redo the step after its undo.
func (j *Journal) addRedo(db int, calls [][][]byte) error { return j.addCalls(recordRedo, db, calls) }

func (j *Journal) addCalls(kind byte, db int, calls [][][]byte) error {
	payload := binary.AppendUvarint(nil, uint64(db))
	for _, call := range calls {
		payload = resp.AppendCommand(payload, call...)
	}
	return j.append(kind, payload)
}

// append writes a record. It truncates a partially written record.
func (j *Journal) append(kind byte, payload []byte) error {
	record := make([]byte, recordHead, recordHead+len(payload)+recordSum)
	record[0] = kind
	binary.LittleEndian.PutUint32(record[1:], uint32(len(payload)))
	record = append(record, payload...)
	record = binary.LittleEndian.AppendUint64(record, xxh3.Hash(record))
	if _, err := j.file.WriteAt(record, j.end); err != nil {
		j.file.Truncate(j.end)
		return JournalError{err}
	}
	j.end += int64(len(record))
	return nil
}

// sync flushes the journal to disk.
func (j *Journal) sync() error {
	if err := j.file.Sync(); err != nil {
		return JournalError{err}
	}
	return nil
}

// cut removes a step and everything after it.
func (j *Journal) cut(s Step) error { return j.cutAt(s.from) }

func (j *Journal) cutAt(end int64) error {
	j.end = end
	return j.file.Truncate(end)
}

// replay calls fn with the commands that undo a step, in the order they were added, and
// with the number of bytes of commands before them.
func (j *Journal) replay(s Step, fn func(done int64, db int, calls [][][]byte) error) error {
	return j.replayKind(recordCommands, s, fn)
}

// replayKind is replay for the records of one kind.
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

// readRecord reads the next record. It returns io.EOF at the end.
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

// Close closes the journal, and removes its file if remove is set.
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
