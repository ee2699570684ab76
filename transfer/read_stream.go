package transfer

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// streamCalls returns the calls that read a stream's metadata, except its entries, consumers
// and pending entries. The short form of XINFO STREAM includes two entries, which may be large;
// the full form limits them to one.
func streamCalls(key []byte, full bool) [][][]byte {
	about := call("XINFO", []byte("STREAM"), key)
	if full {
		about = append(about, words("FULL", "COUNT", "1")...)
	}
	return [][][]byte{about, call("XINFO", []byte("GROUPS"), key)}
}

// lacksFull records in the lister a server older than Redis 6.
const lacksFull = "XINFO STREAM FULL"

// askStream requests streamCalls and passes the replies to take.
func (r *reader) askStream(t *keyspace.RoundTrip, key []byte, take func(ctx context.Context, about, groups resp.Value) error) {
	full := !r.lister.Lacks(lacksFull)
	t.Add(streamCalls(key, full), func(ctx context.Context, replies []resp.Value) error {
		if v := replies[0]; full && v.IsError() && !isMissing(v) && !wrongType(v) {
			r.lister.Lack(lacksFull)
			var again keyspace.RoundTrip
			r.askStream(&again, key, take)
			return again.Run(ctx, r.session)
		}
		return take(ctx, replies[0], replies[1])
	})
}

// streamState sets the metadata of s from the replies to streamCalls, and reads the consumer
// groups. It returns ErrGone if the stream is missing.
func (r *reader) streamState(ctx context.Context, k *Key, s *rdb.Stream, about, groups resp.Value) error {
	if err := errors.Join(aboutStream(about), aboutStream(groups)); err != nil {
		return err
	}
	s.Last = idAt(about, "last-generated-id")
	s.Deleted = idAt(about, "max-deleted-entry-id")
	s.Added = numberAt(about, "entries-added", k.Count)
	for _, g := range groups.Elems {
		name, _ := fieldOf(g, "name")
		group := rdb.Group{Name: text(name), Last: idAt(g, "last-delivered-id"), Read: numberAt(g, "entries-read", rdb.Unknown)}
		if err := r.consumers(ctx, k.Name, &group); err != nil {
			return err
		}
		s.Groups = append(s.Groups, group)
	}
	return nil
}

// aboutStream returns the error of a reply about a stream: ErrGone if the stream or group is
// missing.
func aboutStream(v resp.Value) error {
	if isMissing(v) || wrongType(v) || v.IsError() && strings.HasPrefix(string(v.Str), "NOGROUP") {
		return ErrGone
	}
	return refused(v)
}

// idAt returns the id at name in a flat map, or 0-0.
func idAt(v resp.Value, name string) rdb.ID {
	e, _ := fieldOf(v, name)
	id, _ := parseID(text(e))
	return id
}

// consumers reads the consumers of a group and their pending entries.
func (r *reader) consumers(ctx context.Context, key []byte, g *rdb.Group) error {
	reply, now, err := r.timed(ctx, call("XINFO", []byte("CONSUMERS"), key, g.Name))
	if err != nil {
		return err
	}
	if err := aboutStream(reply); err != nil {
		return err
	}
	number := map[string]int{}
	for _, c := range reply.Elems {
		name, _ := fieldOf(c, "name")
		consumer := rdb.Consumer{Name: text(name), SeenAt: now - numberAt(c, "idle", 0), ActiveAt: -1}
		if inactive := numberAt(c, "inactive", -1); inactive >= 0 {
			consumer.ActiveAt = now - inactive
		}
		number[string(consumer.Name)] = len(g.Consumers)
		g.Consumers = append(g.Consumers, consumer)
	}
	return r.pending(ctx, key, g, number)
}

// timed runs a command whose reply contains ages, and returns the server's clock at that time
// in Unix ms. It retries if the clock advanced during the command.
func (r *reader) timed(ctx context.Context, args [][]byte) (reply resp.Value, now int64, err error) {
	for range timedAttempts {
		replies, err := r.session.Pipeline(ctx, [][][]byte{call("TIME"), args, call("TIME")})
		if err != nil {
			return reply, 0, err
		}
		reply, now = replies[1], serverNow(replies[0])
		if now == serverNow(replies[2]) {
			break
		}
	}
	return reply, now, nil
}

const timedAttempts = 8

// pendingPage limits the pending entries per request. A server lists that many in a fraction of
// a millisecond.
const pendingPage = 256

// pending reads the pending entries of a group's consumers. number maps consumer names to
// indexes.
func (r *reader) pending(ctx context.Context, key []byte, g *rdb.Group, number map[string]int) error {
	from := []byte("-")
	for {
		reply, now, err := r.timed(ctx, call("XPENDING", key, g.Name, from, []byte("+"), decimal(pendingPage)))
		if err != nil {
			return err
		}
		if err := aboutStream(reply); err != nil {
			return err
		}
		page := reply.Elems
		var last rdb.ID
		for _, e := range page {
			if len(e.Elems) != 4 {
				return errReply
			}
			id, ok := parseID(text(e.Elems[0]))
			idle, ok2 := integer(e.Elems[2])
			times, ok3 := integer(e.Elems[3])
			if !ok || !ok2 || !ok3 {
				return errReply
			}
			last = id
			c := consumerOf(g, text(e.Elems[1]), number)
			c.Pending = append(c.Pending, rdb.Pending{ID: id, DeliveredAt: now - idle, Deliveries: times})
		}
		if len(page) < pendingPage {
			return nil
		}
		next, ok := following(last)
		if !ok {
			return nil
		}
		from = formatID(next)
	}
}

// consumerOf returns the named consumer, created if missing. Pending entries without a consumer
// belong to a consumer with an empty name.
func consumerOf(g *rdb.Group, name []byte, number map[string]int) *rdb.Consumer {
	at, known := number[string(name)]
	if !known {
		at = len(g.Consumers)
		number[string(name)] = at
		g.Consumers = append(g.Consumers, rdb.Consumer{Name: name, ActiveAt: -1})
	}
	return &g.Consumers[at]
}

// following returns the id after id. ok is false for the greatest id.
func following(id rdb.ID) (next rdb.ID, ok bool) {
	next = rdb.ID{Ms: id.Ms, Seq: id.Seq + 1}
	if next.Seq == 0 {
		next.Ms++
	}
	return next, next != rdb.ID{}
}

// streamPages reads a long stream page by page.
func streamPages(k *Key) pager {
	from := []byte("-")
	asked := int64(0)
	return pager{
		call: func(n int64) [][]byte {
			asked = n
			return append(call("XRANGE", k.Name, from), words("+", "COUNT", strconv.FormatInt(n, 10))...)
		},
		take: func(v resp.Value) (Value, bool, error) {
			entries, err := entriesOf(v.Elems)
			if err != nil || int64(len(entries)) < asked {
				return &rdb.Stream{Entries: entries}, true, err
			}
			next, more := following(entries[len(entries)-1].ID)
			from = formatID(next)
			return &rdb.Stream{Entries: entries}, !more, nil
		},
	}
}
