// Package peek shows what a key is, and the beginning of its value, whether a verb asks
// or the prompt.
package peek

import (
	"context"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Peek is what was found out about a key.
type Peek struct {
	Key      keyspace.Key
	Encoding string     // by OBJECT ENCODING; "" where the target does not say
	First    [][][]byte // elements in parts, or one of one part: the beginning of a value
	measure  stats.Measure
}

// Take finds out about a key and reads its first n elements, or the beginning of its
// value. Bytes are those of l. The error is keyspace.ErrMissing when there is no such key.
func Take(ctx context.Context, l *keyspace.Lister, name []byte, n int) (p Peek, err error) {
	p.measure = stats.MemoryUsage
	if l.Bytes != nil {
		p.measure = stats.Tables
	}
	if p.Key, err = l.One(ctx, name); err != nil {
		return p, err
	}
	v, err := l.Client.Do(ctx, []byte("OBJECT"), []byte("ENCODING"), name)
	if err != nil {
		return p, err
	}
	if !v.IsError() {
		p.Encoding = string(v.Str)
	}
	p.First, err = keyspace.First(ctx, l.Client, p.Key, n)
	return p, err
}

// JSON is what a program may want of it.
func (p Peek) JSON() resp.Value {
	v := stats.KeyJSON(p.Key)
	if p.Key.Bytes >= 0 {
		v.Elems = append(v.Elems, resp.MakeString("measure"), resp.MakeString(string(p.measure)))
	}
	parts := keytype.Of(p.Key.Type).Parts
	if parts == nil {
		if len(p.First) > 0 {
			v.Elems = append(v.Elems, resp.MakeString("value"), resp.MakeBulk(p.First[0][0]))
		}
		return v
	}
	var elements []resp.Value
	for _, e := range p.First {
		elements = append(elements, ElementJSON(parts, e))
	}
	v.Elems = append(v.Elems, resp.MakeString("elements"), resp.MakeArray(elements...))
	return v
}

// ElementJSON is an object of an element's parts. The last part of a stream's
// entry is an object itself.
func ElementJSON(parts []string, element [][]byte) resp.Value {
	var fields []resp.Value
	for i, name := range parts {
		value := resp.MakeBulk(element[i])
		if len(element) > len(parts) || name == "fields" {
			if i == len(parts)-1 {
				value = bulkMap(element[i:])
			}
		}
		fields = append(fields, resp.MakeString(name), value)
	}
	return resp.MakeMap(fields...)
}

func bulkMap(parts [][]byte) resp.Value {
	var elems []resp.Value
	for _, p := range parts {
		elems = append(elems, resp.MakeBulk(p))
	}
	return resp.MakeMap(elems...)
}
