//go:build unix

package soak

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/hermetic"
	"github.com/meowdis/meowdis/internal/test/s3test"
	"github.com/meowdis/meowdis/local"
)

var failovers = flag.Int("failovers", 2, "rounds of each TestFailover")

// The flags of the servers of TestFailover, and the time that a round may take on a busy machine.
const (
	failoverLease = 2 * time.Second
	failoverLate  = 5 * time.Minute
)

// TestFailover kills, hangs and cuts off a writer and its standby, while clients write to both. Two servers never
// acknowledge writes at the same time, with --sync-replicate no acknowledged write is lost, and without it only the last
// ones before the fault, which the old file still has.
func TestFailover(t *testing.T) {
	t.Run("directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "place")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		runFailovers(t, func(t *testing.T) gate { return newLink(t, dir) }, false)
	})
	t.Run("bucket, --sync-replicate", func(t *testing.T) {
		endpoint := s3test.Start(t, "../s3")
		runFailovers(t, func(t *testing.T) gate { return newProxy(t, endpoint) }, true)
	})
}

// write is one write of the history.
type write struct {
	key              string
	node             *failoverNode
	invoked, replied time.Time
	acknowledged     bool
}

// pair is two servers, and the history of the clients' writes.
type pair struct {
	t      *testing.T
	sync   bool
	random *rand.Rand
	dir    string
	made   int // nodes

	mu      sync.Mutex
	next    int
	history []write
}

// failoverNode is a server with its file, its way to the place, and its clients.
type failoverNode struct {
	pair    *pair
	name    string
	path    string
	gate    gate
	process *process
	leave   context.CancelFunc
	clients sync.WaitGroup
}

const clientsOfNode = 3

// launch starts the node's server and clients.
func (p *pair) launch(g gate, how ...string) *failoverNode {
	p.made++
	n := &failoverNode{pair: p, name: fmt.Sprint("node", p.made), gate: g}
	n.path = filepath.Join(p.dir, n.name+".sqlite")
	n.process = &process{cmd: n.command(how...)}
	n.process.cmd.Stderr = &n.process.log
	n.process.launch(p.t)
	ctx, leave := context.WithCancel(context.Background())
	n.leave = leave
	for range clientsOfNode {
		n.clients.Go(func() { n.write(ctx) })
	}
	return n
}

func (n *failoverNode) command(how ...string) *exec.Cmd {
	args := append([]string{"serve", n.path, "--http", "0", "--resp", "0", "--replicate-every", "20ms", "--lease", failoverLease.String()}, how...)
	args = append(args, n.gate.place())
	if n.pair.sync {
		args = append(args, "--sync-replicate")
	}
	c := exec.Command(self(n.pair.t), args...)
	c.Env = append(hermetic.Environ(), isMeowdis+"=1", "MEOWDIS_TOKEN="+token, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	return c
}

var (
	asWriter  = []string{"--replicate"}
	asStandby = []string{"--promote-after", failoverLease.String(), "--follow"}
)

// write runs a client: each write has a key of its own, and waits for its reply, however late.
func (n *failoverNode) write(ctx context.Context) {
	p := n.pair
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", strings.TrimPrefix(n.process.redis, "redis://"))
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		stop := context.AfterFunc(ctx, func() { c.Close() })
		in := bufio.NewReader(c)
		for ctx.Err() == nil {
			p.mu.Lock()
			p.next++
			w := write{key: fmt.Sprint("key", p.next), node: n, invoked: time.Now()}
			p.mu.Unlock()
			fmt.Fprintf(c, "SET %s %s\r\n", w.key, n.name)
			reply, err := in.ReadString('\n')
			if err != nil {
				break
			}
			w.replied, w.acknowledged = time.Now(), reply == "+OK\r\n"
			p.mu.Lock()
			p.history = append(p.history, w)
			p.mu.Unlock()
			time.Sleep(2 * time.Millisecond)
		}
		stop()
		c.Close()
	}
}

// await waits until the condition holds.
func (p *pair) await(what string, nodes []*failoverNode, holds func() bool) {
	p.t.Helper()
	for late := time.Now().Add(failoverLate); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			for _, n := range nodes {
				p.t.Logf("%s\n%s", n.name, n.process.log.String())
			}
			p.t.Fatalf("%s: not in time", what)
		}
	}
}

// acknowledges reports whether a write to the node that was sent since was acknowledged.
func (n *failoverNode) acknowledges(since time.Time) bool {
	n.pair.mu.Lock()
	defer n.pair.mu.Unlock()
	for i := len(n.pair.history) - 1; i >= 0; i-- {
		if w := &n.pair.history[i]; w.node == n && w.acknowledged && w.invoked.After(since) {
			return true
		}
	}
	return false
}

// refuses reports whether a write to the node that was sent since was refused.
func (n *failoverNode) refuses(since time.Time) bool {
	n.pair.mu.Lock()
	defer n.pair.mu.Unlock()
	for i := len(n.pair.history) - 1; i >= 0; i-- {
		if w := &n.pair.history[i]; w.node == n && !w.acknowledged && w.invoked.After(since) {
			return true
		}
	}
	return false
}

// ask returns the reply of a command as text, or "".
func (n *failoverNode) ask(words ...string) string {
	text, _ := n.tryAsk(words...)
	return text
}

// read returns the value of a key, "" if it is missing. It asks again while the node does not reply.
func (n *failoverNode) read(key string) string {
	for end := time.Now().Add(failoverLate); ; time.Sleep(50 * time.Millisecond) {
		value, replied := n.tryAsk("GET", key)
		if replied {
			return value
		}
		if time.Now().After(end) {
			n.pair.t.Fatalf("%s does not reply to GET", n.name)
		}
	}
}

// tryAsk returns the reply of a command as text, "" for a null reply. ok is false without a reply of that kind.
func (n *failoverNode) tryAsk(words ...string) (text string, ok bool) {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(n.process.redis, "redis://"), time.Second)
	if err != nil {
		return "", false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(c, "%s\r\n", strings.Join(words, " "))
	in := bufio.NewReader(c)
	line, err := in.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "$") {
		return "", false
	}
	size, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil || size < 0 {
		return "", err == nil
	}
	value := make([]byte, size)
	if _, err := io.ReadFull(in, value); err != nil {
		return "", false
	}
	return string(value), true
}

// lastComplete returns when the place last had all writes of the node, in Unix seconds, or 0.
func (n *failoverNode) lastComplete() int64 {
	_, rest, _ := strings.Cut(n.ask("INFO", "persistence"), "\r\nreplicate_last_time:")
	value, _, _ := strings.Cut(rest, "\r\n")
	seconds, _ := strconv.ParseInt(value, 10, 64)
	return seconds
}

// retire ends the node's server and clients.
func (n *failoverNode) retire() {
	n.leave()
	n.process.kill()
	n.clients.Wait()
}

// figures sums up the rounds.
type figures struct {
	rounds, writes, lost int
	oldest               time.Duration // of a lost write, before the fault
	longest              time.Duration // without an acknowledged write
	faults               map[string]int
}

// runFailovers runs rounds with one fault each.
func runFailovers(t *testing.T, newGate func(*testing.T) gate, sync bool) {
	p := &pair{t: t, sync: sync, random: rand.New(rand.NewPCG(*seed, 7)), dir: t.TempDir()}
	sums := figures{faults: map[string]int{}}
	gates := []gate{newGate(t), newGate(t)}
	writer := p.launch(gates[0], asWriter...)
	began := time.Now()
	p.await("the writer starts", []*failoverNode{writer}, func() bool { return writer.acknowledges(began) })
	standby := p.join(gates[1], writer)
	for round := range *failovers {
		fault := []string{"kill", "hang", "cut"}[(round+p.random.IntN(2))%3]
		if round%5 == 4 {
			p.disturb(standby, writer, fault)
			sums.faults["standby "+fault]++
		}
		p.mu.Lock()
		p.history = nil
		p.mu.Unlock()
		writer, standby = p.replace(writer, standby, fault, &sums)
		sums.rounds++
		sums.faults[fault]++
		if t.Failed() {
			break
		}
	}
	writer.retire()
	standby.retire()
	t.Logf("%d faults %v: %d acknowledged writes, %d lost, the oldest acknowledged %v before the fault; at most %v without a writer",
		sums.rounds, sums.faults, sums.writes, sums.lost, sums.oldest.Round(time.Millisecond), sums.longest.Round(time.Millisecond))
}

// join starts a standby, and waits until the writer has agreed to failover.
func (p *pair) join(g gate, writer *failoverNode) *failoverNode {
	var standby *failoverNode
	p.await("the place has a stream", []*failoverNode{writer}, func() bool {
		return strings.Contains(writer.ask("INFO", "persistence"), "replicate_status:ok") && !strings.Contains(writer.ask("INFO", "persistence"), "replicate_last_time:-1")
	})
	standby = p.launch(g, asStandby...)
	p.await("the writer agrees to failover", []*failoverNode{writer, standby}, func() bool {
		return strings.Contains(standby.ask("INFO", "replication"), "lease_failover:yes")
	})
	return standby
}

// apply causes a fault of a node.
func (n *failoverNode) apply(fault string) {
	switch fault {
	case "kill":
		n.process.kill()
	case "hang":
		n.process.cmd.Process.Signal(syscall.SIGSTOP)
	case "cut":
		n.gate.cut()
	}
}

// undo ends a fault.
func (n *failoverNode) undo(fault string) {
	switch fault {
	case "hang":
		n.process.cmd.Process.Signal(syscall.SIGCONT)
	case "cut":
		n.gate.heal()
	}
}

// disturb causes a fault of the standby that does not outlast the lease of the writer: the writer continues.
func (p *pair) disturb(standby, writer *failoverNode, fault string) {
	if fault == "kill" {
		fault = "hang"
	}
	standby.apply(fault)
	time.Sleep(time.Duration(p.random.Int64N(int64(2 * failoverLease))))
	standby.undo(fault)
	since := time.Now()
	p.await("the writer continues", []*failoverNode{writer, standby}, func() bool {
		return writer.acknowledges(since) || standby.acknowledges(since)
	})
}

// replace causes a fault of the writer, waits until the standby has taken over, ends the fault, and checks the history.
// It returns the next writer and standby.
func (p *pair) replace(writer, standby *failoverNode, fault string, sums *figures) (*failoverNode, *failoverNode) {
	both := []*failoverNode{writer, standby}
	for standby.acknowledges(time.Time{}) { // the machine was so busy that it took over without a fault
		writer.retire()
		if p.sync {
			p.check(writer, standby, time.Now(), 0, sums)
		}
		p.mu.Lock()
		p.history = nil
		p.mu.Unlock()
		writer, standby = standby, p.join(writer.gate, standby)
		both = []*failoverNode{writer, standby}
	}
	var complete int64
	joined := time.Now().Unix()
	p.await("the place is complete", both, func() bool {
		complete = writer.lastComplete()
		return complete >= joined
	})
	time.Sleep(100*time.Millisecond + time.Duration(p.random.Int64N(int64(200*time.Millisecond))))
	complete = max(complete, writer.lastComplete())
	at := time.Now()
	writer.apply(fault)
	p.await("the standby takes over after "+fault, both, func() bool { return standby.acknowledges(at) })
	time.Sleep(time.Duration(p.random.Int64N(int64(100 * time.Millisecond))))
	since := time.Now()
	writer.undo(fault)
	if fault == "kill" {
		out, err := writer.command(asWriter...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "To rejoin") {
			p.t.Errorf("the old writer starts again: %v\n%s", err, out)
		}
	} else {
		p.await("the old writer refuses writes", both, func() bool { return writer.refuses(since) })
		p.await("the old writer counts the writes that only it has", both, func() bool {
			return strings.Contains(writer.process.log.String(), "transactions_only_here=")
		})
	}
	time.Sleep(50 * time.Millisecond)
	writer.leave()
	writer.process.kill()
	writer.clients.Wait()
	p.check(writer, standby, at, complete, sums)
	return standby, p.join(writer.gate, standby)
}

// check examines the history of a round: old was replaced by now after a fault. Writes acknowledged before complete, in
// Unix seconds, were in the place by then: the machine may be too busy for a limit in seconds before the fault.
func (p *pair) check(old, now *failoverNode, at time.Time, complete int64, sums *figures) {
	p.mu.Lock()
	history := append([]write(nil), p.history...)
	p.mu.Unlock()
	first, last := time.Time{}, time.Time{}
	for _, w := range history {
		if w.acknowledged && w.node == now && (first.IsZero() || w.replied.Before(first)) {
			first = w.replied
		}
	}
	missing := map[string]write{}
	for _, w := range history {
		switch {
		case !w.acknowledged:
			continue
		case w.node == old && w.invoked.After(first):
			p.t.Errorf("two writers: the old one acknowledged %s, sent %v after the first reply of the new one", w.key, w.invoked.Sub(first))
		case w.node == old && w.replied.After(last) && w.replied.Before(first):
			last = w.replied
		}
		sums.writes++
		if now.read(w.key) != w.node.name {
			missing[w.key] = w
		}
	}
	if !last.IsZero() {
		sums.longest = max(sums.longest, first.Sub(last))
	}
	sums.lost += len(missing)
	if len(missing) == 0 {
		return
	}
	file, err := local.Open(old.path, local.Options{ReadOnly: true})
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	session := engine.New(file).Session()
	for _, w := range missing {
		sums.oldest = max(sums.oldest, at.Sub(w.replied))
		switch v, err := session.Do(context.Background(), []byte("GET"), []byte(w.key)); {
		case p.sync:
			p.t.Errorf("%s is lost, which %s acknowledged %v after the fault", w.key, w.node.name, w.replied.Sub(at))
		case w.node == now:
			p.t.Errorf("the new writer has lost %s", w.key)
		case w.replied.Before(time.Unix(complete, 0)):
			p.t.Errorf("%s is lost, which was acknowledged %v before the fault", w.key, at.Sub(w.replied))
		case err != nil || string(v.Str) != old.name:
			p.t.Errorf("the old file has lost %s: %s %v", w.key, v.Str, err)
		}
	}
}
