package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Latency keeps samples of slow events, by event, for LATENCY.
type Latency struct {
	threshold atomic.Int64 // ns; 0 is off
	now       func() int64 // Unix time in seconds

	mu     sync.Mutex
	events map[string]*series
}

// series holds the newest 160 samples of an event, one per second: the longest of that second.
type series struct {
	samples []sample // oldest first
	most    int64    // longest ever, in ms
}

type sample struct{ second, millis int64 }

const maxSamples = 160

// Add adds a sample, if the monitor is on and took reaches its threshold.
func (l *Latency) Add(event string, took time.Duration) {
	if from := l.threshold.Load(); from <= 0 || int64(took) < from {
		return
	}
	now, millis := l.now(), took.Milliseconds()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = map[string]*series{}
	}
	s := l.events[event]
	if s == nil {
		s = &series{}
		l.events[event] = s
	}
	s.most = max(s.most, millis)
	if n := len(s.samples); n > 0 && s.samples[n-1].second == now {
		s.samples[n-1].millis = max(s.samples[n-1].millis, millis)
		return
	}
	s.samples = append(s.samples, sample{now, millis})
	if over := len(s.samples) - maxSamples; over > 0 {
		s.samples = slices.Delete(s.samples, 0, over)
	}
}

// Latest returns the reply to LATENCY LATEST.
func (l *Latency) Latest() resp.Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	reply := resp.EmptyArray
	for _, event := range slices.SortedFunc(maps.Keys(l.events), cmp.Compare[string]) {
		s := l.events[event]
		last := s.samples[len(s.samples)-1]
		reply.Elems = append(reply.Elems, resp.MakeArray(
			resp.MakeString(event), resp.MakeInt(last.second), resp.MakeInt(last.millis), resp.MakeInt(s.most)))
	}
	return reply
}

// History returns the reply to LATENCY HISTORY: empty for an unknown event.
func (l *Latency) History(event string) resp.Value {
	reply := resp.EmptyArray
	samples, _ := l.of(event)
	for _, s := range samples {
		reply.Elems = append(reply.Elems, resp.MakeArray(resp.MakeInt(s.second), resp.MakeInt(s.millis)))
	}
	return reply
}

func (l *Latency) of(event string) (samples []sample, most int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.events[event]; s != nil {
		return slices.Clone(s.samples), s.most
	}
	return nil, 0
}

// Reset deletes the events, or all events if the list is empty, and returns the number deleted.
func (l *Latency) Reset(events []string) (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(events) == 0 {
		n = int64(len(l.events))
		l.events = nil
	}
	for _, event := range events {
		if l.events[event] != nil {
			delete(l.events, event)
			n++
		}
	}
	return n
}
