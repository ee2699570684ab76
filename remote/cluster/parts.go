package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
)

// part holds a command for one node.
type part struct {
	args    [][]byte
	keys    [][]byte
	slot    int    // of the keys; -1 for a command of a node
	address string // of the node, without a slot
	home    int    // without a slot: one of the node's slots, whose next owner replaces a dead node; -1 for any node
	ask     string // the node that an ASK named
	reads   bool   // a replica may reply
	reply   resp.Value
	from    string // the node that replied
	done    bool
}

// target returns the node to send the part to, "" if no node serves its slot.
func (s *Session) target(p *part) string {
	switch {
	case p.ask != "":
		return p.ask
	case p.slot < 0:
		return p.address
	}
	owner := s.owner(p.slot)
	if replicas := s.slots.replicas[owner]; p.reads && s.o.Replicas && len(replicas) > 0 {
		return replicas[rand.IntN(len(replicas))]
	}
	return owner
}

// run sends parts to their nodes at the same time, and follows redirections and failovers until the parts have
// replies, or for s.patience.
func (s *Session) run(ctx context.Context, parts []*part) error {
	deadline := time.Now().Add(s.patience())
	for attempt := 1; ; attempt++ {
		last := !time.Now().Before(deadline)
		groups, addresses := s.group(parts)
		if len(groups) == 0 {
			return nil
		}
		failed := each(addresses, func(at string) error { return send(ctx, s.nodes[at], groups[at]) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		verdict := s.judge(addresses, groups, failed)
		switch {
		case verdict.err != nil && (last || !verdict.mayRepeat):
			return verdict.err
		case last:
			return nil // with the replies that asked for another attempt
		case verdict.stale:
			if err := s.renew(ctx, verdict.owner); err != nil && ctx.Err() != nil {
				return err
			}
			s.replace(parts)
		}
		if verdict.waits || attempt > 3 {
			if err := wait(ctx, attempt); err != nil {
				return err
			}
		}
	}
}

// group returns the unfinished parts by node. Parts of slots that no node serves are in the group "".
func (s *Session) group(parts []*part) (groups map[string][]*part, addresses []string) {
	groups = map[string][]*part{}
	for _, p := range parts {
		if p.done {
			continue
		}
		at := s.target(p)
		if at == "" {
			p.reply = resp.MakeError("CLUSTERDOWN Hash slot not served")
		} else if groups[at] == nil {
			addresses = append(addresses, at)
			s.node(at) // added here, because nodes are asked at the same time
		}
		groups[at] = append(groups[at], p)
	}
	return groups, addresses
}

var asking = [][]byte{[]byte("ASKING")}

// send sends parts to a node.
func send(ctx context.Context, node *remote.Redis, parts []*part) error {
	var calls [][][]byte
	for _, p := range parts {
		if p.ask != "" {
			calls = append(calls, asking)
		}
		calls = append(calls, p.args)
	}
	replies, err := node.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	i := 0
	for _, p := range parts {
		if p.ask != "" {
			i++
		}
		p.reply, p.from = replies[i], node.Address()
		i++
	}
	return nil
}

// verdict says how to continue after a round of replies.
type verdict struct {
	err       error  // of a node
	mayRepeat bool   // the commands for that node had no effect, or may run twice
	stale     bool   // the slots have moved
	owner     string // a node that knows where to
	waits     bool   // another attempt at once would fail, too
}

// judge marks the parts that are done.
func (s *Session) judge(addresses []string, groups map[string][]*part, failed map[string]error) verdict {
	v := verdict{mayRepeat: true}
	if len(groups[""]) > 0 {
		v.stale, v.waits = true, true
	}
	for _, at := range addresses {
		if err := failed[at]; err != nil {
			v.err, v.stale, v.waits = err, true, true
			for _, p := range groups[at] {
				p.reads, p.ask = false, ""
				v.mayRepeat = v.mayRepeat && (errors.Is(err, remote.ErrUnreachable) || remote.Repeatable([][][]byte{p.args}))
			}
			continue
		}
		s.last = at
		for _, p := range groups[at] {
			s.judgePart(p, &v)
		}
	}
	return v
}

func (s *Session) judgePart(p *part, v *verdict) {
	p.ask = ""
	to, redirected := s.readRedirect(p.reply, p.from)
	switch {
	case redirected && to.ask:
		p.ask = to.address
	case redirected:
		s.note(to)
		v.stale, v.owner, p.slot, p.reads = true, to.address, to.slot, p.reads && p.slot >= 0
	case has(p.reply, "TRYAGAIN"), has(p.reply, "LOADING"):
		v.waits = true
	case has(p.reply, "MASTERDOWN"):
		p.reads = false
	case has(p.reply, "CLUSTERDOWN"):
		v.stale, v.waits = true, true
	default:
		p.done = true
	}
}

// note remembers the owner that a MOVED named.
func (s *Session) note(to redirect) {
	if s.moved == nil {
		s.moved = map[int]string{}
	}
	s.moved[to.slot] = to.address
}

// renew reads the slots again, from owner if it is not "". What MOVED replies said remains true.
func (s *Session) renew(ctx context.Context, owner string) error {
	moved := s.moved
	err := errNoOwner
	if owner != "" {
		err = s.refreshFrom(ctx, owner)
	}
	if err != nil {
		moved = nil // the owner may be dead
		err = s.refresh(ctx)
	}
	if err == nil {
		s.moved = moved
	}
	return err
}

var errNoOwner = errors.New("no owner")

// replace moves the parts of former masters to the new owner of the node's slots.
func (s *Session) replace(parts []*part) {
	for _, p := range parts {
		switch {
		case p.done || p.slot >= 0 || slices.Contains(s.slots.masters, p.address):
		case p.home >= 0 && s.owner(p.home) != "":
			p.address = s.owner(p.home)
		case p.home < 0 && len(s.slots.masters) > 0:
			p.address = s.slots.masters[rand.IntN(len(s.slots.masters))]
		}
	}
}
