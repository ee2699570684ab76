package catalog

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Amount holds the totals of a type or a folder.
type Amount struct {
	Name     string
	Keys     int64
	Elements int64 // of types with elements
	Bytes    int64 // of names and values
}

// Summing totals the keys of a database by type and by folder, in slices. It is safe for
// concurrent use.
type Summing struct {
	*Catalog
	db                int
	prefix, delimiter string

	readLock sync.Mutex // held by ReadSlice
	mu       sync.Mutex
	last     int64 // id of the last key read
	examined int64
	done     bool
	types    map[string]*Amount
	folders  map[string]*Amount
}

const (
	sumSlice = 20_000 // keys per slice

	// maxFolders bounds the memory used for unstructured names: further folders are left out.
	maxFolders = 20_000
)

// Sum starts totalling a database by type and by folder at the level of prefix. ReadSlice does the
// work.
func (c *Catalog) Sum(db int, prefix, delimiter string) *Summing {
	return &Summing{Catalog: c, db: db, prefix: prefix, delimiter: delimiter, last: -1 << 63, types: map[string]*Amount{}, folders: map[string]*Amount{}}
}

// sqlSummed selects ?3 keys after id ?2 in file order, with the type number for keys of
// database ?1 that are live at ?4.
var sqlSummed = sync.OnceValue(func() string {
	elements := keytype.Case(func(t *keytype.Type) bool { return t.Parts != nil }, func(*keytype.Type) string { return `count` })
	return `SELECT id, CASE WHEN db = ?1 AND (dies_at IS NULL OR dies_at > ?4) THEN ` + keytype.Case(nil, typeNumber) + ` END, ifnull(` + elements + `, -1), key, ` + keyBytes() + `, dies_at
	FROM keys NOT INDEXED WHERE id > ?2 ORDER BY id LIMIT ?3`
})

// measured holds a live key of a slice. The Size of its facts is -1 for a type without elements.
type measured struct {
	name  []byte
	facts Facts
}

// measure reads the keys of db in the slice of sumSlice keys after id last. It also returns the last id and
// the number of keys of the slice.
func (c *Catalog) measure(ctx context.Context, db int, last int64) (found []measured, end, all int64, err error) {
	rows, err := c.read(ctx, store.Stmt{SQL: sqlSummed(), Args: []store.Value{
		store.Int(int64(db)), store.Int(last), store.Int(sumSlice), store.Int(c.now())}})
	if err != nil {
		return nil, last, 0, err
	}
	met := rows[0]
	all, end = int64(len(met)), last
	if all > 0 {
		if end = met[all-1][0].Int(); end <= last {
			return nil, last, 0, store.ErrOutOfOrder
		}
	}
	met = slices.DeleteFunc(met, func(row store.Row) bool { return row[1].IsNull() })
	keys := make([]sizedKey, len(met))
	for i, row := range met {
		keys[i] = sizedKey{row[0].Int(), row[1].Int()}
	}
	weights, err := c.valueBytes(ctx, keys)
	if err != nil {
		return nil, last, 0, err
	}
	for i, row := range met {
		found = append(found, measured{row[3].Bytes(), Facts{Type: keytype.Types[keys[i].typeNumber].Name,
			Size: row[2].Int(), Bytes: row[4].Int() + weights[i], Expires: row[5].Int()}})
	}
	return found, end, all, nil
}

// ReadSlice adds another slice of keys.
func (s *Summing) ReadSlice(ctx context.Context) error {
	s.readLock.Lock()
	defer s.readLock.Unlock()
	found, last, all, err := s.measure(ctx, s.db, s.last)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.examined, s.done = last, s.examined+all, all < sumSlice
	for _, k := range found {
		s.add(k.facts.Type, k.name, Amount{Keys: 1, Elements: max(k.facts.Size, 0), Bytes: k.facts.Bytes})
	}
	return nil
}

// add adds a key. Its folder is its name up to the delimiter after the prefix.
func (s *Summing) add(kind string, name []byte, a Amount) {
	a.addTo(s.types, []byte(kind))
	rest, in := bytes.CutPrefix(name, []byte(s.prefix))
	end := bytes.Index(rest, []byte(s.delimiter))
	if !in || end < 0 {
		return
	}
	folder := name[:len(s.prefix)+end+len(s.delimiter)]
	if len(s.folders) < maxFolders || s.folders[string(folder)] != nil {
		a.addTo(s.folders, folder)
	}
}

func (a Amount) addTo(sums map[string]*Amount, name []byte) {
	sum := sums[string(name)]
	if sum == nil {
		sum = &Amount{Name: string(name)}
		sums[sum.Name] = sum
	}
	sum.Keys, sum.Elements, sum.Bytes = sum.Keys+a.Keys, sum.Elements+a.Elements, sum.Bytes+a.Bytes
}

// Progress returns the number of keys read, in all databases, and whether all keys are read.
func (s *Summing) Progress() (keys int64, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.examined, s.done
}

// Types returns the types so far, ordered by number of keys, largest first.
func (s *Summing) Types() []Amount { return s.sorted(s.types) }

// Folders returns the folders so far, ordered by number of keys, largest first.
func (s *Summing) Folders() []Amount { return s.sorted(s.folders) }

func (s *Summing) sorted(sums map[string]*Amount) []Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Amount, 0, len(sums))
	for _, a := range sums {
		all = append(all, *a)
	}
	smallsort.Sort(all, func(a, b Amount) int { return cmp.Or(cmp.Compare(b.Keys, a.Keys), cmp.Compare(a.Name, b.Name)) })
	return all
}
