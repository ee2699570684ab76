//go:build unix

package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// watchInterval limits how often a command checks for new MONITOR clients in other processes. It also bounds how old a
// directory change must be to be trusted: two changes within a tick of the file system's clock have the same
// time.
const watchInterval = 100 * time.Millisecond

// replyTimeout limits how long this process waits for other processes.
var replyTimeout = 3 * time.Second

// Node connects one process to the bus of a file. It is safe for concurrent use.
type Node struct {
	file string
	dir  string
	hub  *pubsub.Hub

	mu        sync.Mutex
	listeners map[string]net.Listener // by the name of the socket
	accepted  sync.WaitGroup
	conns     map[net.Conn]bool // opened by other processes
	links     map[string]*link  // to other processes, by the name of their socket
	scanned   time.Time         // the time when the directory was listed
	changed   time.Time         // its modification time at that moment
	closed    bool

	joining   sync.Mutex
	announced atomic.Bool  // other processes announce themselves to this one
	nextWatch atomic.Int64 // when commands check the directory again, Unix ns
	watchers  atomic.Int64 // links to processes with MONITOR clients
}

// commandsSuffix marks the sockets of processes that only receive commands, for MONITOR.
const commandsSuffix = ".commands"

// New connects hub to the other processes using path, which need not exist. It creates nothing beside the file
// until a client of this process listens.
func New(path string, hub *pubsub.Hub) *Node {
	n := &Node{
		file: realPath(path), hub: hub,
		listeners: map[string]net.Listener{}, conns: map[net.Conn]bool{}, links: map[string]*link{},
	}
	n.dir = n.file + "-bus"
	hub.SetPeers(pubsub.Peers{Ask: n.ask, Watched: n.hasWatchers, Show: n.show, Join: n.Join})
	return n
}

// realPath returns path without symbolic links, as SQLite names the files beside a database.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// Join makes this process reachable for other processes. It returns once the running ones know about it or have
// timed out.
func (n *Node) Join(kind pubsub.Kind) error {
	n.joining.Lock()
	defer n.joining.Unlock()
	suffix := ""
	if kind == pubsub.Commands {
		suffix = commandsSuffix
	}
	if n.listens(suffix) {
		return nil
	}
	ln, name, err := n.open(suffix)
	if err != nil {
		return fmt.Errorf("listening to other processes beside the file: %w", err)
	}
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		ln.Close()
		os.Remove(filepath.Join(n.dir, name))
		return net.ErrClosed
	}
	n.listeners[name] = ln
	n.announced.Store(n.announced.Load() || suffix == "")
	n.accepted.Go(func() { store.Guard(logging.Panic(slog.Default()), func() { n.accept(ln) }) })
	n.mu.Unlock()
	n.scan()
	n.askAll([][]byte{[]byte(scanCall)}, replyTimeout)
	return nil
}

// listens reports whether this process has a socket with the suffix.
func (n *Node) listens(suffix string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name := range n.listeners {
		if strings.HasSuffix(name, commandsSuffix) == (suffix != "") {
			return true
		}
	}
	return false
}

// scanCall tells another process that the directory has changed.
const scanCall = "LOOK"

// accept serves connections until ln is closed.
func (n *Node) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors; retry
			time.Sleep(10 * time.Millisecond)
			continue
		}
		n.mu.Lock()
		if n.closed {
			conn.Close()
		} else {
			n.conns[conn] = true
			n.accepted.Go(func() { store.Guard(logging.Panic(slog.Default()), func() { n.serve(conn) }) })
		}
		n.mu.Unlock()
	}
}

// serve answers the calls of one other process, in order.
func (n *Node) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.conns, conn)
	}()
	in := resp.NewReader(conn)
	var out []byte
	for {
		args, err := in.ReadCommand()
		if err != nil || len(args) == 0 {
			return
		}
		if string(args[0]) == scanCall {
			n.scan()
			out = resp.Append2(out, resp.OK)
		} else {
			out = resp.Append2(out, n.hub.Answer(args))
		}
		if in.Buffered() > 0 && len(out) < resp.Piece {
			continue
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// Close leaves the bus. It waits up to three seconds for unsent calls.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	links := slices.Collect(maps.Values(n.links))
	n.mu.Unlock()
	deadline := time.Now().Add(replyTimeout)
	for _, l := range links {
		l.drain(deadline)
		l.close()
	}
	n.mu.Lock()
	for name, ln := range n.listeners {
		os.Remove(filepath.Join(n.dir, name))
		ln.Close()
	}
	for conn := range n.conns {
		conn.Close()
	}
	joined := len(n.listeners) > 0
	n.mu.Unlock()
	n.accepted.Wait()
	if joined {
		os.Remove(n.dir) // fails if it is not empty
	}
	return nil
}

// ask implements pubsub.Peers.Ask: it calls all processes that listen for messages.
func (n *Node) ask(args [][]byte, hurry bool) []resp.Value {
	if n.announced.Load() {
		n.scanIfOld()
	} else {
		n.refresh()
	}
	if hurry {
		return n.askAll(args, replyTimeout/3)
	}
	return n.askAll(args, replyTimeout)
}

// hasWatchers implements pubsub.Peers.Watched. The engine calls it for every command.
func (n *Node) hasWatchers() bool {
	if !n.announced.Load() {
		if now := time.Now().UnixNano(); now >= n.nextWatch.Load() {
			n.nextWatch.Store(now + int64(watchInterval))
			n.refresh()
		}
	}
	return n.watchers.Load() > 0
}

// show implements pubsub.Peers.Show.
func (n *Node) show(line []byte) {
	call := resp.AppendCommand(nil, pubsub.ShowCall(line)...)
	for _, l := range n.linked(commandsSuffix) {
		l.send(call, nil)
	}
}

// linked returns the links to the sockets with the suffix.
func (n *Node) linked(suffix string) (all []*link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, l := range n.links {
		if strings.HasSuffix(name, commandsSuffix) == (suffix != "") {
			all = append(all, l)
		}
	}
	return all
}

// askAll sends a call to all processes that listen for messages, and returns the replies that arrive in time.
func (n *Node) askAll(args [][]byte, within time.Duration) (replies []resp.Value) {
	links := n.linked("")
	if len(links) == 0 {
		return nil
	}
	call := resp.AppendCommand(nil, args...)
	answers := map[*link]chan resp.Value{}
	for _, l := range links {
		answer := make(chan resp.Value, 1)
		if l.send(call, answer) {
			answers[l] = answer
		}
	}
	late := make(chan struct{})
	timer := time.AfterFunc(within, func() { close(late) })
	defer timer.Stop()
	for l, answer := range answers {
		if v, ok := wait(answer, late); !ok {
			l.timedOut()
		} else if !v.IsError() {
			replies = append(replies, v)
		}
	}
	return replies
}

// wait waits for a reply until late is closed. ok is false if the link is closed.
func wait(answer chan resp.Value, late chan struct{}) (v resp.Value, ok bool) {
	select {
	case v, ok = <-answer:
		return v, ok
	default:
	}
	select {
	case v, ok = <-answer:
		return v, ok
	case <-late:
		return v, false
	}
}

// scanIfOld lists the directory every few seconds, although new processes announce themselves: an
// announcement may have timed out.
func (n *Node) scanIfOld() {
	n.mu.Lock()
	recent := time.Since(n.scanned) < replyTimeout
	n.mu.Unlock()
	if !recent {
		n.refresh()
	}
}

// refresh lists the directory if it may have changed.
func (n *Node) refresh() {
	info, err := os.Lstat(n.dir)
	n.mu.Lock()
	same := err == nil && info.ModTime().Equal(n.changed) && n.scanned.Sub(n.changed) > watchInterval ||
		err != nil && len(n.links) == 0
	if same {
		n.scanned = time.Now()
	}
	n.mu.Unlock()
	if !same {
		n.scan()
	}
}

// scan lists the directory, connects to new sockets, and removes the sockets of killed processes.
func (n *Node) scan() {
	now := time.Now()
	changed, names := n.list()
	n.mu.Lock()
	n.scanned, n.changed = now, changed
	var fresh []string
	for _, name := range names {
		if n.links[name] == nil && n.listeners[name] == nil && !n.closed {
			fresh = append(fresh, name)
		}
	}
	n.mu.Unlock()
	for _, name := range fresh {
		conn, err := n.dial(name)
		if err != nil {
			continue
		}
		l := newLink(conn)
		n.mu.Lock()
		if n.links[name] != nil || n.closed {
			n.mu.Unlock()
			l.close()
			continue
		}
		n.links[name] = l
		n.watchers.Add(watches(name))
		n.mu.Unlock()
		go func() {
			store.Guard(logging.Panic(slog.Default()), l.run)
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.links, name)
			n.watchers.Add(-watches(name))
		}()
	}
}

// watches returns 1 for a socket that receives commands.
func watches(name string) int64 {
	if strings.HasSuffix(name, commandsSuffix) {
		return 1
	}
	return 0
}

// list returns the names of the sockets. It returns none unless the directory is private to the file's owner.
func (n *Node) list() (changed time.Time, names []string) {
	info, err := os.Lstat(n.dir)
	if err != nil || n.checkDir(info) != nil {
		return changed, nil
	}
	changed = info.ModTime()
	entries, _ := os.ReadDir(n.dir)
	for _, e := range entries {
		switch {
		case e.Type()&fs.ModeSocket == 0:
		case !strings.HasPrefix(e.Name(), unreadyPrefix):
			names = append(names, e.Name())
		case n.isOld(e):
			os.Remove(filepath.Join(n.dir, e.Name()))
		}
	}
	return changed, names
}

// isOld reports whether an unready socket was abandoned.
func (n *Node) isOld(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > time.Minute
}
