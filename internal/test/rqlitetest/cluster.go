package rqlitetest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience limits waits for a cluster; they usually take a second or two.
const patience = 2 * time.Minute

// Cluster is a set of rqlited nodes.
type Cluster struct {
	t     testing.TB
	dir   string
	nodes []*node
	args  []string
}

// node is one rqlited. The other nodes reach it through a gate.
type node struct {
	id   int
	http string
	raft string
	gate *gate

	mu     sync.Mutex
	cmd    *exec.Cmd // nil while killed
	exited chan struct{}
	log    bytes.Buffer
}

// Start runs a cluster of n nodes until the test ends. More args are rqlited's.
func Start(t testing.TB, n int, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, dir: t.TempDir(), args: args}
	t.Cleanup(c.stop)
	for i := range n {
		c.nodes = append(c.nodes, &node{id: i, http: freeAddress(t), raft: freeAddress(t)})
	}
	var gates []string
	for _, nd := range c.nodes {
		nd.gate = newGate(t, nd.raft, c.processes)
		gates = append(gates, nd.gate.address())
	}
	for i := range c.nodes {
		more := []string{}
		if n > 1 {
			more = append(more, "-bootstrap-expect", fmt.Sprint(n), "-join", strings.Join(gates, ","), "-join-interval", "200ms", "-join-attempts", "100")
		}
		c.run(i, more...)
	}
	for i := range c.nodes {
		c.WaitReady(i)
	}
	return c
}

// freeAddress returns an unused address of 127.0.0.1. rqlited cannot report a port of its own
// choice, and another process may take the port before rqlited does: so it is outside the
// range that systems use for ephemeral ports.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

func (c *Cluster) run(i int, more ...string) {
	c.t.Helper()
	n := c.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	args := append([]string{"-node-id", fmt.Sprint(i + 1), "-http-addr", n.http, "-raft-addr", n.raft, "-raft-adv-addr", n.gate.address(),
		"-raft-log-level", "ERROR", "-cluster-connect-timeout", "2m"}, c.args...)
	args = append(append(args, more...), filepath.Join(c.dir, fmt.Sprint(i)))
	n.cmd = exec.Command(Server(c.t), args...)
	n.cmd.Stdout, n.cmd.Stderr = &n.log, &n.log
	if err := n.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	cmd, exited := n.cmd, make(chan struct{})
	n.exited = exited
	go func() {
		cmd.Wait()
		close(exited)
	}()
}

// ended reports whether a node has exited by itself.
func (n *node) ended() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.exited:
		return true
	default:
		return false
	}
}

// Addresses returns the HTTP API addresses of the nodes, as host:port.
func (c *Cluster) Addresses() (all []string) {
	for _, n := range c.nodes {
		all = append(all, n.http)
	}
	return all
}

// WaitReady waits until a node has a leader and has caught up.
func (c *Cluster) WaitReady(i int) {
	c.t.Helper()
	c.wait(fmt.Sprintf("node %d is ready", i+1), func() bool {
		ok, _ := get("http://" + c.nodes[i].http + "/readyz?sync&timeout=5s")
		return ok
	})
}

// Leader waits until a node claims to be the leader, and returns its index. Two nodes may
// claim it for a moment.
func (c *Cluster) Leader() (leader int) {
	c.t.Helper()
	c.wait("there is a leader", func() bool {
		for i, n := range c.nodes {
			if ok, state := get("http://" + n.http + "/status?key=store.raft.state"); ok && strings.Contains(state, "Leader") {
				leader = i
				return true
			}
		}
		return false
	})
	return leader
}

func (c *Cluster) wait(what string, is func() bool) {
	c.t.Helper()
	for until := time.Now().Add(patience); !is(); {
		ended := slices.ContainsFunc(c.nodes, (*node).ended)
		if ended || time.Now().After(until) {
			c.t.Fatalf("it never came that %s; a node has ended by itself: %t", what, ended)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var client = &http.Client{Timeout: 10 * time.Second}

func get(address string) (ok bool, body string) {
	p, err := client.Get(address)
	if err != nil {
		return false, ""
	}
	defer p.Body.Close()
	text, err := io.ReadAll(p.Body)
	return err == nil && p.StatusCode == http.StatusOK, string(text)
}

// Kill ends a node as kill -9 does.
func (c *Cluster) Kill(i int) {
	n := c.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		n.cmd.Process.Kill()
		<-n.exited
		n.cmd = nil
	}
}

// Restart starts a node that was killed.
func (c *Cluster) Restart(i int) { c.run(i) }

// Hang stops a node: it takes connections and does nothing.
func (c *Cluster) Hang(i int) { c.signal(i, syscall.SIGSTOP) }

// Continue resumes a node after Hang.
func (c *Cluster) Continue(i int) { c.signal(i, syscall.SIGCONT) }

func (c *Cluster) signal(i int, s syscall.Signal) {
	n := c.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		n.cmd.Process.Signal(s)
	}
}

// Cut separates a node from the other nodes. Clients can still reach it.
func (c *Cluster) Cut(i int) {
	for _, n := range c.nodes {
		n.gate.cut(i, n.id)
	}
}

// Heal reverses Cut.
func (c *Cluster) Heal() {
	for _, n := range c.nodes {
		n.gate.heal()
	}
}

// processes maps process IDs to nodes.
func (c *Cluster) processes() map[int]int {
	all := map[int]int{}
	for _, n := range c.nodes {
		n.mu.Lock()
		if n.cmd != nil {
			all[n.cmd.Process.Pid] = n.id
		}
		n.mu.Unlock()
	}
	return all
}

func (c *Cluster) stop() {
	for i := range c.nodes {
		c.Kill(i)
	}
	if c.t.Failed() {
		c.logs()
	}
}

// logs logs the ends of the nodes' output.
func (c *Cluster) logs() {
	for i, n := range c.nodes {
		c.Kill(i) // its log must have no writer
		text := n.log.Bytes()
		c.t.Logf("node %d:\n%s", i+1, text[max(0, len(text)-3000):])
	}
}
