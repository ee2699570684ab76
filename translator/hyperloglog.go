package translator

import (
	"github.com/meowdis/meowdis/redis/hyperloglog"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var hyperloglogTranslations = translations{
	{"PFADD", pfadd},
	{"PFCOUNT", pfcount},
	{"PFMERGE", pfmerge},
}

var notHLL = resp.MakeError("WRONGTYPE Key is not a valid HyperLogLog string value.")

// loadHLL returns the HyperLogLog in the rows of sqlGet, nil for a missing key.
func loadHLL(rows []store.Row) (hyperloglog.Sketch, resp.Value) {
	if len(rows) == 0 {
		return nil, resp.Value{}
	}
	v := rows[0][0]
	switch {
	case v.IsNull():
		return nil, wrongType
	case !hyperloglog.Valid(v.Bytes()):
		return nil, notHLL
	}
	return hyperloglog.Sketch(v.Bytes()), resp.Value{}
}

func pfadd(c *Call) Plan {
	key, most := c.Args[1], c.limits().HLLBytes
	return readThen(func(r *store.Result) Plan {
		h, bad := loadHLL(r.Rows[0])
		if bad.IsError() {
			return answer(bad)
		}
		changed := h == nil
		if h == nil {
			h = hyperloglog.New()
		}
		for _, element := range c.Args[2:] {
			grew, err := h.Add(element, most)
			if err != nil {
				return fail(err.Error())
			}
			changed = changed || grew
		}
		if !changed {
			return answer(resp.Zero)
		}
		h.Invalidate()
		return write(always(resp.One), c.setString(nil, key, h, expiry{keep: true})...)
	}, c.stmt(sqlGet, key))
}

// stepsPerHLL is the cost of merging the registers of a HyperLogLog.
const stepsPerHLL = 1 << 13

// pfcount only reads. Unlike Redis it does not refresh the cardinality cached in the value.
func pfcount(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		var union hyperloglog.Union
		for _, rows := range r.Rows {
			h, bad := loadHLL(rows)
			if bad.IsError() {
				return bad
			}
			if h == nil {
				continue
			}
			if n, valid := h.Cached(); valid && len(r.Rows) == 1 {
				return resp.MakeInt(n)
			}
			r.Work.Step(stepsPerHLL)
			if err := union.Merge(h); err != nil {
				return resp.MakeError(err.Error())
			}
		}
		return resp.MakeInt(union.Count())
	}, c.getEach(c.Args[1:])...)
}

// getEach returns the statements that read each of keys with sqlGet.
func (c *Call) getEach(keys [][]byte) []store.Stmt {
	stmts := make([]store.Stmt, len(keys))
	for i, key := range keys {
		stmts[i] = c.stmt(sqlGet, key)
	}
	return stmts
}

func pfmerge(c *Call) Plan {
	return readThen(func(r *store.Result) Plan {
		var union hyperloglog.Union
		dense := false
		for _, rows := range r.Rows {
			h, bad := loadHLL(rows)
			if bad.IsError() {
				return answer(bad)
			}
			if h == nil {
				continue
			}
			dense = dense || h.IsDense()
			if err := union.Merge(h); err != nil {
				return fail(err.Error())
			}
		}
		dest, _ := loadHLL(r.Rows[0])
		if dest == nil {
			dest = hyperloglog.New()
		}
		if err := dest.RaiseTo(&union, dense, c.limits().HLLBytes); err != nil {
			return fail(err.Error())
		}
		return write(decodeOK, c.setString(nil, c.Args[1], dest, expiry{keep: true})...)
	}, c.getEach(c.Args[1:])...)
}
