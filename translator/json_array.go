package translator

import (
	"math"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

const jsonNotInteger = "ERR Couldn't parse as integer"

// cloneAll copies values, so that arrays do not share them.
func cloneAll(values []*document.Value) []*document.Value {
	list := make([]*document.Value, len(values))
	for i, v := range values {
		list[i] = v.Clone()
	}
	return list
}

func jsonArrappend(c *Call) Plan {
	values, bad := c.jsonValues(c.Args[3:])
	if bad.IsError() {
		return answer(bad)
	}
	return c.editArrays(2, false, values, func(v *document.Value, _ *store.Work) resp.Value {
		v.Elems = append(v.Elems, cloneAll(values)...)
		return jsonLength(v, nil)
	})
}

func jsonArrinsert(c *Call) Plan {
	at, ok := parseInt(c.Args[3])
	if !ok {
		return fail(jsonNotInteger)
	}
	values, bad := c.jsonValues(c.Args[4:])
	if bad.IsError() {
		return answer(bad)
	}
	return c.editArrays(2, true, values, func(v *document.Value, _ *store.Work) resp.Value {
		n, i := int64(len(v.Elems)), at
		if i < 0 {
			i += n
		}
		if i < 0 || i > n {
			return resp.MakeError("ERR index out of bounds")
		}
		v.Elems = slices.Insert(v.Elems, int(i), cloneAll(values)...)
		return jsonLength(v, nil)
	})
}

// jsonArrpop removes the element at an index. An index beyond an end means that end.
func jsonArrpop(c *Call) Plan {
	i, shape := 2, jsonShape(nil)
	if len(c.Args) > 3 && c.is(2, "FORMAT") {
		var bad resp.Value
		if shape, bad = c.jsonShape(3, "STRINGS"); bad.IsError() {
			return answer(bad)
		}
		i = 4
	}
	if shape != nil {
		if path, bad := c.jsonPath(i); !bad.IsError() && path.Legacy {
			return fail("Legacy paths are supported only with FORMAT STRINGS")
		}
	} else {
		shape = jsonText
	}
	at := int64(-1)
	switch len(c.Args) - i {
	case 0, 1:
	case 2:
		var ok bool
		if at, ok = parseInt(c.Args[i+1]); !ok {
			return fail(jsonNotInteger)
		}
	default:
		return answer(commands.WrongArity(c.Command))
	}
	return c.editArrays(i, true, nil, func(v *document.Value, w *store.Work) resp.Value {
		if len(v.Elems) == 0 {
			return resp.Nil
		}
		i := min(clampIndex(at, len(v.Elems)), len(v.Elems)-1)
		reply := shape(v.Elems[i], w)
		v.Elems = slices.Delete(v.Elems, i, i+1)
		return reply
	})
}

// clampIndex resolves the index i of n elements. A negative i counts from the end; the result is limited to 0 to n.
func clampIndex(i int64, n int) int {
	if i < 0 {
		i = max(0, i+int64(n))
	}
	return int(min(i, int64(n)))
}

func jsonArrtrim(c *Call) Plan {
	start, ok1 := parseInt(c.Args[3])
	stop, ok2 := parseInt(c.Args[4])
	if !ok1 || !ok2 {
		return fail(jsonNotInteger)
	}
	return c.editArrays(2, true, nil, func(v *document.Value, _ *store.Work) resp.Value {
		n := len(v.Elems)
		from, to := clampIndex(start, n), min(clampIndex(stop, n)+1, n)
		if from >= to {
			from, to = 0, 0
		}
		v.Elems = slices.Clone(v.Elems[from:to])
		return jsonLength(v, nil)
	})
}

// jsonArrindex searches from start to stop, stop not included. A start beyond the end means the last element; a stop of
// 0 means the end.
func jsonArrindex(c *Call) Plan {
	var bounds [2]int64
	if len(c.Args) > 6 {
		return answer(commands.WrongArity(c.Command))
	}
	for i, arg := range c.Args[4:] {
		var ok bool
		if bounds[i], ok = parseInt(arg); !ok {
			return fail(jsonNotInteger)
		}
	}
	start, stop := bounds[0], bounds[1]
	if stop == 0 {
		stop = math.MaxInt64
	}
	values, bad := c.jsonValues(c.Args[3:4])
	if bad.IsError() {
		return answer(bad)
	}
	path, bad := c.jsonPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	find := func(v *document.Value, w *store.Work) resp.Value {
		n := len(v.Elems)
		for i := max(0, min(clampIndex(start, n), n-1)); i < clampIndex(stop, n); i++ {
			w.Step(1)
			if v.Elems[i].Identical(values[0]) {
				return resp.MakeInt(int64(i))
			}
		}
		return resp.MakeInt(-1)
	}
	return jsonMeasure{document.Array, find, jsonNoPath, jsonNoPath, wrongKind(document.Array), jsonNoPath}.readPath(c, path)
}
