package translator

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/meowdis/meowdis/redis/partialsort"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var sortTranslations = translations{
	{"SORT", sortCommand(true)},
	{"SORT_RO", sortCommand(false)},
}

// sorting is a call of SORT. Its steps are: read the elements; read the keys that
// they are sorted by; read the keys to answer; store the answer. Those that there
// is nothing to do for are left out.
type sorting struct {
	*Call
	by            *derived // nil: the elements themselves
	get           []derived
	offset, count int64 // count < 0: all
	unsorted      bool  // BY a pattern that names one key for all
	desc, alpha   bool
	destination   []byte
	storing       bool
	room          int64 // store.Result's, when the elements were read
}

func sortCommand(mayStore bool) func(*Call) Plan {
	return func(c *Call) Plan {
		s := sorting{Call: c, count: -1}
		if bad := s.parse(mayStore); bad != "" {
			return fail(bad)
		}
		return readThen(s.elementsRead, s.elementStmts()...)
	}
}

func (s *sorting) parse(mayStore bool) (bad string) {
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
			by := derive(s.Args[i])
			s.by = &by
			// As in Redis a later BY does not take back an earlier constant one.
			s.unsorted = s.unsorted || by.constant()
		case s.is(i, "GET") && more >= 1:
			i++
			s.get = append(s.get, derive(s.Args[i]))
		default:
			return errSyntax
		}
	}
	return ""
}

// The elements in the order of the key, of whichever type it is. LIMIT and DESC
// are part of the statement only where nothing is sorted.
const (
	window          = ` LIMIT CAST(?4 AS INTEGER) OFFSET CAST(?5 AS INTEGER)`
	sqlSortList     = `SELECT value FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos` + window
	sqlSortListDesc = `SELECT value FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos DESC` + window
	sqlSortSet      = `SELECT member FROM sets WHERE key_id = ` + liveID + ` ORDER BY seq` + window
	sqlSortZSet     = `SELECT member FROM zsets WHERE key_id = ` + liveID + ` ORDER BY score, member` + window
	sqlSortZSetDesc = `SELECT member FROM zsets WHERE key_id = ` + liveID + ` ORDER BY score DESC, member DESC` + window
)

func (s *sorting) elementStmts() []store.Stmt {
	count, offset, key := s.count, s.offset, s.Args[1]
	if !s.unsorted {
		count, offset = -1, 0
	}
	part := []store.Value{store.Digits(max(count, -1)), store.Digits(max(offset, 0))}
	all := []store.Value{store.Digits(-1), store.Digits(0)}
	list, set, zset := sqlSortList, part, sqlSortZSet
	switch {
	case s.unsorted && (s.storing || s.Env.InScript):
		set = all // a set is sorted after all
	case s.unsorted:
		// A few more than those of a set that has an order of its own are all that LIMIT cuts.
		rows := int64(-1)
		if s.count >= 0 {
			rows = max(s.limits().SetIntegers, clampLength(max(offset, 0))+clampLength(count)) + 1
		}
		set = []store.Value{store.Digits(rows), store.Digits(0)}
	}
	if s.unsorted && s.desc {
		list, zset = sqlSortListDesc, sqlSortZSetDesc
	}
	return []store.Stmt{s.typeOf(key), s.stmt(list, key, part...), s.stmt(sqlSortSet, key, set...), s.stmt(zset, key, part...)}
}

// item is an element and what it is sorted by.
type item struct {
	element []byte
	score   float64
	text    []byte
	missing bool // the key to sort by
}

// elementsRead goes on with the elements.
func (s *sorting) elementsRead(r *store.Result) Plan {
	s.room = r.Work.Room()
	typ := ""
	if len(r.Rows[0]) > 0 {
		typ = string(r.Rows[0][0][0].Bytes())
	}
	switch typ {
	case "", listType, setType, zsetType:
	default:
		return answer(wrongType)
	}
	var items []item
	for _, rows := range r.Rows[1:] {
		for _, row := range rows {
			items = append(items, item{element: row[0].Bytes()})
		}
	}
	switch {
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
	return s.lookUp([]derived{*s.by}, items, func(values [][]resp.Value) Plan {
		for i := range items {
			items[i].text, items[i].missing = values[0][i].Str, values[0][i].IsNull()
		}
		return s.sort(items)
	})
}

// window is the part of n items that LIMIT asks for.
func (s *sorting) window(n int) (first, last int) {
	first, last = int(min(max(s.offset, 0), int64(n))), n
	if s.count >= 0 {
		last = first + int(min(s.count, int64(n-first)))
	}
	return first, last
}

// orderIntegers brings the members of a set into the order of Redis's compact form, when
// all are integers and no more than most.
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
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(values[string(a.element)], values[string(b.element)]) })
}

// sort orders the items and cuts out the part that LIMIT asks for.
func (s *sorting) sort(items []item) Plan {
	if !s.alpha {
		for i := range items {
			var ok bool
			if items[i].score, ok = looseFloat(items[i].text); !ok && !items[i].missing {
				return fail("ERR One or more scores can't be converted into double")
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

// compare orders by number and then by the elements themselves, or by text. Text
// ends at a NUL when it is compared for an answer, as in Redis.
func (s *sorting) compare(a, b item) int {
	switch {
	case !s.alpha:
		return cmp.Or(cmp.Compare(a.score, b.score), bytes.Compare(a.element, b.element))
	case a.missing || b.missing:
		return cmp.Compare(truth(b.missing), truth(a.missing))
	case s.storing:
		return bytes.Compare(a.text, b.text)
	}
	return bytes.Compare(cString(a.text), cString(b.text))
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// answerWith answers or stores what the GET patterns make of the items, in the
// order of the items.
func (s *sorting) answerWith(items []item) Plan {
	if len(s.get) == 0 {
		values := make([]resp.Value, len(items))
		for i := range items {
			values[i] = resp.MakeBulk(items[i].element)
		}
		return s.finish(values)
	}
	if !fits(s.room, int64(len(items)*len(s.get))) {
		return answer(store.TooMuch)
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

// finish ends the call with the values. What a STORE misses is an empty string.
func (s *sorting) finish(values []resp.Value) Plan {
	if !s.storing {
		return answer(resp.MakeArray(values...))
	}
	list := make([][]byte, len(values))
	for i, v := range values {
		list[i] = v.Str
	}
	return s.make(making{
		key: s.destination, reply: resp.MakeInt(int64(len(list))), few: AsideFew,
		first: func(c *Call) []store.Stmt { return []store.Stmt{c.drop(s.destination)} },
		value: func(c *Call, key []byte) []store.Stmt { return c.makeList(key, list) },
	})
}

// makeList appends the elements to a list that is not there yet; none make no
// list.
func (c *Call) makeList(key []byte, list [][]byte) []store.Stmt {
	if len(list) == 0 {
		return nil
	}
	stmts := c.pushKey(key, len(list), c.purge(key))
	for part := range c.rounds(list, 1) {
		stmts = append(stmts, c.pushed(key, tail, part)...)
	}
	return stmts
}
