package replicate

import (
	"bytes"
	"errors"
	"os"
)

// maxSpoolMemory limits how much of a file is buffered in memory, in bytes.
const maxSpoolMemory = 4 << 20

// spool buffers a file to be uploaded: in memory, or on the disk if it is large.
type spool struct {
	dir    string
	memory bytes.Buffer
	file   *os.File
	size   int64
}

func (s *spool) Write(b []byte) (n int, err error) {
	if s.file == nil && s.memory.Len()+len(b) > maxSpoolMemory {
		if s.file, err = os.CreateTemp(s.dir, ".meowdis-replicate-*"); err != nil {
			return 0, err
		}
		os.Remove(s.file.Name()) // where an open file can be removed, it does not outlive the process
		if _, err = s.file.Write(s.memory.Bytes()); err != nil {
			return 0, err
		}
		s.memory = bytes.Buffer{}
	}
	if s.file != nil {
		n, err = s.file.Write(b)
	} else {
		n, err = s.memory.Write(b)
	}
	s.size += int64(n)
	return n, err
}

// body returns the written bytes.
func (s *spool) body() (body, error) {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes()), nil
	}
	_, err := s.file.Seek(0, 0)
	return s.file, err
}

func (s *spool) remove() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if left := os.Remove(s.file.Name()); !errors.Is(left, os.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return err
}
