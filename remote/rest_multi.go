package remote

import (
	"context"
	"encoding/json"

	"github.com/meowdis/meowdis/redis/resp"
)

// queued holds a command of a transaction, with its reply if that is already known.
type queued struct {
	args   [][]byte
	answer *resp.Value
}

// startMulti begins a transaction, which is queued here and sent by EXEC. If the endpoint has no transactions,
// the queued commands must not run one by one.
func (r *REST) startMulti(ctx context.Context) (resp.Value, error) {
	if r.multi {
		return resp.MakeError("ERR MULTI calls can not be nested"), nil
	}
	if err := r.probe(ctx); err != nil {
		return resp.Value{}, err
	}
	r.multi = true
	if !r.multiExec {
		r.noMulti, r.dirty = true, true
		return resp.MakeError("ERR this endpoint has no transactions: commands are refused until EXEC or DISCARD"), nil
	}
	return resp.OK, nil
}

// probe detects with one PING whether the endpoint has /multi-exec and whether it encodes strings. The
// original meowdis runs any path as a pipeline, which is not atomic, but its reply has another shape.
func (r *REST) probe(ctx context.Context) error {
	if r.probed {
		return nil
	}
	a, err := r.post(ctx, request{path: "multi-exec", body: []byte(`[["PING"]]`), encoding: base64Encoding, repeatable: true})
	if err != nil {
		return err
	}
	var items []item
	r.multiExec = a.status == 200 && json.Unmarshal(a.body, &items) == nil && len(items) == 1
	first := item{}
	if r.multiExec {
		first = items[0]
	} else if a, err = r.post(ctx, request{body: []byte(`["PING"]`), encoding: base64Encoding, repeatable: true}); err != nil {
		return err
	} else if json.Unmarshal(a.body, &first) != nil {
		first = item{}
	}
	r.base64 = string(first.Result) == `"UE9ORw=="`
	r.probed = true
	return nil
}

func (r *REST) discard() resp.Value {
	if !r.multi {
		return resp.MakeError("ERR DISCARD without MULTI")
	}
	r.endMulti()
	return resp.OK
}

func (r *REST) endMulti() { r.multi, r.dirty, r.noMulti, r.queue = false, false, false, nil }

func (r *REST) enqueue(args [][]byte) resp.Value {
	q := queued{args: args}
	switch name := commandName(args); {
	case r.noMulti:
		return resp.MakeError("ERR MULTI was refused, since this endpoint has no transactions; DISCARD ends it")
	case name == "UNWATCH":
		q.answer = &resp.OK
	case name == "SELECT":
		r.dirty = true
		return resp.MakeError("ERR SELECT inside MULTI is not available over REST")
	case !r.fitsJSON(args):
		r.dirty = true
		return resp.MakeError("ERR bytes that are not UTF-8 cannot be part of a transaction over REST")
	}
	r.queue = append(r.queue, q)
	return resp.Queued
}

func (r *REST) exec(ctx context.Context) (resp.Value, error) {
	if !r.multi {
		return resp.MakeError("ERR EXEC without MULTI"), nil
	}
	queue, dirty := r.queue, r.dirty
	r.endMulti()
	if dirty {
		return resp.MakeError("EXECABORT Transaction discarded because of previous errors."), nil
	}
	var calls [][][]byte
	for _, q := range queue {
		if q.answer == nil {
			calls = append(calls, q.args)
		}
	}
	var replies []resp.Value
	if len(calls) > 0 {
		a, err := r.post(ctx, request{path: "multi-exec", body: jsonCommands(calls), encoding: r.encoding(), repeatable: Repeatable(calls)})
		if err != nil {
			return resp.Value{}, err
		}
		var whole *resp.Value
		if replies, whole, err = r.items(a, calls, len(calls)); err != nil || whole != nil {
			return deref(whole), err
		}
	}
	v := resp.EmptyArray
	for _, q := range queue {
		if q.answer != nil {
			v.Elems = append(v.Elems, *q.answer)
			continue
		}
		v.Elems = append(v.Elems, replies[0])
		replies = replies[1:]
	}
	return v, nil
}

func deref(v *resp.Value) resp.Value {
	if v == nil {
		return resp.Value{}
	}
	return *v
}
