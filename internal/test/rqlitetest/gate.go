package rqlitetest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// gate is the proxy between a node and the other nodes. It knows the origin of each
// connection from the process at its other end (Linux only), and can cut the connections of
// one node.
type gate struct {
	listener  net.Listener
	to        string
	processes func() map[int]int // the nodes by process

	mu    sync.Mutex
	alone map[int]bool     // separated nodes; -1 for all
	conns map[net.Conn]int // by origin
}

func newGate(t testing.TB, to string, processes func() map[int]int) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, to: to, processes: processes, alone: map[int]bool{}, conns: map[net.Conn]int{}}
	t.Cleanup(func() {
		l.Close()
		g.cutAll()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go g.pass(in)
		}
	}()
	return g
}

func (g *gate) address() string { return g.listener.Addr().String() }

// pass copies both ways until an end closes or is cut.
func (g *gate) pass(in net.Conn) {
	defer in.Close()
	from := origin(in, g.processes())
	out, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer out.Close()
	if !g.let(in, from) {
		return
	}
	defer g.forget(in)
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

func (g *gate) let(in net.Conn, from int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.alone[-1] || g.alone[from] {
		return false
	}
	g.conns[in] = from
	return true
}

func (g *gate) forget(in net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, in)
}

// cut closes the connections from node, and refuses new ones. self is the gate's own node,
// which may equal node.
func (g *gate) cut(node, self int) {
	if node == self {
		node = -1
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alone[node] = true
	for c, from := range g.conns {
		if node == -1 || from == node {
			c.Close()
		}
	}
}

func (g *gate) heal() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.alone)
}

func (g *gate) cutAll() { g.cut(0, 0) }

// origin returns the node at the other end of a connection, or -2 if it is not a node.
func origin(c net.Conn, processes map[int]int) int {
	inode := socket(c.RemoteAddr().(*net.TCPAddr).Port, c.LocalAddr().(*net.TCPAddr).Port)
	for pid, node := range processes {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			if to, _ := os.Readlink(link); inode != "" && to == "socket:["+inode+"]" {
				return node
			}
		}
	}
	return -2
}

// socket returns the inode of the 127.0.0.1 socket at port that is connected to remote.
func socket(port, remote int) string {
	table, _ := os.ReadFile("/proc/net/tcp")
	want := fmt.Sprintf("0100007F:%04X 0100007F:%04X ", port, remote)
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 9 && strings.Contains(line, want) {
			return fields[9]
		}
	}
	return ""
}
