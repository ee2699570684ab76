package server_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/server"
)

// clusterCalls are calls to a node that owns all slots. The replies must equal redis-server's.
var clusterCalls = strings.Split(strings.TrimSpace(`
CLUSTER INFO
CLUSTER KEYSLOT a
CLUSTER KEYSLOT {ab}c
CLUSTER KEYSLOT x{}y
CLUSTER KEYSLOT {{a}b}
CLUSTER KEYSLOT 123456789
CLUSTER KEYSLOT {user1000}.following
SET foo 1
SET {foo}2 1
CLUSTER COUNTKEYSINSLOT 12182
CLUSTER COUNTKEYSINSLOT 1
CLUSTER COUNTKEYSINSLOT 16384
CLUSTER COUNTKEYSINSLOT x
CLUSTER GETKEYSINSLOT 12182 0
CLUSTER GETKEYSINSLOT 12182 -1
CLUSTER GETKEYSINSLOT x 1
CLUSTER GETKEYSINSLOT 16384 1
CLUSTER GETKEYSINSLOT 1 10
CLUSTER LINKS
CLUSTER REPLICAS x
CLUSTER SLAVES x
CLUSTER COUNT-FAILURE-REPORTS x
CLUSTER FORGET x
CLUSTER REPLICATE x
CLUSTER FAILOVER
CLUSTER NOSUCH
READONLY
READWRITE
ASKING
INFO cluster
`), "\n")

func TestCluster(t *testing.T) {
	free := listen(t)
	_, bus, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	redis := oracle.Start(t, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", bus).Dial(t)
	want(t, redis.Do(words("CLUSTER", "ADDSLOTSRANGE", "0", "16383")...), "OK")
	for !strings.Contains(string(redis.Do(words("CLUSTER", "INFO")...).Str), "cluster_state:ok") {
		if t.Context().Err() != nil {
			t.Fatal("redis-server makes no cluster")
		}
	}
	c := serve(t, server.Config{Cluster: true}).dial(t)
	for _, call := range clusterCalls {
		args := strings.Fields(call)
		if got, want := show(c.do(args...)), show(redis.Do(words(args...)...)); got != want {
			t.Errorf("%s answers %s, redis-server %s", call, got, want)
		}
	}
	if n := len(c.do("CLUSTER", "GETKEYSINSLOT", "12182", "10").Elems); n != 2 {
		t.Errorf("the slot has %d keys", n)
	}
}

// The node's address is the one that the client connected to.
func TestClusterNode(t *testing.T) {
	s := serve(t, server.Config{Cluster: true})
	c := s.dial(t)
	id := string(c.do("CLUSTER", "MYID").Str)
	host, port, _ := strings.Cut(s.resp, ":")
	slots := c.do("CLUSTER", "SLOTS")
	if got, want := show(slots), fmt.Sprintf("1) 1) (integer) 0\n   2) (integer) 16383\n   3) 1) %q\n      2) (integer) %s\n      3) %q\n      4) (empty array)", host, port, id); got != want {
		t.Errorf("CLUSTER SLOTS:\n%s\nwant\n%s", got, want)
	}
	if nodes := string(c.do("CLUSTER", "NODES").Str); !strings.HasPrefix(nodes, id+" "+s.resp+"@") || !strings.HasSuffix(nodes, " myself,master - 0 0 0 connected 0-16383\n") {
		t.Errorf("CLUSTER NODES: %s", nodes)
	}
	node := c.do("CLUSTER", "SHARDS").Elems[0].Elems[3].Elems[0].Elems
	if len(node) != 14 || string(node[1].Str) != id || string(node[7].Str) != host {
		t.Errorf("CLUSTER SHARDS: %s", show(c.do("CLUSTER", "SHARDS")))
	}
	if got := statOf(c, "redis_mode"); got != "cluster" {
		t.Errorf("the mode is %s", got)
	}
	want(t, c.do("CLUSTER", "ADDSLOTS", "1"), "(error) ERR this cluster has a single node, which owns all slots")
}
