package transfer

import (
	"context"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// pager reads a large key page by page.
type pager struct {
	call func(n int64) [][]byte                           // returns the command for the next page of about n elements
	take func(resp.Value) (v Value, last bool, err error) // decodes its reply
}

func pagerOf(k *Key) pager {
	switch k.Type {
	case StringType:
		return rangePages("GETRANGE", k, func(v resp.Value) Value { return rdb.String(v.Str) })
	case ListType:
		return rangePages("LRANGE", k, func(v resp.Value) Value { return rdb.List(texts(v.Elems)) })
	case StreamType:
		return streamPages(k)
	case ArrayType:
		return slotPages(k)
	case SetType:
		return cursorPages("SSCAN", k, func(elems []resp.Value) (Value, error) { return rdb.Set(texts(elems)), nil })
	case ZSetType:
		return cursorPages("ZSCAN", k, func(elems []resp.Value) (Value, error) { return members(elems) })
	case HashType:
		return cursorPages("HSCAN", k, func(elems []resp.Value) (Value, error) { return fields(elems) })
	}
	return elementPages(k)
}

// rangePages reads a value with positions from 0.
func rangePages(command string, k *Key, decode func(resp.Value) Value) pager {
	at := int64(0)
	return pager{
		call: func(n int64) [][]byte {
			if k.Type == StringType {
				n = wholeBytes
			}
			return call(command, k.Name, decimal(at), decimal(min(at+n, k.Count)-1))
		},
		take: func(v resp.Value) (Value, bool, error) {
			value := decode(v)
			at += int64(value.Len())
			return value, value.Len() == 0 || at >= k.Count, nil
		},
	}
}

// slotPages reads an array page by page.
func slotPages(k *Key) pager {
	from, asked := uint64(0), int64(0)
	return pager{
		call: func(n int64) [][]byte {
			asked = n
			return append(call("ARSCAN", k.Name, strconv.AppendUint(nil, from, 10)), words(lastSlot, "LIMIT", strconv.FormatInt(n, 10))...)
		},
		take: func(v resp.Value) (Value, bool, error) {
			a, err := slots(flat(v.Elems))
			if err != nil || a.Len() == 0 {
				return a, true, err
			}
			from = a.Slots[a.Len()-1].Index + 1
			return a, int64(a.Len()) < asked || a.Slots[a.Len()-1].Index == math.MaxUint64-1, nil
		},
	}
}

// cursorPages reads a value with a cursor command.
func cursorPages(command string, k *Key, decode func([]resp.Value) (Value, error)) pager {
	cursor := "0"
	return pager{
		call: func(n int64) [][]byte {
			return append(call(command, k.Name), words(cursor, "COUNT", strconv.FormatInt(n, 10))...)
		},
		take: func(v resp.Value) (Value, bool, error) {
			elems, next, err := keyspace.Scanned(v)
			if err != nil {
				return nil, false, err
			}
			cursor = next
			value, err := decode(elems)
			return value, next == "0", err
		},
	}
}

// hasCursor reports whether keys of the type are read with a cursor command.
func hasCursor(t Type) bool { return t == SetType || t == ZSetType || t == HashType }

// completePage decodes a page and reads what its command does not return: field expiries and, after the last page, the
// key's other data. bad is the reason why the key has no value, and err the failure of the connection.
func (r *reader) completePage(ctx context.Context, k *Key, pages pager, replies []resp.Value) (value Value, last bool, bad, err error) {
	value, last, bad = r.pageOf(k, pages, replies)
	if bad != nil || !last && k.Type != HashType {
		return value, last, bad, nil
	}
	read := &reading{key: k, value: value}
	if err := r.remaining(ctx, read, last); err != nil {
		return nil, last, nil, err
	}
	value, bad = read.result()
	return value, last, bad, nil
}

// large yields a large key in parts. It reads the key's length with each page to detect
// additions and removals.
func (r *reader) large(ctx context.Context, k *Key, yield func(Part) bool) error {
	pages, part, sum := pagerOf(k), Part{Key: k, First: true}, int64(0)
	for {
		replies, err := r.session.Pipeline(ctx, [][][]byte{pages.call(r.pace.elements()), call(k.length(), k.Name)})
		if err != nil {
			return err
		}
		if hasCursor(k.Type) && part.First && unknown(replies[0]) {
			return r.readUnpaged(ctx, k, yield)
		}
		value, last, bad, err := r.completePage(ctx, k, pages, replies)
		if err != nil {
			return err
		}
		if bad != nil {
			part.Value, part.Last, part.Err = nil, true, bad
			return stoppedUnless(yield(part))
		}
		part.Value, part.Last = value, last
		sum += int64(value.Len())
		part.Changed = part.Changed || replies[1].Int != k.Count || last && sum != k.Count
		if value.Len() == 0 && !last {
			continue
		}
		if !yield(part) {
			return errStopped
		}
		if last {
			return nil
		}
		part.First = false
	}
}

// readUnpaged reads a large key in one part, for a server without a paging command for its type.
func (r *reader) readUnpaged(ctx context.Context, k *Key, yield func(Part) bool) error {
	gone, err := r.whole(ctx, []*Key{k}, yield)
	if err != nil {
		return err
	}
	more, err := r.yieldDeferred(ctx, yield)
	if err == nil && len(gone)+len(more) > 0 && !yield(Part{Key: k, First: true, Last: true, Err: ErrGone}) {
		err = errStopped
	}
	return err
}

// stoppedUnless returns errStopped unless the part was taken.
func stoppedUnless(taken bool) error {
	if taken {
		return nil
	}
	return errStopped
}

// remaining requests the data that accompanies a page: the expiries of its fields, and with the
// last page the data that comes once per key.
func (r *reader) remaining(ctx context.Context, read *reading, last bool) error {
	var t keyspace.RoundTrip
	r.askFieldExpiries(&t, read)
	if last {
		r.askRest(&t, read)
	}
	return t.Run(ctx, r.session)
}

// pageOf decodes the replies to a page's command and to the length command. An error concerns
// only the key.
func (r *reader) pageOf(k *Key, pages pager, replies []resp.Value) (v Value, last bool, err error) {
	page := replies[0]
	length, counted := integer(replies[1])
	switch {
	case wrongType(page) || counted && length == 0 && k.Type != StreamType:
		return nil, false, ErrGone
	case page.IsError():
		return nil, false, refused(page)
	case !counted:
		return nil, false, errReply
	}
	if v, last, err = pages.take(page); err == nil && k.Type != StringType {
		r.pace.observe(v.Len(), sizeOf(page))
	}
	return v, last, err
}
