package local

import (
	"errors"
	"io/fs"
)

// fileIdentity identifies the file that was at a path.
type fileIdentity struct {
	path string
	id   fileID
}

// identify returns the identity of the file at path, or fs.ErrNotExist for a missing file.
func identify(path string) (f fileIdentity, err error) {
	f.path = path
	f.id, err = statID(path)
	return f, err
}

// fate compares a path with an earlier identity.
type fate int

const (
	fileSame fate = iota
	fileMissing
	fileReplaced
)

// fate compares the file at the path with the identified file. A file that cannot be read counts as replaced.
func (f *fileIdentity) fate() fate {
	now, err := statID(f.path)
	switch {
	case err == nil && now.same(f.id):
		return fileSame
	case errors.Is(err, fs.ErrNotExist):
		return fileMissing
	}
	return fileReplaced
}
