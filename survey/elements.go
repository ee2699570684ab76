package survey

import (
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/keytype"
)

// headBytes is how much of a string is read to show its beginning.
const headBytes = 64 << 10

// ErrMissing is the error of a key that is not there.
var ErrMissing = errors.New("no such key")

// usualSamples is how many elements of a key are measured unless told otherwise.
const usualSamples = 5

// Describe finds out facts about one key: ErrMissing when it is not there.
func (w Walk) Describe(ctx context.Context, key []byte) (Key, error) {
	if w.Samples == 0 {
		w.Samples = usualSamples
	}
	found, err := w.find(ctx, w.lister(), [][]byte{key})
	if err != nil {
		return Key{}, err
	}
	if len(found) == 0 {
		return Key{}, ErrMissing
	}
	return found[0], nil
}

// First reads the first n elements of a key, or the beginning of its value,
// which is an element of one part then.
func First(ctx context.Context, c Client, k Key, n int) ([][][]byte, error) {
	t := keytype.Of(k.Type)
	if !t.Known() || n == 0 && t.Parts != nil {
		return nil, nil
	}
	asked := n
	if t.Parts == nil {
		asked = headBytes
	}
	v, err := one(ctx, c, t.PageAt(k.Name, "", asked))
	if err != nil {
		return nil, err
	}
	elements, _, err := t.Elements(v, "", asked)
	if t.Parts != nil {
		elements = elements[:min(n, len(elements))]
	}
	return elements, err
}

// Elements calls each for every element of a key, in parts. A pattern is about
// the first part; the others have no names that it could be about.
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
		v, err := one(ctx, c, call)
		if err != nil {
			return err
		}
		elements, next, err := take(v, cursor, defaultPage)
		if err != nil {
			return err
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
