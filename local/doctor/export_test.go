package doctor

import (
	"bytes"
	"encoding/binary"
	"io"
)

// reads records the pages that are read.
type reads struct {
	io.ReaderAt
	size  int64
	pages []uint32
}

func (r *reads) ReadAt(b []byte, at int64) (int, error) {
	r.pages = append(r.pages, uint32(at/r.size)+1)
	return r.ReaderAt.ReadAt(b, at)
}

// PagesOfKeys returns the pages of each key's rows in an undamaged file, and the name of each key, by key id.
func PagesOfKeys(file []byte, query Query) (pagesOf map[int64][]uint32, names map[int64]string, err error) {
	s := &Salvage{File: bytes.NewReader(file), FileSize: int64(len(file)), Exam: Exam{Query: query}}
	s.pages = openPages(s.File, s.FileSize, nil)
	if err := s.describe(); err != nil {
		return nil, nil, err
	}
	if err := s.survey(); err != nil {
		return nil, nil, err
	}
	pagesOf, names = map[int64][]uint32{}, map[int64]string{}
	for number, owner := range s.owner {
		table := owner
		if _, owned := s.types[table]; !owned && table != "keys" {
			continue
		}
		b := s.pages.page(number)
		kind, head := b[0], 8
		if kind == innerTable {
			continue
		}
		if kind == innerIndex {
			head = 12
		}
		for i := range int(binary.BigEndian.Uint16(b[3:])) {
			seen := &reads{ReaderAt: s.File, size: int64(s.pages.size)}
			s.pages.file = seen
			c, ok := s.pages.cell(kind, b[binary.BigEndian.Uint16(b[head+2*i:]):s.pages.usable])
			if !ok {
				continue
			}
			id := c.row
			if kind != leafTable {
				id = c.values[0].Int()
			}
			if table == "keys" {
				names[id] = string(c.values[2].Bytes())
			}
			pagesOf[id] = append(append(pagesOf[id], number), seen.pages...)
		}
	}
	return pagesOf, names, nil
}
