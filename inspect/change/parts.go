package change

import (
	"context"

	"github.com/meowdis/meowdis/inspect/client"
)

// Part is a folder or a key of a selection.
type Part struct {
	Name   string
	Folder bool
	Keys   int64
	Bytes  int64 // of names and values; -1 if unknown
}

// Label returns the name as displayed: a folder ends with "*".
func (p Part) Label() string {
	if p.Folder {
		return p.Name + "*"
	}
	return p.Name
}

// Parts describes up to n folders and keys of a selection. Without an index, the bytes of folders are
// unknown.
func (c *Maker) Parts(ctx context.Context, s Scope, n int) (parts []Part, err error) {
	for _, folder := range s.Folders[:min(len(s.Folders), n)] {
		p := Part{Name: folder, Folder: true, Bytes: -1}
		if p.Keys, err = c.countKeys(ctx, Scope{s.DB, Selection{Folders: []string{folder}}}); err == nil && c.Index != nil {
			p.Bytes, err = c.Index.Bytes(ctx, s.DB, folder)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	names := s.Names[:min(len(s.Names), n-len(parts))]
	if len(names) == 0 {
		return parts, nil
	}
	if c.Index != nil {
		bytes, err := c.Index.KeyBytes(ctx, s.DB, names)
		if err != nil {
			return nil, err
		}
		for i, name := range names {
			parts = append(parts, Part{Name: name, Keys: 1, Bytes: bytes[i]})
		}
		return parts, nil
	}
	calls := make([][][]byte, len(names))
	for i, name := range names {
		calls[i] = client.Command("MEMORY", "USAGE", name)
	}
	values, err := c.Do(ctx, s.DB, calls...)
	for i, v := range values {
		p := Part{Name: names[i], Keys: 1, Bytes: -1}
		if !v.IsError() && !v.IsNull() {
			p.Bytes = client.Number(v)
		}
		parts = append(parts, p)
	}
	return parts, err
}
