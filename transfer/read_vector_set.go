package transfer

import (
	"context"
	"errors"
	"math"
	"slices"
)

// vectorSet yields a vector set page by page, as no command returns all of it.
func (r *reader) vectorSet(ctx context.Context, k *Key, yield func(Part) bool) error {
	part, sum := Part{Key: k, First: true}, int64(0)
	shape, bad := r.vectorShape(ctx, k)
	names := vectorNames{reader: r, key: k}
	for {
		var page *VectorSet
		if bad == nil {
			page, part.Last, bad = names.next(ctx, shape)
		}
		if bad == nil && part.Last && sum+int64(page.Len()) == 0 {
			bad = ErrGone
		}
		if bad != nil {
			if !isAboutKey(bad) {
				return bad
			}
			part.Value, part.Last, part.Err = nil, true, bad
			return stoppedUnless(yield(part))
		}
		part.Value = page
		sum += int64(page.Len())
		part.Changed = part.Changed || part.Last && sum != k.Count
		if !yield(part) {
			return errStopped
		}
		if part.Last {
			return nil
		}
		part.First = false
	}
}

// isAboutKey reports whether an error concerns only one key.
func isAboutKey(err error) bool {
	var no Refusal
	return errors.Is(err, ErrGone) || errors.Is(err, errReply) || errors.As(err, &no)
}

func (r *reader) vectorShape(ctx context.Context, k *Key) (s VectorShape, err error) {
	v, err := r.session.Do(ctx, call("VINFO", k.Name)...)
	switch {
	case err != nil:
		return s, err
	case v.IsNull() || wrongType(v):
		return s, ErrGone
	case v.IsError():
		return s, refused(v)
	}
	s, ok := shapeOf(v)
	if !ok {
		return s, errReply
	}
	return s, nil
}

// vectorNames pages through the element names. Servers before 8.4 return all names at once.
type vectorNames struct {
	reader *reader
	key    *Key
	last   []byte   // last name of the previous page
	all    [][]byte // remaining names, if the server returned all
	atOnce bool
}

// vectorPage limits the elements of a page, together with pageBytes.
const vectorPage = 1000

// next reads the next page with its vectors, and omits deleted elements.
func (n *vectorNames) next(ctx context.Context, s VectorShape) (page *VectorSet, last bool, err error) {
	size := max(1, min(vectorPage, pageBytes/s.Kind.Size(s.Dim)))
	names, err := n.names(ctx, size)
	if err != nil {
		return nil, false, err
	}
	if page, err = n.reader.vectors(ctx, n.key, s, names); err != nil {
		return nil, false, err
	}
	page.Elements = slices.DeleteFunc(page.Elements, func(e VectorElement) bool { return e.Record == nil })
	return page, len(names) < size || n.atOnce && len(n.all) == 0, nil
}

func (n *vectorNames) names(ctx context.Context, size int) ([][]byte, error) {
	if n.atOnce {
		names := n.all[:min(size, len(n.all))]
		n.all = n.all[len(names):]
		return names, nil
	}
	from := []byte("-")
	if n.last != nil {
		from = append([]byte("("), n.last...)
	}
	v, err := n.reader.session.Do(ctx, call("VRANGE", n.key.Name, from, []byte("+"), decimal(int64(size)))...)
	if err == nil && unknown(v) {
		n.atOnce = true
		v, err = n.reader.session.Do(ctx, call("VRANDMEMBER", n.key.Name, decimal(math.MaxInt32))...)
	}
	switch {
	case err != nil:
		return nil, err
	case wrongType(v) || v.IsNull():
		return nil, ErrGone
	case v.IsError():
		return nil, refused(v)
	}
	names := texts(v.Elems)
	if n.atOnce {
		n.all = names
		return n.names(ctx, size)
	}
	if len(names) > 0 {
		n.last = names[len(names)-1]
	}
	return names, nil
}

// vectors reads the named elements. A missing element has no record.
func (r *reader) vectors(ctx context.Context, k *Key, s VectorShape, names [][]byte) (*VectorSet, error) {
	set := &VectorSet{VectorShape: s, Elements: make([]VectorElement, len(names))}
	var calls [][][]byte
	for _, name := range names {
		calls = append(calls, call("VEMB", k.Name, name, []byte("RAW")), call("VGETATTR", k.Name, name))
	}
	if len(calls) == 0 {
		return set, nil
	}
	replies, err := r.session.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		e := &set.Elements[i]
		e.Name = name
		if e.Record, err = s.recordOf(replies[2*i]); err != nil {
			return nil, err
		}
		if attributes := replies[2*i+1]; !attributes.IsError() && !attributes.IsNull() {
			if e.Attributes = text(attributes); e.Attributes == nil {
				e.Attributes = []byte{}
			}
		}
	}
	return set, nil
}
