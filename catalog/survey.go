package catalog

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// Amount is how much there is of a type, or in a folder.
type Amount struct {
	Name     string
	Keys     int64
	Elements int64 // of a type that has some
	Bytes    int64 // of names and values
}

// Survey adds up the keys of a database by type and by folder, slice by slice. Many
// goroutines may use it.
type Survey struct {
	*Catalog
	db                int
	prefix, delimiter string

	looking sync.Mutex // held by Look
	mu      sync.Mutex
	last    int64 // the id up to which was looked
	looked  int64
	done    bool
	kinds   map[string]*Amount
	folders map[string]*Amount
}

// kindNames are the types that a file can hold.
var kindNames = []string{"string", "hash", "list", "set", "zset", "stream", "array", "ReJSON-RL"}

const (
	surveyedAtOnce = 20_000 // keys that a slice looks at

	// mostFolders bounds the memory that names without system would take: a folder
	// that comes behind so many others is left out.
	mostFolders = 20_000
)

// Survey begins to add up a database: its types, and the folders at the level of
// prefix. Look does the work.
func (c *Catalog) Survey(db int, prefix, delimiter string) *Survey {
	return &Survey{Catalog: c, db: db, prefix: prefix, delimiter: delimiter, last: -1 << 63, kinds: map[string]*Amount{}, folders: map[string]*Amount{}}
}

// sqlSums adds up the keys behind ?2, up to ?3. The folder is the name up to the
// delimiter ?6 behind the prefix ?5.
const sqlSums = `SELECT type, CASE WHEN ?5 = x'' OR substr(key, 1, length(?5)) = ?5 THEN
		substr(key, 1, nullif(instr(substr(key, length(?5) + 1), ?6), 0) + length(?5) + length(?6) - 1) END AS folder,
		count(*), sum(count), sum(` + byteCount + `)
	FROM keys NOT INDEXED WHERE id > ?2 AND id <= ?3 AND db = ?1 AND (dies_at IS NULL OR dies_at > ?4) GROUP BY type, folder`

// Look takes some more keys in.
func (s *Survey) Look(ctx context.Context) error {
	s.looking.Lock()
	defer s.looking.Unlock()
	last, keys, err := s.stride(ctx, s.last, surveyedAtOnce)
	if err != nil {
		return err
	}
	var sums []store.Row
	if keys > 0 {
		rows, err := s.read(ctx, store.Stmt{SQL: sqlSums, Args: []store.Value{
			store.Int(int64(s.db)), store.Int(s.last), store.Int(last), store.Int(s.now()), blob(s.prefix), blob(s.delimiter)}})
		if err != nil {
			return err
		}
		s.last, sums = last, rows[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked += keys
	s.done = keys < surveyedAtOnce
	for _, row := range sums {
		a := Amount{string(row[0].Bytes()), row[2].Int(), row[3].Int(), row[4].Int()}
		a.addTo(s.kinds)
		if a.Name = string(row[1].Bytes()); !row[1].IsNull() && (len(s.folders) < mostFolders || s.folders[a.Name] != nil) {
			a.addTo(s.folders)
		}
	}
	return nil
}

func (a Amount) addTo(sums map[string]*Amount) {
	sum := sums[a.Name]
	if sum == nil {
		sum = &Amount{Name: a.Name}
		sums[a.Name] = sum
	}
	sum.Keys, sum.Elements, sum.Bytes = sum.Keys+a.Keys, sum.Elements+a.Elements, sum.Bytes+a.Bytes
}

// Looked is how many keys were looked at, of all databases, and whether those are
// all.
func (s *Survey) Looked() (keys int64, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked, s.done
}

// Kinds are the types so far, the most frequent first.
func (s *Survey) Kinds() []Amount { return s.sorted(s.kinds) }

// Folders are the folders so far, those with the most keys first.
func (s *Survey) Folders() []Amount { return s.sorted(s.folders) }

func (s *Survey) sorted(sums map[string]*Amount) []Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Amount, 0, len(sums))
	for _, a := range sums {
		all = append(all, *a)
	}
	slices.SortFunc(all, func(a, b Amount) int { return cmp.Or(cmp.Compare(b.Keys, a.Keys), cmp.Compare(a.Name, b.Name)) })
	return all
}
