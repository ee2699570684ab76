package cluster

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
)

// topology holds a node's view of the cluster.
type topology struct {
	owners   [slot.Count]string  // the master of each slot, or ""
	masters  []string            // with slots, in order
	replicas map[string][]string // by master
	of       map[string]string   // by replica: its master
}

// readSlots reads a reply to CLUSTER SLOTS, which every version has, of the node at from.
func readSlots(v resp.Value, from string, mapped func(host, port string) string) (*topology, error) {
	if v.IsError() {
		return nil, errors.New(string(v.Str))
	}
	t := &topology{replicas: map[string][]string{}, of: map[string]string{}}
	for _, r := range v.Elems {
		if len(r.Elems) < 3 || r.Elems[0].Int < 0 || r.Elems[1].Int >= slot.Count || r.Elems[0].Int > r.Elems[1].Int {
			return nil, fmt.Errorf("an unreadable reply to CLUSTER SLOTS")
		}
		master := ""
		for i, n := range r.Elems[2:] {
			if len(n.Elems) < 2 {
				return nil, fmt.Errorf("an unreadable reply to CLUSTER SLOTS")
			}
			address := announced(string(n.Elems[0].Str), strconv.FormatInt(n.Elems[1].Int, 10), from, mapped)
			if i == 0 {
				master = address
			} else if t.of[address] == "" {
				t.of[address], t.replicas[master] = master, append(t.replicas[master], address)
			}
		}
		if !slices.Contains(t.masters, master) {
			t.masters = append(t.masters, master)
		}
		for i := r.Elems[0].Int; i <= r.Elems[1].Int; i++ {
			t.owners[i] = master
		}
	}
	slices.Sort(t.masters)
	return t, nil
}

// announced returns the address of a node. A node without a host is on the host of the node that speaks of it.
func announced(host, port, from string, mapped func(host, port string) string) string {
	if host == "" || host == "?" {
		if own, _, err := net.SplitHostPort(from); err == nil {
			return net.JoinHostPort(own, port)
		}
	}
	return mapped(host, port)
}

// nodes returns the masters, and then the replicas.
func (t *topology) nodes() []string {
	all := slices.Clone(t.masters)
	for _, m := range t.masters {
		all = append(all, t.replicas[m]...)
	}
	return all
}

func (t *topology) isReplica(address string) bool { return t.of[address] != "" }

// view holds what a master reports about its own slots, in its line of CLUSTER NODES.
type view struct {
	epoch string
	owns  [slot.Count]bool
	open  map[int]string // slots that leave: the ID of the node they go to
}

// readView reads the line of the node itself. ok is false without one.
func readView(v resp.Value) (w *view, ok bool) {
	for line := range strings.Lines(string(v.Str)) {
		words := strings.Fields(line)
		if len(words) < 8 || !slices.Contains(strings.Split(words[2], ","), "myself") {
			continue
		}
		w = &view{epoch: words[6], open: map[int]string{}}
		for _, word := range words[8:] {
			if to, isOpen := strings.CutPrefix(word, "["); isOpen {
				w.readOpen(strings.TrimSuffix(to, "]"))
			} else if !w.readOwned(word) {
				return nil, false
			}
		}
		return w, true
	}
	return nil, false
}

// readOpen reads a slot that leaves: "93->-ID". It passes over one that arrives: "93-<-ID".
func (w *view) readOpen(text string) {
	if n, id, leaves := strings.Cut(text, "->-"); leaves {
		if n, err := strconv.Atoi(n); err == nil {
			w.open[n] = id
		}
	}
}

// readOwned reads a slot or a range of slots: "93" or "0-5460". It reports whether it is valid.
func (w *view) readOwned(text string) bool {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || from < 0 || to >= slot.Count {
		return false
	}
	for i := from; i <= to; i++ {
		w.owns[i] = true
	}
	return true
}

// addressOf returns the address of a node of CLUSTER NODES by its ID.
func (s *Session) addressOf(nodes resp.Value, id, from string) string {
	for line := range strings.Lines(string(nodes.Str)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != id {
			continue
		}
		// ip:port@busport,hostname
		address, _, _ := strings.Cut(words[1], "@")
		if colon := strings.LastIndexByte(address, ':'); colon >= 0 {
			return announced(strings.Trim(address[:colon], "[]"), address[colon+1:], from, s.mapped)
		}
	}
	return ""
}
