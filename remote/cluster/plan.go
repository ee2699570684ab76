package cluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
)

// plan holds the parts of a call, and merges their replies.
type plan struct {
	parts []*part
	merge func([]resp.Value) resp.Value
}

func (p plan) reply() resp.Value {
	replies := make([]resp.Value, len(p.parts))
	for i, part := range p.parts {
		replies[i] = explainSlots(part.reply, part.keys)
	}
	if len(replies) == 1 {
		return replies[0]
	}
	return p.merge(replies)
}

// Do runs one command.
func (s *Session) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := s.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

// PipelineUntilError runs calls up to the first error reply.
func (s *Session) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return remote.UntilError(ctx, calls, s.Pipeline)
}

// Pipeline runs calls, and returns one reply for each. The calls for one slot run in order; calls for different nodes
// run at the same time.
func (s *Session) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	replies := make([]resp.Value, len(calls))
	plans := map[int]plan{}
	var parts []*part
	flush := func() error {
		if err := s.run(ctx, parts); err != nil {
			return err
		}
		for i, p := range plans {
			replies[i] = p.reply()
		}
		clear(plans)
		parts = nil
		return nil
	}
	for i := 0; i < len(calls); i++ {
		args := calls[i]
		own := s.ownWay(args)
		if own == nil {
			p, err := s.plan(ctx, args)
			if err != nil {
				return nil, err
			}
			plans[i], parts = p, append(parts, p.parts...)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		n, err := own(ctx, calls[i:], replies[i:])
		if err != nil {
			return nil, err
		}
		i += n - 1
	}
	return replies, flush()
}

// ownWay returns the function that runs calls that are not parts: it writes replies, and returns how many.
func (s *Session) ownWay(args [][]byte) func(ctx context.Context, calls [][][]byte, replies []resp.Value) (int, error) {
	if len(args) == 0 {
		return func(_ context.Context, _ [][][]byte, replies []resp.Value) (int, error) {
			_, replies[0] = commands.Find(nil)
			return 1, nil
		}
	}
	switch name := strings.ToUpper(string(args[0])); {
	case s.tx.takes(name):
		return s.transact
	case name == "SCAN":
		return s.scan
	case name == "AUTH", name == "HELLO" && len(args) > 1:
		return s.authenticate
	}
	return nil
}

// authenticate runs AUTH or HELLO on one node. If it succeeds, all other nodes are connected to in the same way.
func (s *Session) authenticate(ctx context.Context, calls [][][]byte, replies []resp.Value) (int, error) {
	at := s.anyNode()
	v, err := s.node(at).Do(ctx, calls[0]...)
	if err == nil && !v.IsError() {
		s.adopt(s.nodes[at])
	}
	replies[0] = v
	return 1, err
}

// plan returns the parts of a call.
func (s *Session) plan(ctx context.Context, args [][]byte) (plan, error) {
	cmd := commands.Called(args)
	keys, err := s.keysOf(ctx, cmd, args)
	if err != nil {
		return plan{}, err
	}
	reads := cmd != nil && cmd.Flags&commands.ReadOnly != 0
	if len(keys) > 0 {
		if s.splits(cmd, keys) {
			return splitByKey(args, keys, reads, policyOf(cmd, "response_policy")), nil
		}
		return plan{parts: []*part{{args: args, keys: keys, slot: slot.Of(keys[0]), reads: reads}}}, nil
	}
	if n, ok := slotArgument(cmd, args); ok && s.owner(n) != "" {
		return plan{parts: []*part{{args: args, slot: -1, address: s.owner(n), home: n}}}, nil
	}
	to, merge := s.spread(cmd)
	if merge == nil {
		return plan{parts: []*part{{args: args, slot: -1, address: s.anyNode(), home: -1}}}, nil
	}
	p := plan{merge: merge}
	for _, address := range to {
		p.parts = append(p.parts, &part{args: args, slot: -1, address: address, home: slices.Index(s.slots.owners[:], address)})
	}
	return p, nil
}

// keysOf returns the keys of a call, or the shard channel of SPUBLISH. It asks a node about commands that are not in
// the table, such as a module's.
func (s *Session) keysOf(ctx context.Context, cmd *commands.Command, args [][]byte) ([][]byte, error) {
	switch {
	case cmd != nil && cmd.Name == "SPUBLISH" && len(args) > 1:
		return args[1:2], nil
	case cmd != nil:
		return cmd.KeyNames(args), nil
	case commands.Unsupported.Called(args) != nil:
		return commands.Unsupported.Called(args).KeyNames(args), nil
	}
	v, err := s.node(s.anyNode()).Do(ctx, append([][]byte{[]byte("COMMAND"), []byte("GETKEYS")}, args...)...)
	if err != nil || v.Kind != resp.Array {
		return nil, err
	}
	var keys [][]byte
	for _, e := range v.Elems {
		keys = append(keys, e.Str)
	}
	return keys, nil
}

// slotArgument returns the slot that CLUSTER GETKEYSINSLOT and COUNTKEYSINSLOT ask about.
func slotArgument(cmd *commands.Command, args [][]byte) (int, bool) {
	if cmd == nil || cmd.Name != "CLUSTER GETKEYSINSLOT" && cmd.Name != "CLUSTER COUNTKEYSINSLOT" || len(args) < 3 {
		return 0, false
	}
	n, ok := commands.ParseInt(args[2])
	return int(n), ok && n >= 0 && n < slot.Count
}

// policyOf returns one of Redis's tips for clients of a cluster.
func policyOf(cmd *commands.Command, which string) string {
	if cmd == nil {
		return ""
	}
	for _, tip := range cmd.Tips {
		if policy, ok := strings.CutPrefix(tip, which+":"); ok {
			return policy
		}
	}
	return ""
}

// splits reports whether a call is sent key by key: its keys are in different slots, and it does the same to each key,
// on its own: DEL, UNLINK, TOUCH, EXISTS and MGET. MSET is atomic, and is not split.
func (s *Session) splits(cmd *commands.Command, keys [][]byte) bool {
	if policyOf(cmd, "request_policy") != "multi_shard" || policyOf(cmd, "response_policy") == "all_succeeded" {
		return false
	}
	return slices.ContainsFunc(keys, func(key []byte) bool { return slot.Of(key) != slot.Of(keys[0]) })
}

func splitByKey(args, keys [][]byte, reads bool, policy string) plan {
	p := plan{merge: sum}
	if policy == "" {
		p.merge = concatenate
	}
	for _, key := range keys {
		p.parts = append(p.parts, &part{args: [][]byte{args[0], key}, keys: [][]byte{key}, slot: slot.Of(key), reads: reads})
	}
	return p
}

// spread returns the nodes that a call without keys goes to, and how their replies are merged; nil for any one node.
func (s *Session) spread(cmd *commands.Command) (to []string, merge func([]resp.Value) resp.Value) {
	switch policyOf(cmd, "request_policy") {
	case "all_shards":
		to = s.slots.masters
	case "all_nodes":
		to = s.slots.nodes()
	default:
		return nil, nil
	}
	switch policy := policyOf(cmd, "response_policy"); {
	case cmd.Name == "INFO":
		merge = mergeInfo
	case cmd.Name == "RANDOMKEY":
		merge = anyOf
	case policy == "special":
		return nil, nil
	case policy == "all_succeeded":
		merge = func(all []resp.Value) resp.Value { return all[0] }
	case policy == "one_succeeded":
		merge = firstSuccess
	case policy == "agg_sum":
		merge = sum
	case policy == "agg_min":
		merge = least
	case policy == "agg_logical_and":
		merge = every
	default:
		merge = concatenate
	}
	if policyOf(cmd, "response_policy") != "one_succeeded" {
		merge = orError(merge)
	}
	return to, merge
}

// orError returns the first error reply, or else what merge makes of all.
func orError(merge func([]resp.Value) resp.Value) func([]resp.Value) resp.Value {
	return func(all []resp.Value) resp.Value {
		if i := slices.IndexFunc(all, resp.Value.IsError); i >= 0 {
			return all[i]
		}
		return merge(all)
	}
}

func sum(all []resp.Value) resp.Value {
	total := int64(0)
	for _, v := range all {
		if v.IsError() {
			return v
		}
		total += v.Int
	}
	return resp.MakeInt(total)
}

func least(all []resp.Value) resp.Value {
	return slices.MinFunc(all, func(a, b resp.Value) int { return int(min(max(a.Int-b.Int, -1), 1)) })
}

func firstSuccess(all []resp.Value) resp.Value {
	if i := slices.IndexFunc(all, func(v resp.Value) bool { return !v.IsError() }); i >= 0 {
		return all[i]
	}
	return all[0]
}

// every combines lists of 0 and 1: the result has 1 where all lists have it.
func every(all []resp.Value) resp.Value {
	both := resp.Value{Kind: all[0].Kind, Int: all[0].Int, Elems: slices.Clone(all[0].Elems)}
	for _, v := range all[1:] {
		both.Int = min(both.Int, v.Int)
		for i := range min(len(both.Elems), len(v.Elems)) {
			if v.Elems[i].Int == 0 {
				both.Elems[i] = v.Elems[i]
			}
		}
	}
	return both
}

func concatenate(all []resp.Value) resp.Value {
	joined := resp.Value{Kind: all[0].Kind, Elems: []resp.Value{}}
	for _, v := range all {
		if v.IsError() {
			return v
		}
		joined.Elems = append(joined.Elems, v.Elems...)
	}
	return joined
}

// anyOf returns one of the replies that are not null.
func anyOf(all []resp.Value) resp.Value {
	found := slices.DeleteFunc(slices.Clone(all), resp.Value.IsNull)
	if len(found) == 0 {
		return all[0]
	}
	return found[rand.IntN(len(found))]
}

// explainSlots adds to CROSSSLOT the slot of each key.
func explainSlots(v resp.Value, keys [][]byte) resp.Value {
	if !has(v, "CROSSSLOT") {
		return v
	}
	var b bytes.Buffer
	b.Write(v.Str)
	for i, key := range keys[:min(len(keys), 8)] {
		between := ", "
		if i == 0 {
			between = ": "
		}
		fmt.Fprintf(&b, "%s%.60q is in %d", between, key, slot.Of(key))
	}
	if len(keys) > 8 {
		fmt.Fprintf(&b, " and %d more", len(keys)-8)
	}
	b.WriteString("; keys with the same {tag} share a slot")
	return resp.Value{Kind: resp.Error, Str: b.Bytes()}
}
