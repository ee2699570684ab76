package server

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/translator"
)

// By default cluster commands reply that cluster support is disabled. With Config.Cluster the server is a cluster of
// one node that owns all slots, so clients that require a cluster can use it. One call may use keys of different
// slots, and all databases exist.

var (
	noCluster   = resp.MakeError("ERR This instance has cluster support disabled")
	singleNode  = resp.MakeError("ERR this cluster has a single node, which owns all slots")
	invalidSlot = resp.MakeError("ERR Invalid slot")
	notInteger  = resp.MakeError("ERR value is not an integer or out of range")
)

// cluster runs the cluster commands.
func (s *Server) cluster(ctx context.Context, p *principal, cmd *commands.Command, args [][]byte) (v resp.Value, ok bool) {
	switch {
	case cmd.Group != "cluster":
		return resp.Value{}, false
	case !s.config.Cluster:
		return noCluster, true
	}
	switch cmd.Name {
	case "READONLY", "READWRITE", "ASKING", "CLUSTER SAVECONFIG":
		return resp.OK, true
	case "CLUSTER HELP":
		return translator.HelpOf("CLUSTER"), true
	case "CLUSTER INFO":
		return verbatim(clusterFacts), true
	case "CLUSTER MYID":
		return resp.MakeString(s.runID), true
	case "CLUSTER MYSHARDID":
		return resp.MakeString(s.shardID()), true
	case "CLUSTER NODES":
		host, port := p.nodeAddr()
		return verbatim(fmt.Sprintf("%s %s:%d@%d myself,master - 0 0 0 connected 0-%d\n", s.runID, host, port, port+10000, slot.Count-1)), true
	case "CLUSTER SLOTS":
		host, port := p.nodeAddr()
		node := resp.MakeArray(resp.MakeString(host), resp.MakeInt(port), resp.MakeString(s.runID), resp.EmptyArray)
		return resp.MakeArray(resp.MakeArray(resp.Zero, resp.MakeInt(slot.Count-1), node)), true
	case "CLUSTER SHARDS":
		return s.shards(p), true
	case "CLUSTER LINKS":
		return resp.EmptyArray, true
	case "CLUSTER REPLICAS", "CLUSTER SLAVES":
		return s.ofNode(args[2], resp.EmptyArray), true
	case "CLUSTER COUNT-FAILURE-REPORTS":
		return s.ofNode(args[2], resp.Zero), true
	case "CLUSTER FORGET", "CLUSTER REPLICATE":
		return s.ofNode(args[2], singleNode), true
	case "CLUSTER FAILOVER":
		return resp.MakeError("ERR You should send CLUSTER FAILOVER to a replica"), true
	case "CLUSTER KEYSLOT":
		return resp.MakeInt(int64(slot.Of(args[2]))), true
	case "CLUSTER COUNTKEYSINSLOT":
		return s.countInSlot(ctx, args), true
	case "CLUSTER GETKEYSINSLOT":
		return s.keysInSlot(ctx, args), true
	}
	return singleNode, true
}

// mode returns the redis_mode of INFO and HELLO.
func (s *Server) mode() string {
	if s.config.Cluster {
		return "cluster"
	}
	return "standalone"
}

const clusterFacts = "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0\r\n" +
	"cluster_known_nodes:1\r\ncluster_size:1\r\ncluster_current_epoch:0\r\ncluster_my_epoch:0\r\n" +
	"cluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n"

// shardID returns an ID that differs from the node's.
func (s *Server) shardID() string {
	sum := sha1.Sum([]byte(s.runID))
	return hex.EncodeToString(sum[:])
}

// ofNode returns v if id is this node's ID, and an error otherwise.
func (s *Server) ofNode(id []byte, v resp.Value) resp.Value {
	if string(id) != s.runID {
		return resp.MakeError("ERR Unknown node " + commands.Quote(id))
	}
	return v
}

// nodeAddr returns the address of the server that the client connected to. Cluster clients connect to it again.
func (p *principal) nodeAddr() (host string, port int64) {
	if p.client != nil {
		if tcp, is := p.client.net.LocalAddr().(*net.TCPAddr); is {
			return tcp.IP.String(), int64(tcp.Port)
		}
	}
	host, _, _ = strings.Cut(p.server.param("bind"), " ")
	port, _ = strconv.ParseInt(p.server.param("port"), 10, 64)
	return host, port
}

func (s *Server) shards(p *principal) resp.Value {
	host, port := p.nodeAddr()
	text := resp.MakeString
	node := resp.MakeMap(
		text("id"), text(s.runID), text("port"), resp.MakeInt(port), text("ip"), text(host), text("endpoint"), text(host),
		text("role"), text("master"), text("replication-offset"), resp.Zero, text("health"), text("online"))
	return resp.MakeArray(resp.MakeMap(
		text("slots"), resp.MakeArray(resp.Zero, resp.MakeInt(slot.Count-1)), text("nodes"), resp.MakeArray(node)))
}

func (s *Server) countInSlot(ctx context.Context, args [][]byte) resp.Value {
	wanted, ok := commands.ParseInt(args[2])
	switch {
	case !ok:
		return notInteger
	case wanted < 0 || wanted >= slot.Count:
		return invalidSlot
	}
	n := int64(0)
	if bad := s.eachKey(ctx, func(key []byte) bool {
		if int64(slot.Of(key)) == wanted {
			n++
		}
		return true
	}); bad.IsError() {
		return bad
	}
	return resp.MakeInt(n)
}

func (s *Server) keysInSlot(ctx context.Context, args [][]byte) resp.Value {
	wanted, ok1 := commands.ParseInt(args[2])
	most, ok2 := commands.ParseInt(args[3])
	switch {
	case !ok1 || !ok2:
		return notInteger
	case wanted < 0 || wanted >= slot.Count || most < 0:
		return resp.MakeError("ERR Invalid slot or number of keys")
	}
	reply := resp.EmptyArray
	if bad := s.eachKey(ctx, func(key []byte) bool {
		if int64(slot.Of(key)) == wanted && int64(len(reply.Elems)) < most {
			reply.Elems = append(reply.Elems, resp.MakeBulk(key))
		}
		return int64(len(reply.Elems)) < most
	}); bad.IsError() {
		return bad
	}
	return reply
}

// eachKey calls see for each key of database 0 until see returns false. It scans pages, since the slot has no index.
func (s *Server) eachKey(ctx context.Context, see func(key []byte) bool) (bad resp.Value) {
	if engine.OfScript(ctx) {
		return notInScript
	}
	session := s.config.Engine.Session()
	for cursor := []byte("0"); ; {
		v, err := session.Do(ctx, []byte("SCAN"), cursor, []byte("COUNT"), []byte("1000"))
		switch {
		case err != nil:
			return s.failure(err)
		case v.IsError():
			return v
		}
		for _, key := range v.Elems[1].Elems {
			if !see(key.Str) {
				return resp.Value{}
			}
		}
		if cursor = v.Elems[0].Str; string(cursor) == "0" {
			return resp.Value{}
		}
	}
}
