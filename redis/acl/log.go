package acl

import (
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Event is one denial.
type Event struct {
	Reason  Reason
	Context string // "toplevel", "multi", "lua"
	Object  string // the command, key or channel, or the command called with a wrong password; up to maxObject bytes
	User    string // for a wrong password, the name that was tried; up to maxObject bytes
	Client  string // as CLIENT LIST shows it
}

// Log is ACL LOG. The zero value keeps no entries. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	max     int
	entries []entry // the latest first
	nextID  int64
	denials [ByChannel + 1]int64
}

// entry holds an event and the count of similar events.
type entry struct {
	Event
	id, count        int64
	created, updated int64 // Unix ms
}

// maxObject limits the bytes stored of an object or a name: a key may have 512 MB.
const maxObject = 1 << 10

// An event equal to one of the latest few, within a minute, only raises that entry's count.
const (
	mergedEntries = 10
	mergeWindowMs = 60_000
)

// Add records an event at now, in Unix ms.
func (l *Log) Add(now int64, e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Object, e.User = clipped(e.Object), clipped(e.User)
	l.denials[e.Reason]++
	if l.max == 0 {
		l.entries = nil
		return
	}
	i := slices.IndexFunc(l.entries[:min(len(l.entries), mergedEntries)], func(have entry) bool {
		same := have.Event
		same.Client = e.Client
		return same == e && max(now-have.updated, have.updated-now) <= mergeWindowMs
	})
	next := entry{Event: e, id: l.nextID, created: now}
	if i >= 0 {
		next = l.entries[i]
		l.entries = slices.Delete(l.entries, i, i+1)
	} else {
		l.nextID++
	}
	next.Client, next.updated = e.Client, now
	next.count++
	l.entries = slices.Insert(l.entries, 0, next)
	if len(l.entries) > l.max {
		l.entries = slices.Clip(l.entries[:l.max])
	}
}

func clipped(s string) string { return strings.Clone(s[:min(len(s), maxObject)]) }

// SetMax limits the number of entries, from the next event on.
func (l *Log) SetMax(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = n
}

// Reset deletes the entries.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// Refused returns the number of events with reason r.
func (l *Log) Refused(r Reason) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.denials[r]
}

// ResetCounts sets the counts of Refused to 0.
func (l *Log) ResetCounts() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.denials[:])
}

// reply builds the reply of ACL LOG with a count, at now in Unix ms.
func (l *Log) reply(now int64, count int) resp.Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	reply := resp.EmptyArray
	for _, e := range l.entries[:min(len(l.entries), count)] {
		reply.Elems = append(reply.Elems, resp.MakeMap(
			resp.MakeString("count"), resp.MakeInt(e.count),
			resp.MakeString("reason"), resp.MakeString(e.Reason.String()),
			resp.MakeString("context"), resp.MakeString(e.Context),
			resp.MakeString("object"), resp.MakeString(e.Object),
			resp.MakeString("username"), resp.MakeString(e.User),
			resp.MakeString("age-seconds"), resp.MakeDouble(float64(now-e.updated)/1000),
			resp.MakeString("client-info"), resp.MakeString(e.Client),
			resp.MakeString("entry-id"), resp.MakeInt(e.id),
			resp.MakeString("timestamp-created"), resp.MakeInt(e.created),
			resp.MakeString("timestamp-last-updated"), resp.MakeInt(e.updated)))
	}
	return reply
}
