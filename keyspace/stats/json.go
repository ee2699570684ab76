package stats

import (
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// JSON returns the summary as one reply, for JSON output.
func (r Report) JSON(s *Summary, prefixes int) resp.Value {
	fields := object{}
	if r.Keys >= 0 {
		fields.integer("keys", r.Keys)
	}
	fields.integer("looked_at", s.Total.Keys)
	fields.size("bytes", s.Total.Bytes, s.Unsized < s.Total.Keys)
	fields.add("measure", resp.MakeString(string(r.Measure)))
	if r.File > 0 {
		fields.integer("file_bytes", r.File)
	}
	fields.integer("expiring", s.Expiring)
	var types, lives, groups []resp.Value
	for _, g := range s.TypeGroups() {
		name := g.Name
		g.Name = display.Type(name)
		one := totalsObject("type", g, s)
		if s.ByType {
			one.add("by_bytes", rankingArray(s.ByBytes[name]))
			one.add("by_count", rankingArray(s.ByCount[name]))
		} else {
			one.addSpread("key_bytes", &s.spreads[name].bytes)
			one.addSpread("key_elements", &s.spreads[name].elements)
		}
		types = append(types, one.value())
	}
	fields.add("types", resp.MakeArray(types...))
	if len(s.Separator) > 0 {
		largest, all := s.PrefixGroups(prefixes)
		for _, g := range largest {
			if g.Name == OtherPrefixes {
				g.Name = prefixName(OtherPrefixes)
			}
			groups = append(groups, totalsObject("prefix", g, s).value())
		}
		fields.add("prefixes", resp.MakeArray(groups...))
		fields.integer("all_prefixes", int64(all))
	}
	for i, l := range lifetimes {
		one := object{}
		one.add("ttl", resp.MakeString(l.name))
		one.integer("keys", s.Lifetimes[i])
		lives = append(lives, one.value())
	}
	fields.add("ttls", resp.MakeArray(lives...))
	if !s.ByType {
		fields.add("largest", rankingArray(s.Largest))
		var all []resp.Value
		for _, ix := range r.Indexes {
			one := object{}
			one.add("index", resp.MakeString(ix.Name))
			one.size("documents", ix.Docs, ix.Err == nil)
			one.size("bytes", ix.Bytes, ix.Err == nil)
			all = append(all, one.value())
		}
		fields.add("indexes", resp.MakeArray(all...))
	}
	return fields.value()
}

func totalsObject(what string, g Group, s *Summary) *object {
	o := &object{}
	o.add(what, resp.MakeString(g.Name))
	o.integer("keys", g.Keys)
	o.integer("elements", g.Elements)
	o.size("bytes", g.Bytes, s.Unsized < s.Total.Keys)
	return o
}

func rankingArray(keys Ranking) resp.Value {
	var all []resp.Value
	for _, k := range keys {
		all = append(all, KeyJSON(k))
	}
	return resp.MakeArray(all...)
}

// KeyJSON returns all known metadata of a key.
func KeyJSON(k keyspace.Key) resp.Value {
	o := object{}
	o.add("key", resp.MakeBulk(k.Name))
	if k.Type != "" {
		o.add("type", resp.MakeString(display.Type(k.Type)))
		o.size("ttl_ms", k.TTL, k.TTL >= 0)
		o.size("count", k.Count, k.Count >= 0)
	}
	if k.Bytes >= 0 {
		o.integer("bytes", k.Bytes)
	}
	return o.value()
}

// object collects the entries of a map.
type object struct{ elems []resp.Value }

func (o *object) add(name string, v resp.Value) { o.elems = append(o.elems, resp.MakeString(name), v) }

func (o *object) integer(name string, n int64) { o.add(name, resp.MakeInt(n)) }

// size adds a number, or null if it is unknown.
func (o *object) size(name string, n int64, known bool) {
	if known {
		o.integer(name, n)
	} else {
		o.add(name, resp.Nil)
	}
}

func (o *object) value() resp.Value { return resp.MakeMap(o.elems...) }
