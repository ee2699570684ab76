package repl

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// doPolling runs a command. It repeats a stream read with BLOCK if the target does not
// support blocking.
func (l *loop) doPolling(ctx context.Context, args [][]byte) (resp.Value, error) {
	if l.Target.PollEvery <= 0 || l.multi {
		return l.Target.Do(ctx, args...)
	}
	p, ok := pollOf(args)
	if !ok {
		return l.Target.Do(ctx, args...)
	}
	if l.Terminal {
		l.note("REST endpoints do not block: repeating the command until it replies; Ctrl-C ends")
	}
	if err := p.resolveLastIDs(ctx, l.Target.Do); err != nil {
		return resp.Value{}, err
	}
	var late <-chan time.Time
	if p.wait > 0 {
		late = time.After(p.wait)
	}
	tick := time.NewTicker(l.Target.PollEvery)
	defer tick.Stop()
	for {
		v, err := l.Target.Do(ctx, p.args...)
		if err != nil || !v.IsNull() {
			return v, err
		}
		select {
		case <-tick.C:
		case <-late:
			return v, nil
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
}

// poll repeats an XREAD or XREADGROUP.
type poll struct {
	args [][]byte      // without BLOCK
	wait time.Duration // total time; 0 for no limit
	keys int           // index of the first key in args
}

// pollOf parses a command; ok is false if it is not a blocking stream read.
func pollOf(args [][]byte) (p poll, ok bool) {
	word := func(i int) string { return strings.ToUpper(string(args[i])) }
	if len(args) == 0 || word(0) != "XREAD" && word(0) != "XREADGROUP" {
		return p, false
	}
	p.args = slices.Clone(args)
	for i := 1; i < len(p.args); i++ {
		switch strings.ToUpper(string(p.args[i])) {
		case "GROUP":
			i += 2 // its two names
		case "BLOCK":
			if i+1 == len(p.args) {
				return p, false
			}
			ms, err := strconv.ParseInt(string(p.args[i+1]), 10, 32)
			if err != nil || ms < 0 {
				return p, false // the target reports the error
			}
			p.wait, ok = time.Duration(ms)*time.Millisecond, true
			p.args = slices.Delete(p.args, i, i+2)
			i--
		case "STREAMS":
			p.keys = i + 1
			return p, ok && (len(p.args)-p.keys)%2 == 0
		}
	}
	return p, false
}

// resolveLastIDs replaces $ by the current last ID of the stream.
func (p *poll) resolveLastIDs(ctx context.Context, do func(context.Context, ...[]byte) (resp.Value, error)) error {
	n := (len(p.args) - p.keys) / 2
	for i := range n {
		id := &p.args[p.keys+n+i]
		if string(*id) != "$" {
			continue
		}
		v, err := do(ctx, []byte("XREVRANGE"), p.args[p.keys+i], []byte("+"), []byte("-"), []byte("COUNT"), []byte("1"))
		if err != nil {
			return err
		}
		switch {
		case v.IsError(): // the read itself reports the error
		case len(v.Elems) > 0 && len(v.Elems[0].Elems) > 0:
			*id = v.Elems[0].Elems[0].Str
		default:
			*id = []byte("0")
		}
	}
	return nil
}
