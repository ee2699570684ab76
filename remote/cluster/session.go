package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/store"
)

// Options sets how a cluster is reached and read.
type Options struct {
	remote.Options
	// Map replaces addresses that nodes announce: HOST:PORT, or HOST for all its ports, by another of the same form.
	Map map[string]string
	// Replicas reads from replicas, whose data may be older.
	Replicas bool
}

// failoverTime limits how long a command waits for a slot to be served again, without Options.Timeout.
const failoverTime = 30 * time.Second

// atOnce limits the nodes that are asked at a time.
const atOnce = 8

// Session is a session on a cluster. It is for one goroutine at a time.
type Session struct {
	o     Options
	seed  *remote.Redis // has the credentials; its node may have left the cluster
	seeds []string      // addresses that the user gave
	nodes map[string]*remote.Redis
	slots *topology
	moved map[int]string // by slot: the owner that a MOVED named, newer than slots
	last  string         // the node that answered last
	tx    transaction
	scans scanner
	begun int // connections that replaced lost ones, to nodes that were dropped
}

// Open returns a session on the cluster of a connected node. seeds are further addresses of nodes.
func Open(ctx context.Context, node *remote.Redis, seeds []string, o Options) (*Session, error) {
	s := &Session{o: o, seed: node, seeds: append([]string{node.Address()}, seeds...), nodes: map[string]*remote.Redis{node.Address(): node}}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Again returns another session on the cluster, for another goroutine.
func (s *Session) Again(ctx context.Context) (*Session, error) {
	seeds := append(slices.Clone(s.slots.nodes()), s.seeds...)
	return Open(ctx, s.At(s.anyNode()), seeds, s.o)
}

// At returns a session on one node, with the credentials of the cluster's. The caller closes it.
func (s *Session) At(address string) *remote.Redis { return s.seed.At(address, false) }

// Refresh asks the cluster again which node has which slots.
func (s *Session) Refresh(ctx context.Context) error { return s.refresh(ctx) }

// Masters returns the addresses of the masters with slots, in order.
func (s *Session) Masters() []string { return slices.Clone(s.slots.masters) }

// Owner returns the address of the master that has a slot, "" if none has it.
func (s *Session) Owner(slot int) string { return s.owner(slot) }

// Owners returns a function that returns the address of the master that has a key at this moment. Any goroutine may call it.
func (s *Session) Owners() func(key []byte) string {
	var owners [slot.Count]string
	for i := range owners {
		owners[i] = s.owner(i)
	}
	return func(key []byte) string { return owners[slot.Of(key)] }
}

// IsSpread reports whether the cluster has more nodes than the one that all slots are on.
func (s *Session) IsSpread() bool { return len(s.slots.nodes()) > 1 }

// DB returns 0, the only database of a cluster.
func (s *Session) DB() int { return 0 }

// InMulti reports whether commands are being queued.
func (s *Session) InMulti() bool { return s.tx.open }

// Node returns the address of the node that answered last, "" before any reply.
func (s *Session) Node() string { return s.last }

// Connections returns 1, and one more for each connection to a node that replaced a lost one.
func (s *Session) Connections() int {
	n := 1 + s.begun
	for _, r := range s.nodes {
		n += max(r.Connections()-1, 0)
	}
	return n
}

// OnPush sets the receiver of push messages of all nodes.
func (s *Session) OnPush(receive func(resp.Value)) {
	s.seed.OnPush(receive)
	for _, r := range s.nodes {
		r.OnPush(receive)
	}
}

// Close closes the connections.
func (s *Session) Close() error {
	var errs []error
	for _, r := range s.nodes {
		errs = append(errs, r.Close())
	}
	return errors.Join(append(errs, s.seed.Close())...)
}

// Greet sends PING to a node. It returns remote.ErrNoPassword if the node requires a password.
func (s *Session) Greet(ctx context.Context) error { return s.seed.Greet(ctx) }

// node returns the session on a node.
func (s *Session) node(address string) *remote.Redis {
	r := s.nodes[address]
	if r == nil {
		r = s.seed.At(address, s.slots.isReplica(address))
		s.nodes[address] = r
	}
	return r
}

// patience returns how long a command waits for a slot to be served again.
func (s *Session) patience() time.Duration {
	if s.o.Timeout > 0 {
		return s.o.Timeout
	}
	return failoverTime
}

// refresh asks nodes for the slots until one replies.
func (s *Session) refresh(ctx context.Context) error {
	var asked []string
	if s.slots != nil {
		asked = append(slices.Clone(s.slots.masters), s.slots.nodes()...)
	}
	var errs []error
	for _, address := range unique(append(asked, s.seeds...)) {
		if err := s.refreshFrom(ctx, address); err != nil {
			errs = append(errs, err)
			continue
		}
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("asking for the slots of the cluster: %w", errors.Join(errs[:min(3, len(errs))]...))
}

// refreshFrom asks one node for the slots.
func (s *Session) refreshFrom(ctx context.Context, address string) error {
	r := s.nodes[address]
	if r == nil {
		r = s.seed.At(address, false)
		s.nodes[address] = r
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	v, err := r.Do(ctx, []byte("CLUSTER"), []byte("SLOTS"))
	if err != nil {
		return err
	}
	found, err := readSlots(v, address, s.mapped)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	s.slots, s.moved = found, nil
	return nil
}

// askTime limits the wait for a node's reply about the cluster: another node can answer, too.
const askTime = 3 * time.Second

// mapped returns the address to connect to for one that a node announced.
func (s *Session) mapped(host, port string) string {
	address := net.JoinHostPort(host, port)
	if to, ok := s.o.Map[address]; ok {
		return to
	}
	if to, ok := s.o.Map[host]; ok {
		return net.JoinHostPort(to, port)
	}
	return address
}

// owner returns the master of a slot, "" for an unassigned slot.
func (s *Session) owner(slot int) string {
	if to := s.moved[slot]; to != "" {
		return to
	}
	return s.slots.owners[slot]
}

// anyNode returns the node for a command without keys.
func (s *Session) anyNode() string {
	if s.last != "" && slices.Contains(s.slots.masters, s.last) {
		return s.last
	}
	if len(s.slots.masters) > 0 && !slices.Contains(s.slots.masters, s.seeds[0]) {
		return s.slots.masters[0]
	}
	return s.seeds[0]
}

// each calls fn for each address at the same time, a few at once, and returns the errors by address.
func each(addresses []string, fn func(address string) error) map[string]error {
	type result struct {
		address string
		err     error
	}
	results := make(chan result)
	turns := make(chan struct{}, atOnce)
	for _, address := range addresses {
		go func() {
			turns <- struct{}{}
			err := store.Caught(func() error { return fn(address) })
			<-turns
			results <- result{address, err}
		}()
	}
	failed := map[string]error{}
	for range addresses {
		if r := <-results; r.err != nil {
			failed[r.address] = r.err
		}
	}
	return failed
}

func unique(addresses []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(addresses), func(a string) bool {
		again := seen[a]
		seen[a] = true
		return again
	})
}

// adopt gives all nodes the credentials and the protocol of node. They connect again.
func (s *Session) adopt(node *remote.Redis) {
	for _, address := range slices.Collect(maps.Keys(s.nodes)) {
		if r := s.nodes[address]; r != node {
			s.begun += max(r.Connections()-1, 0)
			r.Close()
			delete(s.nodes, address)
		}
	}
	s.seed = node
}

// wait sleeps before another attempt. It returns the cause of ctx's end.
func wait(ctx context.Context, attempt int) error {
	timer := time.NewTimer(min(time.Duration(attempt)*10*time.Millisecond, 200*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// has reports whether an error reply begins with a word.
func has(v resp.Value, word string) bool {
	return v.IsError() && strings.HasPrefix(string(v.Str), word+" ")
}
