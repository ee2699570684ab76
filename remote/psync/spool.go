package psync

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// spool passes bytes from one goroutine to another. What does not fit in its memory waits in files, so the writer never
// waits for the reader.
type spool struct {
	dir     string
	memory  int   // limit
	segment int64 // bytes of a file

	mu      sync.Mutex
	filled  *sync.Cond
	buffer  []byte     // unread bytes, older than the bytes in files
	files   []*segment // each of them has unread bytes
	waiting int64      // unread bytes in files
	err     error      // after the last byte
}

// segment holds one file of a spool.
type segment struct {
	file        *os.File
	read, wrote int64
}

const segmentBytes = 64 << 20

func newSpool(dir string, memory int) *spool {
	s := &spool{dir: dir, memory: memory, segment: segmentBytes}
	s.filled = sync.NewCond(&s.mu)
	return s
}

// size returns the number of unread bytes.
func (s *spool) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.buffer)) + s.waiting
}

// write appends b.
func (s *spool) write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.filled.Signal()
	if len(s.files) == 0 && len(s.buffer)+len(b) <= s.memory {
		s.buffer = append(s.buffer, b...)
		return nil
	}
	if n := len(s.files); n == 0 || s.files[n-1].wrote >= s.segment {
		file, err := os.CreateTemp(s.dir, "meowdis-follow-*")
		if err != nil {
			return fmt.Errorf("storing the stream of the source: %w", err)
		}
		s.files = append(s.files, &segment{file: file})
	}
	last := s.files[len(s.files)-1]
	n, err := last.file.WriteAt(b, last.wrote)
	last.wrote += int64(n)
	s.waiting += int64(n)
	if err != nil {
		return fmt.Errorf("storing the stream of the source: %w", err)
	}
	return nil
}

// close makes Read return err after the last byte. Only the first call has an effect.
func (s *spool) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.filled.Signal()
}

// Read waits for bytes.
func (s *spool) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buffer) == 0 && len(s.files) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.filled.Wait()
	}
	if len(s.buffer) > 0 {
		n := copy(b, s.buffer)
		if s.buffer = s.buffer[n:]; len(s.buffer) == 0 {
			s.buffer = nil
		}
		return n, nil
	}
	first := s.files[0]
	n, err := first.file.ReadAt(b[:min(int64(len(b)), first.wrote-first.read)], first.read)
	first.read += int64(n)
	s.waiting -= int64(n)
	if err != nil {
		return n, fmt.Errorf("reading the stored stream: %w", err)
	}
	if first.read == first.wrote {
		s.files = s.files[1:]
		err = first.remove()
	}
	return n, err
}

func (g *segment) remove() error { return errors.Join(g.file.Close(), os.Remove(g.file.Name())) }

// remove deletes the files.
func (s *spool) remove() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.files {
		err = errors.Join(err, g.remove())
	}
	s.files, s.buffer, s.waiting = nil, nil, 0
	return err
}
