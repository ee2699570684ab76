package translator

import (
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/meowdis/meowdis/store"
)

// listSQL is SQL about a list of elements. It reads them from json_each(?4) AS j, with the argument of hashedJSON. For
// a few elements the text is changed to read them from separate arguments, ?4 and up, since decoding JSON would take
// most of the time. More arguments are numbered as if the list had one element: from ?6 if it is a name, from ?7 if it
// has a value.
type listSQL struct {
	json  string
	width int // words per element
	few   [boundElementsLimit + 1]atomic.Pointer[string]
}

// boundElementsLimit keeps a statement well below 100 arguments, the limit of some engines.
const boundElementsLimit = 10

// MaxBoundElements is the number of elements or keys bound as separate arguments, boundElementsLimit at most. The
// result of a command does not depend on it. It is a variable for tests.
var MaxBoundElements = boundElementsLimit

func newListSQL(width int, json string) *listSQL { return &listSQL{json: json, width: width} }

// stmt returns the statement for a list.
func (l *listSQL) stmt(c *Call, key []byte, list [][]byte, more ...store.Value) store.Stmt {
	n := len(list) / l.width
	if n > MaxBoundElements {
		args := c.key(key, hashedJSON(list, l.width))
		if len(more) > 0 {
			args = append(append(args, make([]store.Value, l.width)...), more...)
		}
		return store.Stmt{SQL: l.json, Args: args}
	}
	args := append(make([]store.Value, 0, 3+n+len(list)+len(more)), store.Int(int64(c.Env.DB)), store.Bytes(key), store.Int(c.Env.Now))
	for i, word := range list {
		if i%l.width == 0 {
			args = append(args, hashValue(word))
		}
		args = append(args, store.Bytes(word))
	}
	return store.Stmt{SQL: l.text(n), Args: append(args, more...)}
}

// text returns the SQL for n elements.
func (l *listSQL) text(n int) string {
	if sql := l.few[n].Load(); sql != nil {
		return *sql
	}
	number := func(i int) string { return "?" + strconv.Itoa(i) }
	rows := make([]string, n)
	for i := range rows {
		columns := make([]string, l.width+2)
		for j := range l.width + 1 {
			columns[j] = number(4 + i*(l.width+1) + j)
		}
		columns[l.width+1] = strconv.Itoa(i)
		rows[i] = "(" + strings.Join(columns, ", ") + ")"
	}
	after := 4 + n*(l.width+1)
	sql := strings.NewReplacer(number(5+l.width), number(after), number(6+l.width), number(after+1),
		`json_each(?4) j`, `(VALUES `+strings.Join(rows, ", ")+`) j`,
		`json_array_length(?4)`, strconv.Itoa(n), itemHash, `j.column1`, itemName, `j.column2`, itemValue, `j.column3`, `j.key`, `j.column`+strconv.Itoa(l.width+2)).Replace(l.json)
	l.few[n].Store(&sql)
	return sql
}

// keyListSQL is SQL about a list of keys. It reads them from json_each(?2) AS j, or from separate arguments, ?4 and up,
// if they are few.
type keyListSQL struct {
	json string
	few  [boundElementsLimit + 1]atomic.Pointer[string]
}

// stmt returns the statement for keys.
func (k *keyListSQL) stmt(c *Call, keys [][]byte) store.Stmt {
	n := len(keys)
	if n > MaxBoundElements {
		return store.Stmt{SQL: k.json, Args: c.list(keys)}
	}
	args := append(make([]store.Value, 0, 3+n), store.Int(int64(c.Env.DB)), store.Value{}, store.Int(c.Env.Now))
	for _, key := range keys {
		args = append(args, store.Bytes(key))
	}
	return store.Stmt{SQL: k.text(n), Args: args}
}

// text returns the SQL for n keys.
func (k *keyListSQL) text(n int) string {
	if sql := k.few[n].Load(); sql != nil {
		return *sql
	}
	rows := make([]string, n)
	for i := range rows {
		rows[i] = "(?" + strconv.Itoa(4+i) + ", " + strconv.Itoa(i) + ")"
	}
	sql := strings.NewReplacer(`json_each(?2) j`, `(VALUES `+strings.Join(rows, ", ")+`) j`, `unhex(j.value)`, `j.column1`, `j.key`, `j.column2`).Replace(k.json)
	k.few[n].Store(&sql)
	return sql
}
