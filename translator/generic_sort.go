package translator

import (
	"bytes"
	"cmp"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/partialsort"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var sortTranslations = translations{
	{"SORT", sortCommand(true)},
	{"SORT_RO", sortCommand(false)},
}

// sortCall runs a call of SORT. Its steps read the elements, read the keys to sort by, read the keys to return, and
// store the result. A step with nothing to do is left out.
type sortCall struct {
	*Call
	by            *keyPattern // nil to sort by the elements themselves
	get           []keyPattern
	offset, count int64 // count < 0 means all
	unsorted      bool  // BY names one key for all elements
	desc, alpha   bool
	destination   []byte
	storing       bool
	work          *store.Work // store.Result's, once the elements are read
	packed        []*packing  // of the statements that read the elements; empty if the reply is not packed
}

func sortCommand(mayStore bool) func(*Call) Plan {
	return func(c *Call) Plan {
		s := sortCall{Call: c, count: -1}
		if bad := s.parse(mayStore); bad != "" {
			return fail(bad)
		}
		return readThen(s.elementsRead, s.elementStmts()...)
	}
}

func (s *sortCall) parse(mayStore bool) (bad string) {
	for i := 2; i < len(s.Args); i++ {
		switch more := len(s.Args) - 1 - i; {
		case s.is(i, "ASC"):
			s.desc = false
		case s.is(i, "DESC"):
			s.desc = true
		case s.is(i, "ALPHA"):
			s.alpha = true
		case s.is(i, "LIMIT") && more >= 2:
			var ok bool
			if s.offset, s.count, ok = s.intRange(i + 1); !ok {
				return errNotInteger
			}
			i += 2
		case mayStore && s.is(i, "STORE") && more >= 1:
			i++
			s.destination, s.storing = s.Args[i], true
		case s.is(i, "BY") && more >= 1:
			i++
			by := parseKeyPattern(s.Args[i])
			s.by = &by
			// As in Redis, a later BY does not undo an earlier constant one.
			s.unsorted = s.unsorted || by.constant()
		case s.is(i, "GET") && more >= 1:
			i++
			s.get = append(s.get, parseKeyPattern(s.Args[i]))
		default:
			return errSyntax
		}
	}
	return ""
}

// These statements read the elements in the order of the key, whatever its type. LIMIT and DESC are part of the
// statement only if the reply is not sorted.
const (
	window          = ` LIMIT CAST(?4 AS INTEGER) OFFSET CAST(?5 AS INTEGER)`
	sqlSortList     = `SELECT value FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos` + window
	sqlSortListDesc = `SELECT value FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos DESC` + window
	sqlSortSet      = `SELECT member FROM sets WHERE key_id = ` + liveID + ` ORDER BY seq` + window
	sqlSortZSet     = `SELECT member FROM zsets WHERE key_id = ` + liveID + ` ORDER BY score, member` + window
	sqlSortZSetDesc = `SELECT member FROM zsets WHERE key_id = ` + liveID + ` ORDER BY score DESC, member DESC` + window
)

func (s *sortCall) elementStmts() []store.Stmt {
	count, offset, key := s.count, s.offset, s.Args[1]
	if !s.unsorted {
		count, offset = -1, 0
	}
	part := []store.Value{store.Digits(max(count, -1)), store.Digits(max(offset, 0))}
	all := []store.Value{store.Digits(-1), store.Digits(0)}
	list, set, zset := sqlSortList, part, sqlSortZSet
	switch {
	case s.unsorted && (s.storing || s.Env.InScript):
		set = all // the order of a set must be fixed, so the set is sorted
	case s.unsorted:
		// LIMIT may read only one row more than a set with a fixed order can have.
		rows := int64(-1)
		if s.count >= 0 {
			rows = max(s.limits().SetIntegers, clampLength(max(offset, 0))+clampLength(count)) + 1
		}
		set = []store.Value{store.Digits(rows), store.Digits(0)}
	}
	if s.unsorted && s.desc {
		list, zset = sqlSortListDesc, sqlSortZSetDesc
	}
	stmts := []store.Stmt{s.typeOf(key), s.stmt(list, key, part...), s.stmt(sqlSortSet, key, set...), s.stmt(zset, key, part...)}
	if whole := s.count < 0 && s.offset <= 0; whole && !s.storing && len(s.get) == 0 && (s.by == nil || s.unsorted) {
		for i := range stmts[1:] {
			s.packed = append(s.packed, s.pack(&stmts[i+1], 1, false))
		}
	}
	return stmts
}

// item holds an element and its sort key.
type item struct {
	element []byte
	score   float64
	text    []byte
	missing bool // the key to sort by is missing
}

// itemMemory counts the bytes of an item.
const itemMemory = 64

// elementsRead plans the next step from the elements.
func (s *sortCall) elementsRead(r *store.Result) Plan {
	s.work = r.Work
	typ := ""
	if len(r.Rows[0]) > 0 {
		typ = string(r.Rows[0][0][0].Bytes())
	}
	switch typ {
	case "", listType, setType, zsetType:
	default:
		return answer(wrongType)
	}
	items, large := s.items(r.Rows[1:], typ)
	switch {
	case large != nil:
		return s.packedReply(large)
	case s.unsorted && typ == setType && (s.storing || s.Env.InScript):
		// Neither stored elements nor scripts may depend on the order of a set.
		s.unsorted, s.alpha, s.by = false, true, nil
	case s.unsorted && typ == setType:
		orderIntegers(items, s.limits().SetIntegers)
		first, last := s.window(len(items))
		return s.answerWith(items[first:last])
	case s.unsorted:
		return s.answerWith(items)
	}
	if s.by == nil {
		for i := range items {
			items[i].text = items[i].element
		}
		return s.sort(items)
	}
	return s.lookUp([]keyPattern{*s.by}, items, func(values [][]resp.Value) Plan {
		for i := range items {
			items[i].text, items[i].missing = values[0][i].Str, values[0][i].IsNull()
		}
		return s.sort(items)
	})
}

// items returns the elements of rows and packed rows. large has packed rows that need a reply of their own.
func (s *sortCall) items(rows [][]store.Row, typ string) (items []item, large *packing) {
	for _, p := range s.packed {
		switch {
		case p == nil || p.rows == nil:
		case s.unsorted && typ == setType && int64(p.rows.Len()) <= s.limits().SetIntegers:
			for v := range p.rows.All() {
				items = append(items, item{element: v.Str})
			}
		default:
			return nil, p
		}
	}
	for _, rows := range rows {
		s.work.Grow(int64(2 * itemMemory * len(rows)))
		for _, row := range rows {
			items = append(items, item{element: row[0].Bytes()})
		}
	}
	return items, nil
}

// window returns the bounds of LIMIT within n items.
func (s *sortCall) window(n int) (first, last int) {
	first, last = int(min(max(s.offset, 0), int64(n))), n
	if s.count >= 0 {
		last = first + int(min(s.count, int64(n-first)))
	}
	return first, last
}

// orderIntegers sorts the members of a set as Redis's compact form does, if all are integers and at most most.
func orderIntegers(items []item, most int64) {
	if int64(len(items)) > most {
		return
	}
	values := make(map[string]int64, len(items))
	for _, it := range items {
		n, ok := parseInt(it.element)
		if !ok {
			return
		}
		values[string(it.element)] = n
	}
	smallsort.Sort(items, func(a, b item) int { return cmp.Compare(values[string(a.element)], values[string(b.element)]) })
}

const errNotScore = "ERR One or more scores can't be converted into double"

// sort orders the items and returns the part that LIMIT selects.
func (s *sortCall) sort(items []item) Plan {
	if !s.alpha {
		for i := range items {
			s.work.Step(stepsPerSorted + len(items[i].text))
			var ok bool
			if items[i].score, ok = looseFloat(items[i].text); !ok && !items[i].missing {
				return fail(errNotScore)
			}
		}
	}
	first, last := s.window(len(items))
	partialsort.Sort(items, first, last, func(a, b item) int {
		order := s.compare(a, b)
		if s.desc {
			order = -order
		}
		return order
	})
	return s.answerWith(items[first:last])
}

// stepsPerSorted counts the steps of an element, and of one comparison.
const stepsPerSorted = 8

// compare orders by number and then by element, or by text. As in Redis, text is compared up to the first NUL unless
// the result is stored.
func (s *sortCall) compare(a, b item) int {
	s.work.Step(stepsPerSorted + min(len(a.text), len(b.text))/16)
	switch {
	case !s.alpha:
		return cmp.Or(cmp.Compare(a.score, b.score), bytes.Compare(a.element, b.element))
	case a.missing || b.missing:
		return cmp.Compare(boolInt(b.missing), boolInt(a.missing))
	case s.storing:
		return bytes.Compare(a.text, b.text)
	}
	return bytes.Compare(cString(a.text), cString(b.text))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// answerWith returns or stores the values of the GET patterns, in the order of the items.
func (s *sortCall) answerWith(items []item) Plan {
	s.work.Grow(int64(len(items)*max(1, 2*len(s.get))) * store.ValueBytes)
	if len(s.get) == 0 {
		values := make([]resp.Value, len(items))
		for i := range items {
			values[i] = resp.MakeBulk(items[i].element)
		}
		return s.finish(values)
	}
	if !fits(s.work.Remaining(), int64(len(items)*len(s.get))) {
		return answer(s.work.Refusal())
	}
	return s.lookUp(s.get, items, func(found [][]resp.Value) Plan {
		values := make([]resp.Value, 0, len(items)*len(found))
		for i := range items {
			for _, column := range found {
				values = append(values, column[i])
			}
		}
		return s.finish(values)
	})
}

// finish returns or stores the values. STORE writes an empty string for a missing value.
func (s *sortCall) finish(values []resp.Value) Plan {
	if !s.storing {
		return answer(resp.MakeArray(values...))
	}
	list := make([][]byte, len(values))
	for i, v := range values {
		list[i] = v.Str
	}
	return s.create(creation{
		key: s.destination, reply: resp.MakeInt(int64(len(list))), few: MaxUnstagedStmts,
		first:    func(c *Call) []store.Stmt { return []store.Stmt{c.drop(s.destination)} },
		value:    func(c *Call, key []byte) []store.Stmt { return c.makeList(key, list) },
		elements: func() addition { return listAddition(tail, list) },
	})
}

// makeList appends the elements to a list that does not exist yet. Without elements it makes no list.
func (c *Call) makeList(key []byte, list [][]byte) []store.Stmt {
	if len(list) == 0 {
		return nil
	}
	stmts := c.pushKey(key, len(list), c.purge(key))
	for part := range c.rounds(list, 1) {
		stmts = append(stmts, c.pushStmts(key, tail, part)...)
	}
	return stmts
}
