package change

import (
	"context"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Selection is the keys that an action applies to.
type Selection struct {
	Names   []string
	Folders []string // prefixes, each standing for all keys that begin with it
}

// Select returns the selection of names and folders. It drops the names and folders that
// are inside another folder.
func Select(names, folders []string) Selection {
	names, folders = slices.Clone(names), slices.Clone(folders)
	slices.Sort(names)
	slices.Sort(folders)
	var outer []string // the folders that are not inside another one
	for _, f := range folders {
		if !inFolder(f, outer) {
			outer = append(outer, f)
		}
	}
	if len(outer) == 0 {
		return Selection{Names: names}
	}
	return Selection{slices.DeleteFunc(names, func(name string) bool { return inFolder(name, outer) }), outer}
}

// inFolder reports whether name is in one of folders, which are sorted and do not contain
// each other.
func inFolder(name string, folders []string) bool {
	i, found := slices.BinarySearch(folders, name)
	return found || i > 0 && strings.HasPrefix(name, folders[i-1])
}

// Empty reports whether nothing is selected.
func (s Selection) Empty() bool { return len(s.Names)+len(s.Folders) == 0 }

// String returns a short description of the selection.
func (s Selection) String() string {
	switch {
	case len(s.Folders) == 0 && len(s.Names) == 1:
		return display.Text(s.Names[0], 40)
	case len(s.Folders) == 1 && len(s.Names) == 0:
		return display.Text(s.Folders[0], 40) + "*"
	case len(s.Folders) == 0:
		return display.Counted(int64(len(s.Names)), "key", "keys")
	}
	folders := display.Counted(int64(len(s.Folders)), "folder", "folders")
	if len(s.Names) == 0 {
		return folders
	}
	return folders + " and " + display.Counted(int64(len(s.Names)), "key", "keys")
}

// namesPerPage limits the names that a walk of a server gets at once.
const namesPerPage = 1000

// walk calls fn with the names of all keys in s, in batches. fn may delete the keys.
func (c *Maker) walk(ctx context.Context, db int, s Selection, fn func(names []string) error) error {
	for part := range slices.Chunk(s.Names, c.BatchKeys()) {
		if err := fn(part); err != nil {
			return err
		}
	}
	for _, folder := range s.Folders {
		if err := c.walkFolder(ctx, db, folder, fn); err != nil {
			return err
		}
	}
	return nil
}

func (c *Maker) walkFolder(ctx context.Context, db int, folder string, fn func([]string) error) error {
	if c.Index != nil {
		return c.walkIndex(ctx, catalog.Query{DB: db, Prefix: folder}, fn)
	}
	pattern := client.GlobEscape(folder) + "*"
	brought := client.NewSeenNames()
	for cursor, page := "0", 0; ; page++ {
		v, err := c.One(ctx, db, client.Command("SCAN", cursor, "COUNT", client.Decimal(namesPerPage), "MATCH", pattern))
		if err != nil {
			return err
		}
		next, elems := client.CursorReply(v)
		var names []string
		for _, e := range elems {
			names = append(names, client.Text(e))
		}
		names = client.Unseen(brought, page, names, func(name string) string { return name })
		if err := fn(names); err != nil || next == "" {
			return err
		}
		cursor = next
	}
}

// walkIndex calls fn with the names of the keys that match q, a page at a time.
func (c *Maker) walkIndex(ctx context.Context, q catalog.Query, fn func([]string) error) error {
	var from catalog.Mark
	for {
		p, err := c.Index.Page(ctx, q, from, false, FileKeysAtOnce)
		if err != nil {
			return err
		}
		names := make([]string, len(p.Entries))
		for i, e := range p.Entries {
			names[i] = e.Name
		}
		if err := fn(names); err != nil || p.End {
			return err
		}
		from = p.Next
	}
}
