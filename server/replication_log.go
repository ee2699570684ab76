package server

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// replicationLog holds the stream of effects that all replicas read (docs/design/replicas.md): a bounded buffer of bytes
// with increasing offsets. The log is active from the first replica until the backlog's TTL after the last one.
type replicationLog struct {
	server *Server

	starting sync.Mutex // held while the log starts or stops

	mu   sync.Mutex
	id   string
	stop func() // detaches the log from the engine; nil while it is inactive
	backlog
	grown    chan struct{}
	replicas map[*replica]bool
	waits    map[*ackWait]bool
	budget   *store.Budget
	expires  *time.Timer // stops the log; nil while there are replicas

	replicationCounts
}

// backlog holds the bytes that replicas may still ask for.
type backlog struct {
	blocks  [][]byte // the bytes after start, each block up to logBlock bytes
	start   int64    // offset before the first byte of blocks
	end     int64    // offset of the last byte
	written int64    // offset of the last byte of an effect: pings may follow
	spans   []span   // the parts that are for some replicas only, in order
	modules bool     // effects are recorded for replicas with modules, from offset since
	since   int64
	db      int // the database that replicas have selected; -1 makes the next effect select one
}

// replicationCounts are for INFO.
type replicationCounts struct {
	skipped, skippedArrays         atomic.Int64
	resets, partial, partialFailed atomic.Int64
}

const logBlock = 64 << 10

func newReplicationLog(s *Server) *replicationLog {
	return &replicationLog{
		server: s, id: randomID(), backlog: backlog{db: -1}, grown: make(chan struct{}), replicas: map[*replica]bool{}, waits: map[*ackWait]bool{},
		budget: store.NewBudget(s.memory, 1<<62, 0),
	}
}

// randomID returns a replication ID.
func randomID() string {
	id := make([]byte, 20)
	rand.Read(id)
	return hex.EncodeToString(id)
}

// activate makes the log record the effects of all later transactions.
func (l *replicationLog) activate() {
	l.starting.Lock()
	defer l.starting.Unlock()
	l.mu.Lock()
	active := l.stop != nil
	if l.expires != nil {
		l.expires.Stop()
		l.expires = nil
	}
	l.mu.Unlock()
	if active {
		return
	}
	detach := l.server.config.Engine.ListenEffects(l.record, l.hasModules, l.server.budget(0))
	ended := make(chan struct{})
	l.mu.Lock()
	l.stop = func() {
		close(ended)
		detach()
	}
	l.mu.Unlock()
	go l.server.guard(func() { l.ping(ended) })
}

// ping sends pings to the replicas.
func (l *replicationLog) ping(ended <-chan struct{}) {
	tick := time.NewTicker(l.server.config.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		if len(l.replicas) > 0 {
			l.append(resp.AppendCommand(nil, []byte("PING")))
		}
		l.mu.Unlock()
	}
}

// deactivate stops recording if no replica has come back.
func (l *replicationLog) deactivate() {
	l.starting.Lock()
	defer l.starting.Unlock()
	l.mu.Lock()
	stop := l.stop
	if stop == nil || len(l.replicas) > 0 || l.expires == nil {
		l.mu.Unlock()
		return
	}
	l.stop, l.expires, l.modules = nil, nil, false
	l.forget()
	l.mu.Unlock()
	stop()
}

// forget empties the log and changes its ID, so that no replica continues.
func (l *replicationLog) forget() {
	l.id, l.blocks, l.spans, l.start, l.db, l.written = randomID(), nil, nil, l.end, -1, l.end
	l.budget.Rewind(0)
}

// reset makes all replicas request all data again.
func (l *replicationLog) reset() {
	l.resets.Add(1)
	l.forget()
	for r := range l.replicas {
		r.disconnect()
	}
}

// record appends the effects of a transaction. It is called in commit order.
func (l *replicationLog) record(e engine.Effects) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skip(e)
	if e.Unknown {
		l.reset()
		return
	}
	var b []byte
	for rest := e.List; len(rest) > 0; {
		n := 1
		for rest[0].Unit != nil && n < len(rest) && rest[n].Unit == rest[0].Unit {
			n++
		}
		if n > 1 {
			b = resp.AppendCommand(b, []byte("MULTI"))
		}
		for unit := rest[:n]; len(unit) > 0; {
			if unit[0].DB != l.db {
				b = resp.AppendCommand(b, []byte("SELECT"), strconv.AppendInt(nil, int64(unit[0].DB), 10))
				l.db = unit[0].DB
			}
			same := 1
			for same < len(unit) && unit[same].DB == l.db && unit[same].For == unit[0].For {
				same++
			}
			b = l.recordFor(b, unit[:same])
			unit = unit[same:]
		}
		if n > 1 {
			b = resp.AppendCommand(b, []byte("EXEC"))
		}
		rest = rest[n:]
	}
	l.append(b)
	if len(e.List) > 0 {
		l.written = l.end
	}
}

// recordFor appends effects of one database for the same replicas to b, which follows the end of the log. It returns the
// rest of b.
func (l *replicationLog) recordFor(b []byte, effects []engine.Effect) []byte {
	first := l.end + int64(len(b))
	for _, one := range effects {
		if b = resp.AppendCommand(b, one.Args...); len(b) >= logBlock {
			l.append(b)
			b = b[:0]
		}
	}
	if who := effects[0].For; who != engine.Everyone {
		if !canFill(l.end + int64(len(b)) - first) {
			b = resp.AppendCommand(b, []byte("PING"))
		}
		l.spans = append(l.spans, span{first, l.end + int64(len(b)), who})
	}
	return b
}

// skip counts changes of values that replicas do not get.
func (l *replicationLog) skip(e engine.Effects) {
	n := e.Skipped
	for r := range l.replicas {
		if !r.modules {
			n += e.ModuleKeys
			break
		}
	}
	l.noteSkipped(n, e.Skipped)
}

// noteSkipped counts keys that a replica does not get. Arrays are the keys that even replicas with modules do not get.
func (l *replicationLog) noteSkipped(keys, arrays int) {
	n := int64(keys)
	l.skippedArrays.Add(int64(arrays))
	if n > 0 && l.skipped.Add(n) == n {
		l.server.config.Logger.Warn("keys are not sent to replicas: they have no type for them (INFO's repl_skipped_keys counts them)")
	}
}

// append adds bytes, and disconnects replicas that are too far behind.
func (l *replicationLog) append(b []byte) {
	for len(b) > 0 {
		last := len(l.blocks) - 1
		if last < 0 || len(l.blocks[last]) == cap(l.blocks[last]) {
			if !l.budget.Take(logBlock) {
				for r := range l.replicas {
					if r.pos < l.end {
						r.disconnect()
					}
				}
				l.trim()
				l.budget.Take(logBlock)
			}
			l.blocks = append(l.blocks, make([]byte, 0, logBlock))
			last++
		}
		block := &l.blocks[last]
		n := min(len(b), cap(*block)-len(*block))
		*block = append(*block, b[:n]...)
		b, l.end = b[n:], l.end+int64(n)
	}
	l.cutSlow(time.Now())
	l.trim()
	close(l.grown)
	l.grown = make(chan struct{})
}

// cutSlow disconnects the replicas that are over client-output-buffer-limit.
func (l *replicationLog) cutSlow(now time.Time) {
	limit := l.server.live.outputs.Load()[replicaClass]
	for r := range l.replicas {
		waiting := l.end - r.pos
		switch {
		case limit.soft <= 0 || waiting <= limit.soft:
			r.overSince = time.Time{}
		case r.overSince.IsZero():
			r.overSince = now
		}
		if limit.hard > 0 && waiting > limit.hard || !r.overSince.IsZero() && now.Sub(r.overSince) > limit.over {
			l.server.counts.fullOutputs.Add(1)
			r.disconnect()
		}
	}
}

// trim drops the blocks that neither the backlog nor a replica needs.
func (l *replicationLog) trim() {
	needed := l.end - l.server.live.backlog.Load()
	for r := range l.replicas {
		if !r.isCut() {
			needed = min(needed, r.pos)
		}
	}
	n := 0
	for n < len(l.blocks)-1 && l.start+int64(len(l.blocks[n])) <= needed {
		l.start += int64(len(l.blocks[n]))
		n++
	}
	if n > 0 {
		l.blocks = slices.Clone(l.blocks[n:])
		old, _ := slices.BinarySearchFunc(l.spans, l.start, span.endsBefore)
		l.spans = slices.Clone(l.spans[old:])
		l.budget.Rewind(l.budget.Used() - min(l.budget.Used(), int64(n)*logBlock))
	}
}

// attach adds a replica whose data is of this moment, and returns the ID and the offset.
func (l *replicationLog) attach(r *replica) (id string, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.pos, l.db = l.end, -1
	l.replicas[r] = true
	if r.modules && !l.modules {
		l.modules, l.since = true, l.end
	}
	return l.id, l.end
}

// hasModules implements the parameter of ListenEffects.
func (l *replicationLog) hasModules() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.modules
}

// position returns the ID and the offset of this moment.
func (l *replicationLog) position() (id string, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id, l.end
}

// resume adds a replica that has the data up to an offset, unless the log lacks bytes after it.
func (l *replicationLog) resume(r *replica, id string, next int64) (current string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop == nil || id != l.id || next-1 < l.start || next-1 > l.end || r.modules && (!l.modules || next-1 < l.since) {
		return "", false
	}
	if l.expires != nil {
		l.expires.Stop()
		l.expires = nil
	}
	r.pos, r.acked, r.online, r.ackedAt = next-1, next-1, true, time.Now()
	l.replicas[r] = true
	return l.id, true
}

// leave removes a replica. After the last one, the log stays active for the backlog's TTL.
func (l *replicationLog) leave(r *replica) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.replicas, r)
	l.trim()
	ttl := time.Duration(l.server.live.backlogTTL.Load()) * time.Second
	if len(l.replicas) == 0 && l.stop != nil && ttl > 0 && l.expires == nil {
		l.expires = time.AfterFunc(ttl, func() { l.server.guard(l.deactivate) })
	}
}

// next returns the bytes after the replica's position, and marks them as sent. Without any, grown is closed when there
// are more.
func (l *replicationLog) next(r *replica) (b []byte, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.online = true
	at := l.start
	for _, block := range l.blocks {
		if from := r.pos - at; from >= 0 && from < int64(len(block)) {
			b, at = block[from:len(block):len(block)], r.pos
			r.pos += int64(len(b))
			return l.visible(r, b, at), nil
		}
		at += int64(len(block))
	}
	return nil, l.grown
}

// acknowledge records what a replica has applied.
func (l *replicationLog) acknowledge(r *replica, acked, fsynced int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.acked, r.ackedAt = max(r.acked, acked), time.Now()
	r.fsynced = max(r.fsynced, fsynced)
	for w := range l.waits {
		if l.count(w) >= w.n {
			w.enough()
			delete(l.waits, w)
		}
	}
}

// count returns the number of replicas that have acknowledged an offset.
func (l *replicationLog) count(w *ackWait) (n int64) {
	for r := range l.replicas {
		if done := map[bool]int64{false: r.acked, true: r.fsynced}[w.aof]; r.online && done >= w.offset {
			n++
		}
	}
	return n
}

// await implements engine.AwaitReplicas.
func (l *replicationLog) await(n int64, aof bool, enough func()) (count func() int64, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &ackWait{offset: l.written, n: n, aof: aof, enough: enough}
	if l.count(w) >= n {
		enough()
	} else {
		l.waits[w] = true
		if len(l.replicas) > 0 {
			l.append(resp.AppendCommand(nil, []byte("REPLCONF"), []byte("GETACK"), []byte("*")))
		}
	}
	return func() int64 {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.count(w)
		}, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.waits, w)
		}
}

// acknowledged returns the number of replicas that have all effects, with aof on their disks.
func (l *replicationLog) acknowledged(aof bool) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count(&ackWait{offset: l.written, aof: aof})
}

// info returns the lines of INFO.
func (l *replicationLog) info() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*replica, 0, len(l.replicas))
	for r := range l.replicas {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *replica) int { return cmp.Compare(a.client.id, b.client.id) })
	lines = append(lines, field("connected_slaves", len(all)))
	for i, r := range all {
		state, lag := "send_bulk", int64(0)
		if r.online {
			state = "online"
		}
		if !r.ackedAt.IsZero() {
			lag = int64(time.Since(r.ackedAt).Seconds())
		}
		lines = append(lines, fmt.Sprintf("slave%d:ip=%s,port=%d,state=%s,offset=%d,lag=%d", i, r.ip, r.port, state, r.acked, lag))
	}
	active, first := 0, int64(0)
	if l.stop != nil {
		active, first = 1, l.start+1
		lines = append(lines, field("repl_resyncs_forced", l.resets.Load()), field("repl_skipped_keys", l.skipped.Load()),
			field("repl_skipped_arrays", l.skippedArrays.Load()))
	}
	return append(lines, "master_failover_state:no-failover", field("master_replid", l.id),
		field("master_replid2", strings.Repeat("0", len(l.id))), field("master_repl_offset", l.end), "second_repl_offset:-1",
		field("repl_backlog_active", active), field("repl_backlog_size", l.server.live.backlog.Load()),
		field("repl_backlog_first_byte_offset", first), field("repl_backlog_histlen", l.end-l.start))
}

// changeID changes the replication ID, so that replicas request all data when they connect again.
func (l *replicationLog) changeID() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id = randomID()
}
