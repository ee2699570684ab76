package translator

import (
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

// seriesRead holds the arguments of TS.READ.
type seriesRead struct {
	cursor string // the first time to read, or -, + or $
	block  int64  // ms to wait for samples, 0 for no limit, -1 not to wait
	least  int64  // samples that end the wait
	most   int64  // samples in the reply, 0 for all
	rest   []int  // the arguments besides BLOCK and its own
}

func (c *Call) parseSeriesRead() (q seriesRead, bad resp.Value) {
	q = seriesRead{cursor: string(c.Args[2]), block: -1, rest: []int{0, 1, 2}}
	block, most := 0, 0
	for i := 3; i < len(c.Args); {
		switch {
		case block == 0 && c.is(i, "BLOCK") && i+2 < len(c.Args):
			block = i
			i += 3
		case most == 0 && c.is(i, "MAX_COUNT") && i+1 < len(c.Args):
			most = i
			q.rest = append(q.rest, i, i+1)
			i += 2
		default:
			return q, commands.WrongArity(c.Command)
		}
	}
	if wrong := q.parseLimits(c, block, most); wrong != "" {
		return q, resp.MakeError("TSDB: " + wrong)
	}
	return q, bad
}

// parseLimits parses the numbers after BLOCK and MAX_COUNT, which are at block and most, 0 for none. It checks the cursor.
func (q *seriesRead) parseLimits(c *Call, block, most int) (wrong string) {
	var ok bool
	if block > 0 {
		if q.block, ok = parseInt(c.Args[block+1]); !ok || q.block < 0 || q.block > math.MaxInt64-c.Env.Now {
			return "BLOCK milliseconds must be a non-negative integer"
		}
		if q.least, ok = parseInt(c.Args[block+2]); !ok || q.least < 1 {
			return "BLOCK min_count must be a positive integer"
		}
	}
	if most > 0 {
		if q.most, ok = parseInt(c.Args[most+1]); !ok || q.most < 1 {
			return "MAX_COUNT must be a positive integer"
		}
		if q.least > q.most {
			return "BLOCK min_count must be <= MAX_COUNT"
		}
	}
	if at, ok := parseInt(c.Args[2]); !slices.Contains([]string{"-", "+", "$"}, q.cursor) && (!ok || at < 0) {
		return "invalid timestamp"
	}
	return ""
}

// from returns the first time to read. ok is false if it is beyond the latest possible time.
func (q *seriesRead) from(s *series) (at int64, ok bool) {
	switch {
	case q.cursor != "-" && q.cursor != "+" && q.cursor != "$":
		at, _ = parseInt([]byte(q.cursor))
	case q.cursor == "-" || s.isEmpty():
	case q.cursor == "+":
		at = s.last.At
	case s.last.At == math.MaxInt64:
		return 0, false
	default:
		at = s.last.At + 1
	}
	return at, true
}

var noBlockingRead = resp.MakeError("TSDB: blocking TS.READ (with BLOCK) is not allowed inside MULTI, EVAL, or a deny-blocking context")

func tsRead(c *Call) Plan {
	q, bad := c.parseSeriesRead()
	if bad.IsError() {
		return answer(bad)
	}
	return c.openSeries(c.Args[1], wrongType, func(s *series) Plan {
		from, ok := q.from(s)
		switch {
		case !s.stored && c.Env.Wait != nil && c.Env.Wait.existed: // the series was deleted during the wait
			return answer(resp.EmptyArray)
		case !s.stored || !ok:
			return answer(q.reply(c, nil))
		}
		find := &seriesRange{from: from, to: maxTime, count: q.most}
		return find.run(s, func(rows []timeseries.Row) Plan { return answer(q.reply(c, rows)) })
	})
}

// reply returns the samples, or null if the call is to wait for more.
func (q *seriesRead) reply(c *Call, rows []timeseries.Row) resp.Value {
	switch {
	case int64(len(rows)) >= q.least:
		return sampleReplies(rows)
	case c.Env.Wait == nil:
		return noBlockingRead
	}
	return resp.NilArray
}

// waitForSamples returns how TS.READ waits. After the timeout the call runs without BLOCK.
func (c *Call) waitForSamples(w Wait) (Wait, bool) {
	q, bad := c.parseSeriesRead()
	w.Type, w.WakeIfMissing, w.Keys, w.Timeout, w.TimeoutReply = seriesType, true, c.Args[1:2], q.block, resp.EmptyArray
	w.ofSeries = true
	for _, i := range q.rest {
		w.TimeoutCall = append(w.TimeoutCall, c.Args[i])
	}
	return w, !bad.IsError() && q.block >= 0
}

// resolveCursor is ResolveEnds for TS.READ.
func (w *Wait) resolveCursor(c *Call) (stmts []store.Stmt, settled func([][]store.Row) [][]byte) {
	return c.seriesStmts(c.Args[1]), func(rows [][]store.Row) [][]byte {
		args := append([][]byte(nil), c.Args...)
		s, bad := c.seriesOf(c.Args[1], rows[0], rows[1], wrongType)
		if bad.IsError() {
			return args // the call replies with the error
		}
		w.existed = s.stored
		q, _ := c.parseSeriesRead()
		if from, ok := q.from(s); ok {
			args[2] = strconv.AppendInt(nil, from, 10)
		}
		w.TimeoutCall[2] = args[2]
		return args
	}
}
