package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Plan is the translation of a call. It is one of three things, or of four with Env.MayStage:
//
//   - an answer: Batch has no statements, Reply is the reply;
//   - a batch: Decode makes the reply from its rows;
//   - a read-modify-write step: Then makes the next plan from its rows. Every step except the last only reads. The
//     engine runs the steps in one transaction, or guards the last step by the versions of the call's keys and of the
//     keys in Reads;
//   - a staged build: Staged creates a large key in slices.
type Plan struct {
	Reply  resp.Value
	Batch  store.Batch
	Decode func(*store.Result) resp.Value
	Then   func(*store.Result) Plan

	// Keys are the keys that the call may change, nil for any, as in store.Batch. The engine copies them to the plan's
	// batches that write.
	Keys [][]byte

	// Expensive marks a plan that takes long to make and does not depend on the time: every attempt uses the first one.
	Expensive bool

	// Staged, unless nil, replaces Batch: the call creates a large key and Env.MayStage is set.
	Staged *Staged

	// Reads lists the keys that a step reads and KeysOf cannot find, because an earlier step returned their names (SORT
	// BY weight_*).
	Reads [][]byte
}

// answer plans a reply without a store.
func answer(v resp.Value) Plan { return Plan{Reply: v} }

// fail plans the error reply msg.
func fail(msg string) Plan { return answer(resp.MakeError(msg)) }

// read plans statements that write nothing.
func read(decode func(*store.Result) resp.Value, stmts ...store.Stmt) Plan {
	return Plan{Batch: store.Batch{Stmts: stmts, ReadOnly: true}, Decode: decode}
}

// write plans statements that take effect together.
func write(decode func(*store.Result) resp.Value, stmts ...store.Stmt) Plan {
	return Plan{Batch: store.Batch{Stmts: stmts}, Decode: decode}
}

// readThen plans a step that reads. next makes the next plan, in the same transaction.
func readThen(next func(*store.Result) Plan, stmts ...store.Stmt) Plan {
	return Plan{Batch: store.Batch{Stmts: stmts, ReadOnly: true}, Then: next}
}

// readPart is readThen for rows that use does not keep: they no longer count when next plans. w is the work so far.
func readPart(w *store.Work, use func(*store.Result), next func() Plan, stmts ...store.Stmt) Plan {
	before := w.Used()
	return readThen(func(r *store.Result) Plan {
		rows := r.Work.Used() - before
		use(r)
		r.Work.Release(rows)
		return next()
	}, stmts...)
}

// The functions below make decoders. The index of a statement is i.

// always decodes any rows to v.
func always(v resp.Value) func(*store.Result) resp.Value {
	return func(*store.Result) resp.Value { return v }
}

// intOf decodes the integer in the first cell of statement i, 0 without a row.
func intOf(i int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value { return resp.MakeInt(firstInt(r, i)) }
}

// forReply returns s, whose rows only the reply needs. Without them, the reply is 0.
func (c *Call) forReply(s store.Stmt) store.Stmt {
	if c.Env.Reply.ErrorsOnly && !c.Env.InScript {
		s.SkipIf = func(store.Result) bool { return true }
	}
	return s
}

// changed decodes the number of rows that statement i changed.
func changed(i int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value { return resp.MakeInt(r.Changes[i]) }
}

// changedEither decodes the number of rows that statements i and j changed.
func changedEither(i, j int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value { return resp.MakeInt(r.Changes[i] + r.Changes[j]) }
}

// countRows returns the number of rows of all statements.
func countRows(r *store.Result) resp.Value {
	n := 0
	for _, rows := range r.Rows {
		n += len(rows)
	}
	return resp.MakeInt(int64(n))
}

// bulkOf decodes the first cell of statement i as a bulk, nil without a row.
func bulkOf(i int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		if len(r.Rows[i]) == 0 {
			return resp.Nil
		}
		return bulk(r.Rows[i][0][0])
	}
}

// bulk returns a cell as a bulk string: NULL as nil, a number as Redis prints a score.
func bulk(v store.Value) resp.Value {
	switch v.Kind() {
	case store.Null:
		return resp.Nil
	case store.Real, store.Integer:
		return resp.MakeString(resp.FormatDouble(v.Float()))
	}
	return resp.MakeBulk(v.Bytes())
}

// bulks returns every row's first cell as an array of bulk strings.
func bulks(rows []store.Row) resp.Value {
	elems := make([]resp.Value, len(rows))
	for i, row := range rows {
		switch cell := &row[0]; cell.Kind() {
		case store.Text, store.Blob: // avoids a copy of the whole value
			elems[i].Kind, elems[i].Str = resp.Bulk, cell.Bytes()
		default:
			elems[i] = bulk(*cell)
		}
	}
	return resp.Value{Kind: resp.Array, Elems: elems}
}

// integers returns every row's first cell as an array of integers.
func integers(rows []store.Row) resp.Value {
	elems := make([]resp.Value, len(rows))
	for i, row := range rows {
		elems[i] = resp.MakeInt(row[0].Int())
	}
	return resp.Value{Kind: resp.Array, Elems: elems}
}

// pairs returns every row's first two cells as a flat list of bulk strings of the given kind (Array or Map).
func pairs(kind resp.Kind, rows []store.Row) resp.Value {
	elems := make([]resp.Value, 0, 2*len(rows))
	for _, row := range rows {
		elems = append(elems, bulk(row[0]), bulk(row[1]))
	}
	return resp.Value{Kind: kind, Elems: elems}
}

// scored returns rows of member and score as a Scored reply.
func scored(rows []store.Row) resp.Value {
	elems := make([]resp.Value, 0, 2*len(rows))
	for _, row := range rows {
		elems = append(elems, bulk(row[0]), resp.MakeDouble(row[1].Float()))
	}
	return resp.Value{Kind: resp.Scored, Elems: elems}
}

// readElements plans a read of elements: decode makes the reply from the rows of stmts. If stmts have no rows, a last
// statement reads the type of the key. The reply is then missing for a missing key, WRONGTYPE for a type other than
// want, and otherwise decode's.
func (c *Call) readElements(want string, missing resp.Value, decode func(*store.Result) resp.Value, key []byte, stmts ...store.Stmt) Plan {
	typeOf := c.typeOf(key)
	typeOf.SkipIf = hasRows
	last := len(stmts)
	return read(func(r *store.Result) resp.Value {
		if !hasRows(store.Result{Rows: r.Rows[:last]}) {
			switch {
			case len(r.Rows[last]) == 0:
				return missing
			case string(r.Rows[last][0][0].Bytes()) != want:
				return wrongType
			}
		}
		return decode(r)
	}, append(stmts, typeOf)...)
}

// hasRows reports whether any of the results so far has rows.
func hasRows(before store.Result) bool {
	for _, rows := range before.Rows {
		if len(rows) > 0 {
			return true
		}
	}
	return false
}

func firstInt(r *store.Result, i int) int64 {
	if len(r.Rows[i]) == 0 {
		return 0
	}
	return r.Rows[i][0][0].Int()
}

// checkType guards a read whose statement 0 is typeOf. The reply is missing for a missing key, WRONGTYPE for a type
// other than want, and otherwise decode's.
func checkType(want string, missing resp.Value, decode func(*store.Result) resp.Value) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return missing
		}
		if string(r.Rows[0][0][0].Bytes()) != want {
			return wrongType
		}
		return decode(r)
	}
}
