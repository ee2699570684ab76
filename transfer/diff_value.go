package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// lookUp returns the command that reads the part's elements in B, or nil for a part without
// elements.
func (c check) lookUp() [][]byte {
	name, from := c.part.Key.Name, decimal(c.at)
	to := decimal(c.at + int64(c.part.Value.Len()) - 1)
	if c.part.Value.Len() == 0 || c.part.Key.Type == VectorSetType {
		return nil
	}
	switch v := c.part.Value.(type) {
	case rdb.String:
		return call("GETRANGE", name, from, to)
	case rdb.List:
		return call("LRANGE", name, from, to)
	case rdb.Set:
		return append(call("SMISMEMBER", name), v...)
	case rdb.ZSet:
		return append(call("ZMSCORE", name), each(v, func(m rdb.Member) []byte { return m.Name })...)
	case rdb.Hash:
		return append(call("HMGET", name), each(v, func(f rdb.Field) []byte { return f.Name })...)
	case *Elements, *rdb.Module:
		return c.part.Key.readAll()
	case *rdb.Stream:
		first, last := v.Entries[0].ID, v.Entries[v.Len()-1].ID
		return call("XRANGE", name, formatID(first), formatID(last), []byte("COUNT"), decimal(int64(v.Len())+1))
	}
	if a, ok := c.part.Value.(*Array); ok {
		return append(call("ARMGET", name), each(a.Slots, func(s Slot) []byte { return strconv.AppendUint(nil, s.Index, 10) })...)
	}
	return call("JSON.GET", name)
}

// compareValue returns the first difference, as found in A and in B, or "" and "" for equal
// values. In B it may be an error reply in place of the value.
func (d *differ) compareValue(ctx context.Context, c check, replies []resp.Value) (a, b string, err error) {
	if len(replies) > 0 && unknown(replies[0]) {
		if replies[0], err = d.wholeLookUp(ctx, c); err != nil {
			return "", "", err
		}
	}
	if len(replies) > 0 {
		if replies[0].IsError() {
			return "a value", string(replies[0].Str), nil
		}
		if a, b = c.compareElements(replies[0]); a != b {
			return a, b, nil
		}
		replies[0] = resp.Value{} // release the memory before reading more
		releaseMemory(c.part.Value)
	}
	switch v := c.part.Value.(type) {
	case rdb.Hash:
		return d.compareExpiries(ctx, c.part.Key, v)
	case *rdb.Stream:
		if c.part.Last {
			return d.compareStates(ctx, c.part.Key, v)
		}
	case *rdb.Module:
		if c.part.Key.Type == SeriesType {
			_, rules := plainSeries(v)
			return d.compareRules(ctx, c.part.Key, rules)
		}
	case *VectorSet:
		return d.compareVectors(ctx, c.part.Key, v)
	case *Array:
		there := &Array{Next: v.Next}
		if c.part.Last {
			if err := d.b.remaining(ctx, &reading{key: c.part.Key, value: there}, true); err != nil {
				return "", "", err
			}
		}
		if there.Next != v.Next {
			return fmt.Sprintf("goes on at [%d]", v.Next), fmt.Sprintf("[%d]", there.Next), nil
		}
	}
	return "", "", nil
}

// wholeLookUp builds the reply to lookUp from the whole value, for servers without the command.
func (d *differ) wholeLookUp(ctx context.Context, c check) (resp.Value, error) {
	v, err := d.b.session.Do(ctx, c.part.Key.readAll()...)
	if err != nil || v.IsError() {
		return v, err
	}
	whole, err := c.part.Key.decode(v)
	if err != nil {
		return resp.Value{}, err
	}
	found := map[string]resp.Value{}
	switch b := whole.(type) {
	case rdb.String:
		from := min(c.at, int64(len(b)))
		return resp.MakeBulk(b[from:min(from+int64(c.part.Value.Len()), int64(len(b)))]), nil
	case rdb.Hash:
		for _, f := range b {
			found[string(f.Name)] = resp.MakeBulk(f.Value)
		}
	case rdb.ZSet:
		for _, m := range b {
			found[string(m.Name)] = resp.MakeDouble(m.Score)
		}
	case rdb.Set:
		for _, m := range b {
			found[string(m)] = resp.MakeInt(1)
		}
	}
	reply := resp.EmptyArray
	add := func(name []byte) {
		e, there := found[string(name)]
		if !there {
			e = resp.Nil
		}
		reply.Elems = append(reply.Elems, e)
	}
	switch a := c.part.Value.(type) {
	case rdb.Hash:
		for _, f := range a {
			add(f.Name)
		}
	case rdb.ZSet:
		for _, m := range a {
			add(m.Name)
		}
	case rdb.Set:
		for _, m := range a {
			add(m)
		}
	}
	return reply, nil
}

// compareElements compares the elements of a part with the reply to lookUp.
func (c check) compareElements(v resp.Value) (a, b string) {
	switch part := c.part.Value.(type) {
	case rdb.String:
		return c.compareBytes(part, text(v))
	case Document:
		if !sameJSON(part, text(v)) {
			return clip(part), clip(text(v))
		}
		return "", ""
	case *rdb.Module:
		plain, _ := plainSeries(part)
		if !bytes.Equal(rdb.Dump(plain, nil), text(v)) {
			return "a value", "another one"
		}
		return "", ""
	case *rdb.Stream:
		return compareEntries(part.Entries, v)
	case *Elements:
		return part.compare(v)
	}
	if len(v.Elems) != c.part.Value.Len() {
		return fmt.Sprintf("%d elements", c.part.Value.Len()), strconv.Itoa(len(v.Elems))
	}
	for i, e := range v.Elems {
		if a, b := c.compareElement(i, e); a != b {
			return a, b
		}
	}
	return "", ""
}

// compareElement compares an element of a list, set, sorted set, hash or array.
func (c check) compareElement(i int, v resp.Value) (a, b string) {
	const none = "none"
	found := show(text(v))
	if v.IsNull() {
		found = none
	}
	switch part := c.part.Value.(type) {
	case rdb.List:
		if !bytes.Equal(part[i], text(v)) {
			return fmt.Sprintf("[%d] %s", c.at+int64(i), show(part[i])), found
		}
	case rdb.Set:
		if n, _ := integer(v); n == 0 {
			return "member " + show(part[i]), none
		}
	case rdb.ZSet:
		if s, ok := scoreOf(v); !ok {
			return fmt.Sprintf("member %s", show(part[i].Name)), none
		} else if s != part[i].Score {
			return fmt.Sprintf("score of %s: %s", show(part[i].Name), showScore(part[i].Score)), showScore(s)
		}
	case rdb.Hash:
		if v.IsNull() || !bytes.Equal(part[i].Value, text(v)) {
			return fmt.Sprintf("field %s: %s", show(part[i].Name), show(part[i].Value)), found
		}
	case *Array:
		if slot := part.Slots[i]; v.IsNull() || !bytes.Equal(slot.Value, text(v)) {
			return fmt.Sprintf("[%d] %s", slot.Index, show(slot.Value)), found
		}
	}
	return "", ""
}

// compareVectors compares the elements of a part of a vector set.
func (d *differ) compareVectors(ctx context.Context, k *Key, s *VectorSet) (a, b string, err error) {
	shape, err := d.b.vectorShape(ctx, k)
	if err == nil && shape != s.VectorShape {
		return s.String(), shape.String(), nil
	}
	var there *VectorSet
	if err == nil {
		there, err = d.b.vectors(ctx, k, shape, each(s.Elements, func(e VectorElement) []byte { return e.Name }))
	}
	if errors.Is(err, ErrGone) {
		return "a vector set", "none", nil
	}
	if err != nil {
		return "", "", err
	}
	a, b = s.compare(there)
	return a, b, nil
}

// compareBytes compares a range of a string.
func (c check) compareBytes(a, b []byte) (string, string) {
	if bytes.Equal(a, b) {
		return "", ""
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == 0 && c.at == 0 {
		return show(a), show(b)
	}
	return fmt.Sprintf("from byte %d on %s", c.at+int64(i), show(a[i:])), show(b[i:])
}

// maxShown limits the displayed bytes of a value.
const maxShown = 40

// show quotes the beginning of a value.
func show(b []byte) string {
	if len(b) > maxShown {
		return string(resp.AppendQuoted(nil, b[:maxShown], true)) + "…"
	}
	return string(resp.AppendQuoted(nil, b, true))
}

// clip returns the beginning of text.
func clip(text []byte) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(string(text[:maxShown]), "") + "…"
	}
	return string(text)
}

func showScore(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// blobOf returns the bytes of a string or document, the payload of a value that moves as its DUMP, or nil for other
// values.
func blobOf(v Value) []byte {
	switch v := v.(type) {
	case rdb.String:
		return v
	case Document:
		return v
	case *rdb.Module:
		return rdb.Dump(v, nil)
	}
	return nil
}

// sameJSON reports whether two documents are equal, ignoring whitespace and number formats.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err1 := readJSON(a)
	y, err2 := readJSON(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

func readJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return normalizeNumbers(v), err
}

// normalizeNumbers normalizes numbers, so that 1.0 equals 1 and 1e2 equals 100. Integers that
// exceed the precision of a double keep their text.
func normalizeNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return string(v)
		}
		f, err := v.Float64()
		if err != nil {
			return v
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	case []any:
		for i := range v {
			v[i] = normalizeNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normalizeNumbers(v[k])
		}
	}
	return v
}

func compareEntries(entries []rdb.Entry, v resp.Value) (a, b string) {
	found, err := entriesOf(v.Elems)
	if err != nil {
		return "entries", err.Error()
	}
	for i, e := range entries {
		if i >= len(found) {
			return showEntry(e), "none"
		}
		if a, b := showEntry(e), showEntry(found[i]); !reflect.DeepEqual(e, found[i]) {
			if a == b {
				b += ", with other fields"
			}
			return a, b
		}
	}
	if len(found) > len(entries) {
		return "none", showEntry(found[len(entries)])
	}
	return "", ""
}

func showEntry(e rdb.Entry) string {
	out := "entry " + string(formatID(e.ID))
	for _, f := range e.Fields[:min(len(e.Fields), 4)] {
		out += " " + show(f)
	}
	return out
}

// compareExpiries compares the expiries of hash fields. If B does not support field expiry, its
// fields never expire.
func (d *differ) compareExpiries(ctx context.Context, k *Key, h rdb.Hash) (a, b string, err error) {
	there := slices.Clone(h)
	for i := range there {
		there[i].ExpiresAt = 0
	}
	found := &reading{key: k, value: there}
	if err := d.b.remaining(ctx, found, false); err != nil {
		return "", "", err
	}
	if found.err != nil {
		return "", "", found.err
	}
	there, _ = found.value.(rdb.Hash)
	if len(there) != len(h) {
		return "", "", nil // fields expired since
	}
	a, b = d.compareTimes(h, there)
	return a, b, nil
}

// compareTimes compares the field expiries of two hashes with the same fields in the same
// order.
func (d *differ) compareTimes(h, there rdb.Hash) (a, b string) {
	for i, f := range h {
		if !d.sameTime(f.ExpiresAt, there[i].ExpiresAt) {
			return fmt.Sprintf("field %s expires %s", show(f.Name), showTime(f.ExpiresAt)), showTime(there[i].ExpiresAt)
		}
	}
	return "", ""
}

// compareStates compares the metadata of streams: ids, counters, groups and pending entries. It
// ignores times, which change with each access.
func (d *differ) compareStates(ctx context.Context, k *Key, s *rdb.Stream) (a, b string, err error) {
	there := &rdb.Stream{}
	found := &reading{key: k, value: there}
	switch err := d.b.remaining(ctx, found, true); {
	case err != nil:
		return "", "", err
	case found.err != nil:
		return "", "", found.err
	case found.value == nil:
		return "a stream", "none", nil
	}
	x, y := describe(s), describe(there)
	for i := range max(len(x), len(y)) {
		a, b = "nothing more", "nothing more"
		if i < len(x) {
			a = x[i]
		}
		if i < len(y) {
			b = y[i]
		}
		if a != b {
			return a, b, nil
		}
	}
	return "", "", nil
}

// describe formats the metadata of a stream as lines in a fixed order.
func describe(s *rdb.Stream) []string {
	lines := []string{fmt.Sprintf("last id %s, deleted up to %s, %d added", formatID(s.Last), formatID(s.Deleted), s.Added)}
	groups := slices.Clone(s.Groups)
	smallsort.Sort(groups, func(a, b rdb.Group) int { return bytes.Compare(a.Name, b.Name) })
	for _, g := range groups {
		lines = append(lines, fmt.Sprintf("group %s at %s", show(g.Name), formatID(g.Last)))
		if g.Read != rdb.Unknown {
			lines[len(lines)-1] += fmt.Sprintf(", %d read", g.Read)
		}
		consumers := slices.Clone(g.Consumers)
		smallsort.Sort(consumers, func(a, b rdb.Consumer) int { return bytes.Compare(a.Name, b.Name) })
		for _, c := range consumers {
			lines = append(lines, fmt.Sprintf("consumer %s of group %s", show(c.Name), show(g.Name)))
			for _, p := range c.Pending {
				lines = append(lines, fmt.Sprintf("%s pending with consumer %s of group %s, delivered %d times", formatID(p.ID), show(c.Name), show(g.Name), p.Deliveries))
			}
		}
	}
	return lines
}
