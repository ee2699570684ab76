package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/store"
)

// Listen runs SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE or MONITOR until ctx ends, a node fails or refuses, or each returns an
// error. MONITOR shows the commands of all masters. A shard channel is on the node of its slot. A channel is on any
// node, except notifications of keys, which are only on the node that has the key: they are heard on all masters.
func (s *Session) Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error {
	calls := s.listeners(args)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var first error
	ended := false
	for i, l := range calls {
		node := s.node(l.address).At(l.address, false)
		wg.Go(func() {
			err := store.Caught(func() error {
				return node.Listen(ctx, l.args, func(v resp.Value) error {
					mu.Lock()
					defer mu.Unlock()
					if ended || l.repeats && isConfirmation(v) && i > 0 {
						return nil
					}
					return each(v)
				})
			})
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				ended, first = true, err
			}
			cancel(errEnded)
		})
	}
	wg.Wait()
	if errors.Is(first, errEnded) {
		return nil
	}
	return first
}

var errEnded = errors.New("another node ended it")

// listener holds a call for one node. Another node sends the same confirmations if repeats is set.
type listener struct {
	address string
	args    [][]byte
	repeats bool
}

func (s *Session) listeners(args [][]byte) (all []listener) {
	name := ""
	if len(args) > 0 {
		name = strings.ToUpper(string(args[0]))
	}
	everywhere := func(args [][]byte) {
		for _, m := range s.slots.masters {
			all = append(all, listener{m, args, true})
		}
	}
	switch name {
	case "MONITOR":
		everywhere(args)
	case "SSUBSCRIBE":
		at := map[string]int{}
		for _, channel := range args[1:] {
			owner := s.owner(slot.Of(channel))
			if _, has := at[owner]; !has {
				at[owner] = len(all)
				all = append(all, listener{address: owner, args: args[:1:1]})
			}
			l := &all[at[owner]]
			l.args = append(l.args, channel)
		}
	case "SUBSCRIBE", "PSUBSCRIBE":
		ofKeys := func(channel []byte) bool { return strings.HasPrefix(string(channel), "__key") }
		events := slices.DeleteFunc(slices.Clone(args[1:]), func(c []byte) bool { return !ofKeys(c) })
		others := slices.DeleteFunc(slices.Clone(args[1:]), ofKeys)
		if len(events) > 0 {
			everywhere(slices.Concat(args[:1], events))
		}
		if len(others) > 0 {
			all = append(all, listener{address: s.anyNode(), args: slices.Concat(args[:1], others)})
		}
	}
	if len(all) == 0 {
		all = []listener{{address: s.anyNode(), args: args}}
	}
	return all
}

// isConfirmation reports whether v confirms a subscription or MONITOR.
func isConfirmation(v resp.Value) bool {
	if v.Kind == resp.Status && string(v.Str) == "OK" {
		return true
	}
	return len(v.Elems) > 0 && strings.HasSuffix(string(v.Elems[0].Str), "subscribe")
}
