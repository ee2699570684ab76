package change

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/xxh3"
	"github.com/meowdis/meowdis/transfer"
)

// An undo does not overwrite another client's write without asking. So the journal also
// records the state after a change, as checks behind the commands that undo it. An undo
// first compares these checks with the data.

// Check is a question about a key and its answer, "" if the key, field or name does not
// exist. The question is a command that reads, or one of WholeKey, OnlyTTL and freeName.
type Check struct {
	Call   [][]byte
	answer string
}

// Questions that no command answers: WholeKey asks for the value and expiry of a key,
// OnlyTTL for the expiry of a key or of the field named after it, and freeName whether a
// key exists whose name an undo takes only if it is free.
const (
	WholeKey = "=KEY"
	OnlyTTL  = "=LIFE"
	freeName = "=NAME"
)

func (l Check) is(name string) bool { return string(l.Call[0]) == name }
func (l Check) key() string         { return string(l.Call[1]) }

// newChecks returns a check without an answer for each key.
func newChecks(name string, keys []string) []Check {
	checks := make([]Check, len(keys))
	for i, key := range keys {
		checks[i].Call = client.Command(name, key)
	}
	return checks
}

// answer fills in the current answers of checks. It returns false if an answer cannot be
// determined.
func (c *Maker) answer(ctx context.Context, db int, checks []Check, now int64) (bool, error) {
	var calls [][][]byte
	var plain []int
	var wholes, lives []string
	for i, l := range checks {
		switch {
		case l.is(WholeKey):
			wholes = append(wholes, l.key())
		case l.is(OnlyTTL) && len(l.Call) == 2:
			lives = append(lives, l.key())
		case l.is(OnlyTTL):
			calls, plain = append(calls, client.Command("HPEXPIRETIME", l.key(), "FIELDS", "1", string(l.Call[2]))), append(plain, i)
		case l.is(freeName):
			calls, plain = append(calls, client.Command("EXISTS", l.key())), append(plain, i)
		default:
			calls, plain = append(calls, l.Call), append(plain, i)
		}
	}
	whole, known, err := c.digests(ctx, db, wholes)
	if err != nil || !known {
		return false, err
	}
	ends, err := c.expiries(ctx, db, lives, now)
	if err != nil {
		return false, err
	}
	for i, l := range checks {
		switch {
		case l.is(WholeKey):
			checks[i].answer = whole[l.key()]
		case l.is(OnlyTTL) && len(l.Call) == 2:
			checks[i].answer = ends[l.key()]
		}
	}
	if len(calls) == 0 {
		return true, nil
	}
	values, err := c.Do(ctx, db, calls...)
	if err != nil {
		return false, err
	}
	for i, at := range plain {
		checks[at].answer = answerOf(checks[at], values[i])
	}
	return true, nil
}

// answerOf returns the answer in reply v: for OnlyTTL the expiry itself, else a hash; ""
// for none.
func answerOf(l Check, v resp.Value) string {
	if l.is(OnlyTTL) {
		const noField = -2
		if len(v.Elems) != 1 || client.Number(v.Elems[0]) == noField {
			return ""
		}
		return client.Text(v.Elems[0])
	}
	if l.is("XPENDING") {
		v = pendingAnswer(v)
	}
	if v.IsNull() || v.Kind == resp.Int && v.Int == 0 {
		return ""
	}
	return strconv.FormatUint(xxh3.Hash(resp.Append2(nil, v)), 16)
}

// expiries returns when keys expire, 0 for never, without the missing keys. If the target
// reports only the remaining time, the value is 1 for every key that expires.
func (c *Maker) expiries(ctx context.Context, db int, keys []string, now int64) (map[string]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	all, err := c.keyStates(ctx, db, keys, now)
	found := map[string]string{}
	for _, im := range all {
		if im.kind == "" {
			continue
		}
		if c.Refusals.Has("PEXPIRETIME") {
			im.expires = min(im.expires, 1)
		}
		found[im.key] = client.Decimal(im.expires)
	}
	return found, err
}

// digests returns a hash of each key's value, followed by its expiry, without the missing
// keys. It returns false if a key cannot be read or keeps changing.
func (c *Maker) digests(ctx context.Context, db int, keys []string) (found map[string]string, known bool, err error) {
	found = map[string]string{}
	if len(keys) == 0 {
		return found, true, nil
	}
	small, others, err := c.smallKeys(ctx, db, keys)
	if err != nil {
		return nil, false, err
	}
	for _, k := range small {
		d := digest{sum: xxh3.HashString(k.Type)}
		if !d.add(k.Value) {
			return nil, false, nil
		}
		found[string(k.Name)] = d.answer(k.Expires)
	}
	if len(others) == 0 {
		return found, true, nil
	}
	var d digest
	for p, err := range transfer.FromKeys(ctx, c.In(db), client.Names(others)...) {
		if err != nil {
			return nil, false, err
		}
		if p.Err != nil || p.Changed {
			return nil, false, nil
		}
		if p.First {
			d = digest{sum: xxh3.HashString(string(p.Key.Type))}
		}
		if !d.add(p.Value) {
			return nil, false, nil
		}
		if p.Last {
			ends := p.Key.ExpiresAt
			if c.Refusals.Has("PEXPIRETIME") {
				ends = min(ends, 1)
			}
			found[string(p.Key.Name)] = d.answer(ends)
		}
	}
	return found, true, nil
}

// digest hashes a value. The hash does not depend on how the value is split into parts, nor
// on the order of elements in types without an order.
type digest struct {
	sum   uint64
	bytes xxh3.Hasher // of a string
}

// answer returns the answer to WholeKey for the hashed value of a key that expires at ends, 0 for never.
func (d *digest) answer(ends int64) string {
	return strconv.FormatUint(d.sum, 16) + " " + client.Decimal(ends)
}

// addOrdered adds an element whose position counts, addUnordered one whose position does
// not.
func (d *digest) addOrdered(parts ...[]byte)   { d.sum = d.sum*31 + hashOf(parts) }
func (d *digest) addUnordered(parts ...[]byte) { d.sum += hashOf(parts) }

func hashOf(parts [][]byte) uint64 {
	var h xxh3.Hasher
	for _, part := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return h.Sum64()
}

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// add adds a part of the value. It returns false for an unknown type.
func (d *digest) add(v transfer.Value) bool {
	switch v := v.(type) {
	case rdb.String:
		d.bytes.Write(v)
		d.sum = d.bytes.Sum64()
	case rdb.List:
		for _, e := range v {
			d.addOrdered(e)
		}
	case rdb.Set:
		for _, e := range v {
			d.addUnordered(e)
		}
	case rdb.Hash:
		for _, f := range v {
			d.addUnordered(f.Name, f.Value, decimal(f.ExpiresAt))
		}
	case rdb.ZSet:
		for _, e := range v {
			d.addUnordered(e.Name, decimal(int64(math.Float64bits(e.Score))))
		}
	case *rdb.Stream:
		d.stream(v)
	case transfer.Document:
		d.addOrdered(v)
	case *rdb.Module:
		d.addOrdered(rdb.Dump(v, nil))
	case *transfer.Array:
		for _, s := range v.Slots {
			d.addOrdered(decimal(int64(s.Index)), s.Value)
		}
		d.sum += v.Next
	case *transfer.VectorSet:
		for _, e := range v.Elements {
			d.addUnordered(e.Name, e.Record, e.Attributes)
		}
	default:
		return false
	}
	return true
}

// stream adds a stream without the last-seen times of its consumers: servers report these
// times differently.
func (d *digest) stream(s *rdb.Stream) {
	id := func(id rdb.ID) []byte {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, id.Ms), id.Seq)
	}
	for _, e := range s.Entries {
		d.addOrdered(slices.Concat([][]byte{id(e.ID)}, e.Fields)...)
	}
	d.sum += uint64(s.Added)
	d.addUnordered(id(s.Last), id(s.Deleted))
	for _, g := range s.Groups {
		d.addUnordered([]byte("group"), g.Name, id(g.Last))
		for _, c := range g.Consumers {
			d.addUnordered([]byte("consumer"), g.Name, c.Name)
			for _, p := range c.Pending {
				d.addUnordered([]byte("pending"), g.Name, c.Name, id(p.ID), decimal(p.Deliveries))
			}
		}
	}
}
