package keyspace

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// headBytes limits the bytes of a string that First reads.
const headBytes = 64 << 10

// ErrMissing reports a missing key.
var ErrMissing = errors.New("no such key")

// DescribeOne describes a key. It returns ErrMissing if the key does not exist.
func (l *Lister) DescribeOne(ctx context.Context, key []byte) (Key, error) {
	found, err := l.Describe(ctx, [][]byte{key})
	switch {
	case err != nil:
		return Key{}, err
	case len(found) == 0:
		return Key{}, ErrMissing
	}
	return found[0], found[0].Failed()
}

// First reads the first n elements of a key. For types without elements it reads the beginning
// of the value, as one element of one part.
func First(ctx context.Context, c Client, k Key, n int) ([][][]byte, error) {
	t := keytype.Of(k.Type)
	if !t.IsKnown() || n == 0 && t.Parts != nil {
		return nil, nil
	}
	asked := n
	if t.Parts == nil {
		asked = headBytes
	}
	v, _, err := pageOf(ctx, c, t.PageAt(k.Name, "", asked), asked)
	if err != nil {
		return nil, err
	}
	elements, _, err := t.Elements(v, "", asked)
	if t.Parts != nil {
		elements = elements[:min(n, len(elements))]
	}
	return elements, err
}

// pageOf runs the call for a page. If the server lacks its command, it reads all elements,
// builds a page of at least least elements, and returns stood.
func pageOf(ctx context.Context, c Client, asked [][]byte, least int) (v resp.Value, stood bool, err error) {
	v, err = c.Do(ctx, asked...)
	if err == nil && Unknown(v) {
		if call, page := keytype.Fallback(asked, least); call != nil {
			v, err = do(ctx, c, call)
			return page(v), true, err
		}
	}
	if err == nil && v.IsError() {
		err = Refusal(v.Str)
	}
	return resp.Downgrade(v), false, err
}

// Elements calls each for every element of a key, split into parts. A pattern matches the first
// part; types without element names reject a pattern.
func Elements(ctx context.Context, c Client, k Key, match string, each func(parts [][]byte) error) error {
	t := keytype.Of(k.Type)
	switch {
	case t.Parts == nil:
		return fmt.Errorf("a %s has no elements", k.Type)
	case t.Scan == "" && match != "":
		return fmt.Errorf("the elements of a %s have no names that a pattern could be about", k.Type)
	}
	for cursor, first := "", true; first || cursor != ""; first = false {
		call, take := t.PageAt(k.Name, cursor, defaultPage), t.Elements
		if t.Scan != "" {
			call, take = t.ScanAt(k.Name, cursor, match, defaultPage), t.Scanned
		}
		v, all, err := pageOf(ctx, c, call, math.MaxInt/2)
		if err != nil {
			return err
		}
		elements, next, err := take(v, cursor, defaultPage)
		if err != nil {
			return err
		}
		if all {
			next = ""
		}
		for _, parts := range elements {
			if err := each(parts); err != nil {
				return err
			}
		}
		cursor = next
	}
	return nil
}

// do runs a command and returns its error reply as an error.
func do(ctx context.Context, c Client, args [][]byte) (resp.Value, error) {
	v, err := c.Do(ctx, args...)
	if err == nil && v.IsError() {
		err = Refusal(v.Str)
	}
	return resp.Downgrade(v), err
}
