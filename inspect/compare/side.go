package compare

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// Limits of a compared key, which is held in memory.
const (
	maxBytes    = 16 << 20
	maxElements = 100_000
)

// side is one of the two compared values.
type side struct {
	label   string
	kind    string // "" for a missing key
	expires int64  // Unix ms; 0 for never
	text    []byte // for a type without elements
	fields  []field
	count   int64 // number of elements or bytes
}

// field holds an element. List elements have no name: their position identifies them.
type field struct {
	name    string
	sortKey string // what fields are sorted by
	value   string
}

// errTooLarge reports that the key is too large to compare.
type errTooLarge struct{ key string }

func (e errTooLarge) Error() string {
	return fmt.Sprintf("%s is too large to be compared here, which is for %s and %s elements: meowdis diff takes any size",
		display.Text(e.key, 40), display.Bytes(maxBytes), display.Grouped(maxElements))
}

// read reads a key of at most maxBytes.
func read(ctx context.Context, c *client.Conn, db int, key, label string) (side, error) {
	s := side{label: label}
	bytes := 0
	for p, err := range transfer.FromKeys(ctx, c.In(db), []byte(key)) {
		switch {
		case err != nil:
			return s, err
		case errors.Is(p.Err, transfer.ErrGone):
			return side{label: label}, nil
		case p.Err != nil:
			return s, fmt.Errorf("%s cannot be read: %w", display.Text(key, 40), p.Err)
		}
		s.kind, s.expires = string(p.Key.Type), p.Key.ExpiresAt
		bytes += s.add(p.Value)
		if bytes > maxBytes || len(s.fields) > maxElements || p.Key.Type == transfer.StringType && p.Key.Count > maxBytes {
			return s, errTooLarge{key}
		}
		job.CostOf(ctx).Progress(int64(bytes), maxBytes)
	}
	if s.fields != nil {
		s.count = int64(len(s.fields))
		if s.kind != string(transfer.ListType) {
			smallsort.Sort(s.fields, func(a, b field) int { return strings.Compare(a.sortKey, b.sortKey) })
		}
	}
	return s, nil
}

// add adds a part of the value, and returns its approximate size in bytes.
func (s *side) add(v transfer.Value) (bytes int) {
	put := func(name, order, value string) {
		s.fields = append(s.fields, field{name, order, value})
		bytes += len(name) + len(value)
	}
	switch v := v.(type) {
	case rdb.String:
		s.text = append(s.text, v...)
		s.count = int64(len(s.text))
		return len(v)
	case transfer.Document:
		s.text, s.count = v, 1
		return len(v)
	case *rdb.Module:
		s.text, s.count = rdb.Dump(v, nil), 1
		return v.Weight()
	case rdb.List:
		for _, e := range v {
			put("", "", string(e))
		}
	case rdb.Set:
		for _, m := range v {
			put(string(m), string(m), "")
		}
	case rdb.ZSet:
		for _, m := range v {
			put(string(m.Name), string(m.Name), strconv.FormatFloat(m.Score, 'g', -1, 64))
		}
	case rdb.Hash:
		for _, f := range v {
			put(string(f.Name), string(f.Name), string(f.Value))
		}
	case *rdb.Stream:
		for _, e := range v.Entries {
			put(fmt.Sprintf("%d-%d", e.ID.Ms, e.ID.Seq), fmt.Sprintf("%020d-%020d", e.ID.Ms, e.ID.Seq), pairs(e.Fields))
		}
	case *transfer.Array:
		for _, slot := range v.Slots {
			put(strconv.FormatUint(slot.Index, 10), fmt.Sprintf("%020d", slot.Index), string(slot.Value))
		}
	case *transfer.VectorSet:
		for _, e := range v.Elements {
			put(string(e.Name), string(e.Name), string(e.Attributes))
		}
	case *transfer.Elements:
		for _, parts := range v.List {
			put(string(parts[0]), string(parts[0]), strings.Join(texts(parts[1:]), " "))
		}
	}
	return bytes
}

// pairs returns the fields of a stream entry as text: "kind=login user=7".
func pairs(fields [][]byte) string {
	var out []string
	for i := 0; i+1 < len(fields); i += 2 {
		out = append(out, string(fields[i])+"="+string(fields[i+1]))
	}
	return strings.Join(out, " ")
}

func texts(parts [][]byte) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = string(p)
	}
	return out
}
