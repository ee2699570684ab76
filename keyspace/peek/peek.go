// Package peek describes a key and the beginning of its value, for verbs and the prompt.
package peek

import (
	"context"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Peek holds the description of a key.
type Peek struct {
	Key      keyspace.Key
	Encoding string     // OBJECT ENCODING; "" if the target does not support it
	First    [][][]byte // elements split into parts; for a type without elements, the beginning of the value
	measure  stats.Measure
}

// Take describes a key and reads its first n elements, or the beginning of its value. l
// measures its bytes. The error is keyspace.ErrMissing if the key is missing.
func Take(ctx context.Context, l *keyspace.Lister, name []byte, n int) (p Peek, err error) {
	p.measure = stats.MemoryUsage
	if l.Bytes != nil {
		p.measure = stats.Tables
	}
	if p.Key, err = l.DescribeOne(ctx, name); err != nil {
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

// JSON returns p as a JSON object for programs.
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

// ElementJSON returns an object of an element's parts. The last part of a stream entry is
// itself an object.
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
