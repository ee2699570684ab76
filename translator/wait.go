package translator

import (
	"math"
	"math/big"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/longdouble"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Wait describes how a blocking call waits, outside a transaction: redis.io/docs/latest/develop/reference/.
type Wait struct {
	Keys          [][]byte   // the call is retried after one of them changes; none for WAIT
	Type          string     // only if the key has this type
	WakeIfMissing bool       // also if the key is missing or has another type
	Timeout       int64      // ms, 0 for no limit
	TimeoutReply  resp.Value // the reply after the timeout
	TimeoutCall   [][]byte   // runs after the timeout and replies instead; nil for none
	firstEndID    int        // index of the first ID of a stream in the args, 0 if none refers to the end of a stream
	ofSeries      bool       // the call is TS.READ
	existed       bool       // the series of TS.READ existed at the beginning
}

// BlockingWait returns how a call of a blocking command waits if its reply is null; a call without keys waits whatever
// the reply. ok is false for a call that does not wait: XREAD without BLOCK, and any call with an invalid argument.
func BlockingWait(cmd *commands.Command, args [][]byte, env Env) (w Wait, ok bool) {
	c := &Call{Command: cmd, Args: args, Env: env}
	w.TimeoutReply = resp.NilArray
	bad := ""
	last := len(args) - 1
	switch cmd.Name {
	case "BLPOP", "BRPOP":
		w.Type, w.Keys = listType, args[1:last]
		w.Timeout, bad = c.seconds(last)
	case "BZPOPMIN", "BZPOPMAX":
		w.Type, w.Keys = zsetType, args[1:last]
		w.Timeout, bad = c.seconds(last)
	case "BLMOVE", "BRPOPLPUSH":
		w.Type, w.Keys = listType, args[1:2]
		w.Timeout, bad = c.seconds(last)
	case "BLMOVEM":
		w.Type, w.Keys = listType, args[1:2]
		w.Timeout, bad = c.seconds(5)
	case "BLMPOP":
		w.Type, w.Keys = listType, cmd.KeyNames(args)
		w.Timeout, bad = c.seconds(1)
	case "BZMPOP":
		w.Type, w.Keys = zsetType, cmd.KeyNames(args)
		w.Timeout, bad = c.seconds(1)
	case "XREAD", "XREADGROUP":
		return c.waitForRead(w)
	case "TS.READ":
		return c.waitForSamples(w)
	case "WAIT":
		n, _ := parseInt(args[1])
		w.TimeoutReply = resp.Zero
		w.Timeout, bad = c.milliseconds(2)
		return w, bad == "" && n > 0
	case "WAITAOF":
		n, _ := parseInt(args[2])
		w.TimeoutReply = resp.MakeArray(resp.Zero, resp.Zero)
		w.Timeout, bad = c.milliseconds(3)
		return w, bad == "" && n > 0
	}
	return w, bad == "" && len(w.Keys) > 0
}

func (c *Call) waitForRead(w Wait) (Wait, bool) {
	q, bad := c.parseRead(c.Command.Name == "XREADGROUP")
	w.Type, w.WakeIfMissing, w.Keys, w.Timeout = streamType, q.group, q.keys, q.block
	for _, id := range q.ids {
		if id.end || id.last {
			w.firstEndID = len(c.Args) - len(q.ids)
		}
	}
	return w, bad == "" && q.block >= 0
}

// ReadsFromEnd reports whether the call reads from the end of a stream, or is TS.READ. The end must be resolved with
// ResolveEnds before the first try.
func (w *Wait) ReadsFromEnd() bool { return w.firstEndID > 0 || w.ofSeries }

// ResolveEnds returns a statement for each key, and a function that makes the args of the call from their rows. It
// replaces $ with the present end of the stream, and + as well if the stream has no entries.
func (w *Wait) ResolveEnds(args [][]byte, env Env) (stmts []store.Stmt, settled func([][]store.Row) [][]byte) {
	c := &Call{Args: args, Env: env}
	if w.ofSeries {
		return w.resolveCursor(c)
	}
	for _, key := range w.Keys {
		stmts = append(stmts, c.streamMeta(key))
	}
	return stmts, func(rows [][]store.Row) [][]byte {
		ids := append([][]byte(nil), args...)
		for i := range w.Keys {
			at := w.firstEndID + i
			m, bad := metaOf(rows[i])
			end := string(args[at]) == "$" || string(args[at]) == "+" && m.length == 0
			if end && !bad.IsError() {
				ids[at] = []byte(m.last.String())
			}
		}
		return ids
	}
}

// seconds parses the timeout in argument i and returns it in ms, rounded up.
func (c *Call) seconds(i int) (ms int64, bad string) {
	given, ok := longdouble.Parse(c.Args[i])
	if !ok {
		return 0, "ERR timeout is not a float or out of range"
	}
	exact := new(big.Float).Mul(given, big.NewFloat(1000))
	latest := new(big.Float).SetInt64(math.MaxInt64 - c.Env.Now)
	switch {
	case exact.Cmp(big.NewFloat(-1)) <= 0:
		return 0, errNegativeTimeout
	case exact.Cmp(latest) > 0:
		return 0, errLateTimeout
	}
	ms, accuracy := exact.Int64()
	if accuracy == big.Below {
		ms++
	}
	return max(ms, 0), ""
}

// milliseconds parses the timeout in argument i.
func (c *Call) milliseconds(i int) (ms int64, bad string) { return Milliseconds(c.Args[i], c.Env.Now) }

// Milliseconds parses a timeout in ms. bad is the error if it is invalid, or too long when counted from now in Unix ms.
func Milliseconds(arg []byte, now int64) (ms int64, bad string) {
	switch ms, ok := parseInt(arg); {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case ms < 0:
		return 0, errNegativeTimeout
	case ms > math.MaxInt64-now:
		return 0, errLateTimeout
	default:
		return ms, ""
	}
}

const (
	errNegativeTimeout = "ERR timeout is negative"
	errLateTimeout     = "ERR timeout is out of range"
)

// ReadType returns the statement that reads the type of a key. A missing key has no row.
func ReadType(env Env, key []byte) store.Stmt {
	c := Call{Env: env}
	return c.typeOf(key)
}
