package cluster

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Node describes a node of a cluster.
type Node struct {
	Address string `json:"address"`
	Master  string `json:"master,omitempty"` // of a replica
	Slots   int    `json:"slots,omitempty"`
	Keys    int64  `json:"keys"`
	Bytes   int64  `json:"bytes"`               // of memory
	Lag     int64  `json:"lag_bytes,omitempty"` // of a replica: how much of its master's stream it lacks
	Problem string `json:"problem,omitempty"`
}

// Nodes asks all nodes about themselves. Each master comes before its replicas.
func (s *Session) Nodes(ctx context.Context) []Node {
	var all []Node
	for _, m := range s.slots.masters {
		n := Node{Address: m}
		for _, owner := range s.slots.owners {
			if owner == m {
				n.Slots++
			}
		}
		all = append(all, n)
		for _, r := range s.slots.replicas[m] {
			all = append(all, Node{Address: r, Master: m})
		}
	}
	at := map[string]*Node{}
	addresses := make([]string, len(all))
	for i := range all {
		at[all[i].Address], addresses[i] = &all[i], all[i].Address
		s.node(all[i].Address)
	}
	offsets := map[string]int64{}
	var mu sync.Mutex
	for address, err := range each(addresses, func(address string) error {
		replies, err := s.nodes[address].Pipeline(ctx, [][][]byte{{[]byte("DBSIZE")}, {[]byte("INFO")}})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		n := at[address]
		n.Keys, n.Bytes = replies[0].Int, infoNumber(replies[1], "used_memory")
		offset := "master_repl_offset"
		if n.Master != "" {
			offset = "slave_repl_offset"
		}
		offsets[address] = infoNumber(replies[1], offset)
		return nil
	}) {
		at[address].Problem = err.Error()
	}
	for i := range all {
		if n := &all[i]; n.Master != "" && n.Problem == "" {
			n.Lag = max(0, offsets[n.Master]-offsets[n.Address])
		}
	}
	return all
}

// infoNumber returns a number of INFO, or 0.
func infoNumber(info resp.Value, name string) int64 {
	for line := range strings.Lines(string(info.Str)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}
