package catalog

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// A level of the tree is read by skipping from the first name with the prefix to the first name
// afterFolder its folder, and so on. ?2 and ?3 bound the names, ?4 is the prefix length in bytes, ?5
// the delimiter, ?6 the first name after all names beginning with the delimiter, ?7 the number
// of steps. (substr of an empty blob is NULL.)
const (
	levelHead = `WITH RECURSIVE step(name, n) AS (SELECT (`
	levelNext = `), 1 UNION ALL SELECT (`
	levelTail = `), n + 1 FROM step WHERE name IS NOT NULL AND n < ?7) SELECT name FROM step WHERE name IS NOT NULL`

	folderAt    = `ifnull(instr(substr(name, ?4 + 1), ?5), 0)`
	afterFolder = `CASE ` + folderAt + ` WHEN 0 THEN CAST(name || x'00' AS BLOB)
		ELSE CAST(substr(name, 1, ?4 + ` + folderAt + ` - 1) || ?6 AS BLOB) END`
	beforeFolder = `CASE ` + folderAt + ` WHEN 0 THEN name
		ELSE substr(name, 1, ?4 + ` + folderAt + ` - 1 + length(?5)) END`

	firstName  = `SELECT key FROM keys WHERE db = ?1 AND key >= `
	lastName   = `SELECT key FROM keys WHERE db = ?1 AND key >= ?2`
	ascending  = ` ORDER BY key LIMIT 1`
	descending = ` ORDER BY key DESC LIMIT 1`
)

var sqlLevel = sync.OnceValue(func() map[direction]string {
	return map[direction]string{
		{false, false}: levelHead + firstName + `?2 AND ?3 IS NULL` + ascending + levelNext + firstName + afterFolder + ascending + levelTail,
		{false, true}:  levelHead + firstName + `?2 AND key < ?3` + ascending + levelNext + firstName + afterFolder + ` AND key < ?3` + ascending + levelTail,
		{true, false}:  levelHead + lastName + ` AND ?3 IS NULL` + descending + levelNext + lastName + ` AND key < ` + beforeFolder + descending + levelTail,
		{true, true}:   levelHead + lastName + ` AND key < ?3` + descending + levelNext + lastName + ` AND key < ` + beforeFolder + descending + levelTail,
	}
})

// Level returns up to n entries by name after from, or before from if back is set. The entries
// are the keys that begin with prefix. Keys with the delimiter after the prefix are grouped
// into one folder per name up to the delimiter. The delimiter is text.
//
// Level omits folders that hold only expired keys. It checks at most maxExpiredKeys keys of a
// folder, so a larger folder may still hold only expired keys. Count counts the live keys.
func (c *Catalog) Level(ctx context.Context, db int, prefix, delimiter string, from Mark, back bool, n int) (Page, error) {
	low, high := []byte(prefix), PrefixEnd(prefix)
	switch {
	case from.Set && back:
		high = []byte(from.Name)
	case from.Set && from.Folder:
		if low = PrefixEnd(from.Name); low == nil {
			return Page{End: true}, nil
		}
	case from.Set:
		low = append([]byte(from.Name), 0)
	}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlLevel()[direction{back, high != nil}], Args: []store.Value{
		store.Int(int64(db)), store.Bytes(low), boundary(high), store.Int(int64(len(prefix))),
		blob(delimiter), boundary(PrefixEnd(delimiter)), store.Int(int64(n)),
	}})
	if err != nil {
		return Page{}, err
	}
	p := Page{End: len(rows[0]) < n, Examined: len(rows[0])}
	var names []string
	for _, row := range rows[0] {
		name := string(row[0].Bytes())
		if folder := FolderOf(name, prefix, delimiter); folder != "" {
			p.Entries = append(p.Entries, Entry{Name: folder, Folder: true, Mark: Mark{Set: true, Name: folder, Folder: true}})
			continue
		}
		p.Entries = append(p.Entries, Entry{Name: name, Mark: Mark{Set: true, Name: name}})
		names = append(names, name)
	}
	if len(p.Entries) > 0 {
		p.Next = p.Entries[len(p.Entries)-1].Mark
	}
	if err := c.readFacts(ctx, db, &p, names); err != nil {
		return p, err
	}
	if err := c.dropExpiredFolders(ctx, db, &p); err != nil {
		return p, err
	}
	if back {
		slices.Reverse(p.Entries)
	}
	return p, nil
}

// readFacts reads the facts of a level's keys and removes missing keys.
func (c *Catalog) readFacts(ctx context.Context, db int, p *Page, names []string) error {
	found, err := c.Facts(ctx, db, names)
	if err != nil {
		return err
	}
	kept := p.Entries[:0]
	for _, e := range p.Entries {
		if !e.Folder {
			e, found = found[0], found[1:]
			if e.Facts.Type == "" {
				continue
			}
		}
		kept = append(kept, e)
	}
	p.Entries = kept
	return nil
}

// maxExpiredKeys limits the keys of a folder that are read to find a live one.
const maxExpiredKeys = 1000

var (
	sqlAnyExpired = `SELECT EXISTS(SELECT 1 FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` <= ?1)`
	sqlHasLiveKey = sync.OnceValue(func() map[bool]string {
		return map[bool]string{false: hasLiveKey(`AND ?3 IS NULL`), true: hasLiveKey(`AND key < ?3`)}
	})
)

// hasLiveKey returns the query that reports whether one of the first ?5 keys of a range is live at
// ?4, or whether the range has at least ?5 keys.
func hasLiveKey(bound string) string {
	keys := ` FROM keys WHERE db = ?1 AND key >= ?2 ` + bound + ` ORDER BY key LIMIT ?5`
	return `SELECT EXISTS(SELECT 1 FROM (SELECT dies_at` + keys + `) WHERE dies_at IS NULL OR dies_at > ?4)
		OR (SELECT count(*) FROM (SELECT 1` + keys + `)) = ?5`
}

// dropExpiredFolders removes the folders of a level that hold only expired keys.
func (c *Catalog) dropExpiredFolders(ctx context.Context, db int, p *Page) error {
	now := store.Int(c.now())
	rows, err := c.read(ctx, store.Stmt{SQL: sqlAnyExpired, Args: []store.Value{now}})
	if err != nil || rows[0][0][0].Int() == 0 {
		return err
	}
	var stmts []store.Stmt
	for _, e := range p.Entries {
		if e.Folder {
			high := PrefixEnd(e.Name)
			stmts = append(stmts, store.Stmt{SQL: sqlHasLiveKey()[high != nil], Args: []store.Value{
				store.Int(int64(db)), blob(e.Name), boundary(high), now, store.Int(maxExpiredKeys)}})
		}
	}
	if len(stmts) == 0 {
		return nil
	}
	found, err := c.read(ctx, stmts...)
	if err != nil {
		return err
	}
	p.Entries = slices.DeleteFunc(p.Entries, func(e Entry) bool {
		if !e.Folder {
			return false
		}
		lives := found[0][0][0].Int() != 0
		found = found[1:]
		return !lives
	})
	return nil
}

// FolderOf returns the folder of name at the level of prefix: name up to the first delimiter
// after the prefix. It returns "" if no delimiter follows.
func FolderOf(name, prefix, delimiter string) string {
	i := strings.Index(name[len(prefix):], delimiter)
	if i < 0 || delimiter == "" {
		return ""
	}
	return name[:len(prefix)+i+len(delimiter)]
}
