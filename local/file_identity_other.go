//go:build !unix

package local

import "os"

type fileID struct{ info os.FileInfo }

func (a fileID) same(b fileID) bool { return os.SameFile(a.info, b.info) }

func statID(path string) (fileID, error) {
	info, err := os.Stat(path)
	return fileID{info}, err
}
