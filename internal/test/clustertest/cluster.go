package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
)

// Cluster is a running cluster.
type Cluster struct {
	Masters  []*Node
	Replicas []*Node // the i-th is of the i-th master

	moving sync.Mutex
}

// Node is a redis-server of a cluster.
type Node struct {
	Address string
	ID      string
	t       testing.TB
	cmd     *exec.Cmd
	ended   chan struct{} // closed at the end of cmd
	args    []string
}

// Start runs a cluster with a number of masters, which share the slots evenly, each with a replica if replicas is set,
// until the test ends.
func Start(t testing.TB, masters int, replicas bool, args ...string) *Cluster {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("this test runs a real Redis Cluster: install redis-server")
	}
	c := &Cluster{}
	for range masters {
		c.Masters = append(c.Masters, start(t, args))
	}
	for i := 0; replicas && i < masters; i++ {
		c.Replicas = append(c.Replicas, start(t, args))
	}
	host, port, _ := net.SplitHostPort(c.Masters[0].Address)
	bus := c.Masters[0].bus()
	for i, n := range c.nodes() {
		n.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i > 0 {
			n.Do("CLUSTER", "MEET", host, port, bus)
		}
	}
	for i, n := range c.Masters {
		n.Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*slot.Count/masters), strconv.Itoa((i+1)*slot.Count/masters-1))
	}
	for _, n := range c.nodes() {
		n.Await("every node knows every other", func() bool {
			return strings.Count(n.Do("CLUSTER", "NODES"), "\n") == len(c.nodes()) && !strings.Contains(n.Do("CLUSTER", "NODES"), "handshake")
		})
	}
	for i, n := range c.Replicas {
		n.Await("a replica follows", func() bool { return n.Do("CLUSTER", "REPLICATE", c.Masters[i].ID) == "OK" })
	}
	for _, n := range c.nodes() {
		n.Await("the cluster is up", func() bool {
			return strings.Contains(n.Do("CLUSTER", "INFO"), "cluster_state:ok") && strings.Count(n.Do("CLUSTER", "NODES"), "slave") == len(c.Replicas)
		})
	}
	for _, n := range c.Replicas {
		n.Await("a replica is in sync", func() bool { return strings.Contains(n.Do("INFO", "replication"), "master_link_status:up") })
	}
	return c
}

func (c *Cluster) nodes() []*Node { return append(append([]*Node{}, c.Masters...), c.Replicas...) }

// start runs a server on free ports below the range that the system gives out itself.
func start(t testing.TB, args []string) *Node {
	t.Helper()
	for attempt := 0; ; attempt++ {
		port := 10_000 + rand.IntN(10_000)
		n := &Node{t: t, Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
		if !free(port) || !free(port+10_000) {
			continue
		}
		n.args = append([]string{"--port", strconv.Itoa(port), "--cluster-port", strconv.Itoa(port + 10_000), "--bind", "127.0.0.1",
			"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
			"--repl-diskless-sync-delay", "0", "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--enable-debug-command", "yes"}, args...)
		n.run()
		t.Cleanup(n.Kill)
		if n.up() {
			n.ID = n.Do("CLUSTER", "MYID")
			return n
		}
		n.Kill() // another process took the port
		if attempt > 10 {
			t.Fatal("redis-server does not start")
		}
	}
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

func (n *Node) run() {
	n.cmd = exec.Command("redis-server", n.args...)
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.ended = make(chan struct{})
	go func(c *exec.Cmd, ended chan struct{}) {
		c.Wait()
		close(ended)
	}(n.cmd, n.ended)
}

// up waits for the server to answer, and reports whether it does. It is false if a server of another process answers,
// which took the port.
func (n *Node) up() bool {
	own := fmt.Sprintf("process_id:%d\r\n", n.cmd.Process.Pid)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if v, err := n.Try("INFO", "server"); err == nil && !v.IsError() {
			return strings.Contains(string(v.Str), own)
		}
		select {
		case <-n.ended:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// Kill kills the server at once.
func (n *Node) Kill() {
	n.cmd.Process.Kill()
	<-n.ended
}

func (n *Node) bus() string {
	_, port, _ := net.SplitHostPort(n.Address)
	number, _ := strconv.Atoi(port)
	return strconv.Itoa(number + 10_000)
}

// Try runs a command on the node itself, which may be dead.
func (n *Node) Try(args ...string) (resp.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := remote.OpenRedis(ctx, "redis://"+n.Address, false, remote.Options{})
	if err != nil {
		return resp.Value{}, err
	}
	defer r.Close()
	call := make([][]byte, len(args))
	for i, a := range args {
		call[i] = []byte(a)
	}
	return r.Do(ctx, call...)
}

// Do runs a command on the node itself, and returns a text or an error reply.
func (n *Node) Do(args ...string) string {
	n.t.Helper()
	v, err := n.Try(args...)
	if err != nil {
		n.t.Errorf("%s %q: %v", n.Address, args, err)
	}
	return string(v.Str)
}

// Await waits for a condition.
func (n *Node) Await(what string, met func() bool) {
	n.t.Helper()
	for end := time.Now().Add(time.Minute); !met(); {
		if time.Now().After(end) {
			n.t.Fatalf("%s: not so after a minute: %s", n.Address, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Move moves a slot with its keys from one master to another, as redis-cli's reshard does, and tells the others.
// When a node dies, the slot remains the old owner's.
func (c *Cluster) Move(ctx context.Context, at int, from, to *Node) (err error) {
	c.moving.Lock()
	defer c.moving.Unlock()
	s := strconv.Itoa(at)
	defer func() {
		if err != nil { // an importing node would not accept the slot's next owner
			from.Try("CLUSTER", "SETSLOT", s, "STABLE")
			to.Try("CLUSTER", "SETSLOT", s, "STABLE")
		}
	}()
	host, port, _ := net.SplitHostPort(to.Address)
	for _, step := range []struct {
		on   *Node
		args []string
	}{{to, []string{"CLUSTER", "SETSLOT", s, "IMPORTING", from.ID}}, {from, []string{"CLUSTER", "SETSLOT", s, "MIGRATING", to.ID}}} {
		if v, err := step.on.Try(step.args...); err != nil || v.IsError() {
			return fmt.Errorf("%q: %s %w", step.args, v.Str, err)
		}
	}
	for {
		v, err := from.Try("CLUSTER", "GETKEYSINSLOT", s, "10")
		if err != nil {
			return err
		}
		if len(v.Elems) == 0 {
			break
		}
		args := []string{"MIGRATE", host, port, "", "0", "5000", "REPLACE", "KEYS"}
		for _, e := range v.Elems {
			args = append(args, string(e.Str))
		}
		if v, err := from.Try(args...); err != nil || v.IsError() && !bytes.HasPrefix(v.Str, []byte("NOKEY")) {
			return fmt.Errorf("MIGRATE: %s %w", v.Str, err)
		}
	}
	for _, n := range append([]*Node{to, from}, c.Masters...) {
		n.Try("CLUSTER", "SETSLOT", s, "NODE", to.ID)
	}
	for end := time.Now().Add(5 * time.Second); ctx.Err() == nil && time.Now().Before(end) && !c.agrees(at, to); {
		<-time.After(5 * time.Millisecond)
	}
	return nil
}

// agrees reports whether all nodes that live have the same epochs, and the same owner of a slot. Moving a slot before
// that may lose it: a message of its old owner with a newer epoch takes it back.
func (c *Cluster) agrees(at int, owner *Node) bool {
	epochs := ""
	for _, n := range c.nodes() {
		v, err := n.Try("CLUSTER", "NODES")
		if err != nil {
			continue
		}
		var seen []string
		for line := range strings.Lines(string(v.Str)) {
			words := strings.Fields(line)
			if strings.Contains(words[2], "master") && !strings.Contains(words[2], "fail") {
				seen = append(seen, words[0]+" "+words[6])
			}
		}
		slices.Sort(seen)
		if own := strings.Join(seen, "\n"); epochs == "" {
			epochs = own
		} else if own != epochs {
			return false
		}
		if v, err = n.Try("CLUSTER", "SLOTS"); err != nil {
			continue
		}
		for _, r := range v.Elems {
			if r.Elems[0].Int <= int64(at) && int64(at) <= r.Elems[1].Int && string(r.Elems[2].Elems[2].Str) != owner.ID {
				return false
			}
		}
	}
	return true
}

// KillMaster kills a master between two moves: Redis loses a slot whose new owner dies before its replica knows of it.
func (c *Cluster) KillMaster(n *Node) {
	c.moving.Lock()
	defer c.moving.Unlock()
	n.Kill()
}

// Owner returns the master of a slot, as any of the nodes sees it.
func (c *Cluster) Owner(at int) *Node {
	for _, n := range c.nodes() {
		v, err := n.Try("CLUSTER", "SLOTS")
		if err != nil {
			continue
		}
		for _, r := range v.Elems {
			if int64(at) < r.Elems[0].Int || int64(at) > r.Elems[1].Int {
				continue
			}
			for _, m := range c.nodes() {
				if m.ID == string(r.Elems[2].Elems[2].Str) {
					return m
				}
			}
		}
	}
	return nil
}
