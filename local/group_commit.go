package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
)

// ApplyGroup applies the parts of several clients together. Parts that only read share one snapshot; parts that
// write share one transaction. Either all parts only read, or none does. ApplyGroup calls took with the index
// of each part that is done. For long writes, it calls took from other goroutines, even after it has returned.
// It returns the number of parts it has begun, at least one; the caller must submit the rest again.
//
// The caller serves other clients, so a long read fails with store.ErrLong. All reads do if no connection is
// free soon.
func (s *Store) ApplyGroup(parts []*store.Part, took func(int)) (began int) {
	release, err := s.use()
	switch {
	case err != nil:
		failAll(parts, err)
	case !readOnly(parts[0].Batches):
		return s.writeGroup(parts, took, release)
	default:
		s.readGroup(parts)
		release()
	}
	for i := range parts {
		took(i)
	}
	return len(parts)
}

func failAll(parts []*store.Part, err error) {
	for _, p := range parts {
		p.Results, p.Err = nil, err
	}
}

// writeGroup runs writes in the calling goroutine, which saves waking the writer's goroutine and then the
// clients'. It leaves long writes to the writer's goroutine.
func (s *Store) writeGroup(parts []*store.Part, took func(int), release func()) (began int) {
	jobs := make([]job, len(parts))
	group := make([]*job, len(parts))
	for i, p := range parts {
		jobs[i] = job{batches: p.Batches, used: usedBy(p.Batches), turn: p.Wait, onRun: p.Ran}
		group[i] = &jobs[i]
	}
	began = s.writeNow(group)
	whole := began
	switch {
	case began == 0:
		began = len(parts)
		s.queueGroup(parts, group, took, release)
	case jobs[began-1].committed < len(jobs[began-1].batches):
		whole-- // it took longer than a piece, so no job was begun after it
		last := whole
		go store.Guard(s.report, func() {
			s.awaitGroup(parts[last:began], group[last:began], func(int) { took(last) }, release)
		})
	default:
		release()
	}
	for i := range whole {
		parts[i].Results, parts[i].Err = jobs[i].results, jobs[i].err
		took(i)
	}
	return began
}

// queueGroup leaves a group to the writer's goroutine, except for brief parts.
func (s *Store) queueGroup(parts []*store.Part, group []*job, took func(int), release func()) {
	var others []*store.Part
	var jobs []*job
	var at []int
	for i, p := range parts {
		if p.FailIfSlow {
			p.Results, p.Err = nil, store.ErrLong
			took(i)
			continue
		}
		others, jobs, at = append(others, p), append(jobs, group[i]), append(at, i)
	}
	if len(others) == 0 {
		release()
		return
	}
	go store.Guard(s.report, func() { s.awaitGroup(others, jobs, func(i int) { took(at[i]) }, release) })
}

// writeNow runs the first jobs of a group in one short transaction, and returns how many. It returns 0 if
// another goroutine writes or waits to write, if a commit waits for the disk, or if a job takes long, fails or
// must be undone.
func (s *Store) writeNow(group []*job) (began int) {
	if s.writer == nil || s.options.SyncFull || s.confirm.Load() != nil || len(s.jobs) > 0 || !s.writing.TryLock() {
		return 0
	}
	defer s.writing.Unlock()
	v := s.newWorkLimit(context.Background())
	v.promoteToLong, v.short, v.small = func() error { return errLong }, sharedWrite, true
	t, err := s.attemptOn(s.writer, v, group, pace{maxClockGap, maxClockGap}, false)
	if isLate(err) { // it is committed and must not run again
		for _, j := range group[:t.began] {
			j.committed, j.err = len(j.batches), err
		}
	}
	if err == nil || isLate(err) {
		return t.began
	}
	for _, j := range group {
		restart(j.batches, j.used)
		*j = job{batches: j.batches, used: j.used, turn: j.turn, onRun: j.onRun}
	}
	return 0
}

// groupPatience limits how long writing parts are awaited in order. After it, each part is awaited on its own,
// so that a long part does not delay the parts after it.
const groupPatience = 50 * time.Millisecond

// awaitGroup leaves a group to the writer's goroutine.
func (s *Store) awaitGroup(parts []*store.Part, group []*job, took func(int), release func()) {
	defer release()
	settle := func(i int) {
		p, j := parts[i], group[i]
		if p.Results, p.Err = nil, j.wait(); p.Err == nil {
			p.Results = j.results
		}
		took(i)
	}
	for _, j := range group {
		j.done = make(chan struct{})
	}
	s.send(group)
	late := time.NewTimer(groupPatience)
	defer late.Stop()
	for i, j := range group {
		select {
		case <-j.done:
			settle(i)
		case <-late.C:
			var waits sync.WaitGroup
			for i := i; i < len(group); i++ {
				waits.Go(func() { store.Guard(s.report, func() { settle(i) }) })
			}
			waits.Wait()
			return
		}
	}
}

// sharedRead and sharedWrite limit the delay for other clients, and sharedWait limits how long reads wait for a
// connection. One of the moments may have gone to another process.
var (
	sharedRead  = readLimits{one: 2 * maxClockGap, all: 4 * maxClockGap}
	sharedWrite = readLimits{one: 2 * maxClockGap, all: time.Hour}
)

const sharedWait = maxClockGap

func (s *Store) readGroup(parts []*store.Part) {
	parts, of := s.serveCached(parts)
	if len(parts) == 0 {
		return
	}
	l := &loan{pool: s.readers, lane: s.readers.short}
	if !l.tryTake(sharedWait) {
		failAll(parts, store.ErrLong)
		return
	}
	defer l.giveBack()
	if l.conn == nil {
		var err error
		if l.conn, err = s.connectReader(); err != nil {
			failAll(parts, err)
			return
		}
	}
	v := s.newWorkLimit(context.Background())
	v.short, v.small = sharedRead, true
	err := v.run(l.conn, func(c *conn) error {
		if len(parts) == 1 && len(parts[0].Batches) == 1 && len(parts[0].Batches[0].Stmts) == 1 && !anyToCache(of[0]) {
			s.readPart(c, parts[0], nil)
			return nil
		}
		return c.snapshot(func() error {
			for i, p := range parts {
				s.readPart(c, p, of[i])
			}
			return nil
		})
	})
	if err = errors.Join(err, s.immutable.check()); err != nil {
		failAll(parts, s.countAbandoned(err))
		return
	}
	for i, p := range parts {
		s.cacheRows(p.Batches, of[i], p.Results)
	}
}

// serveCached serves the parts whose rows are all cached, and returns the other parts with the results of their
// lookups.
func (s *Store) serveCached(parts []*store.Part) (others []*store.Part, of [][]lookup) {
	if s.rowCache == nil {
		return parts, make([][]lookup, len(parts))
	}
	for _, p := range parts {
		all := make([]lookup, len(p.Batches))
		whole := true
		for i := range p.Batches {
			all[i] = s.rowCache.get(&p.Batches[i])
			whole = whole && all[i].rows != nil
		}
		if whole && takeCached(all, p) {
			continue
		}
		s.rowCache.sqliteReads.Add(int64(len(p.Batches)))
		others, of = append(others, p), append(of, all)
	}
	return others, of
}

// takeCached sets the results of a part to cached rows, and reports whether they fit in its budget.
func takeCached(all []lookup, p *store.Part) bool {
	used := usedBy(p.Batches)
	p.Results = make([]store.Result, len(all))
	for i := range all {
		switch {
		case !all[i].take(&p.Batches[i], &p.Results[i]):
			p.Results = nil
			restart(p.Batches, used)
			return false
		case p.Batches[i].Budget.Full():
			p.Results = p.Results[:i+1]
			return true
		}
	}
	return true
}

// readPart runs a part on a connection whose time is shared with other parts.
func (s *Store) readPart(c *conn, p *store.Part, of []lookup) {
	v := c.workLimit
	if v.work+v.batch > v.short.all {
		p.Err = store.ErrLong
		return
	}
	used := usedBy(p.Batches)
	v.promoteToLong = func() error { return errLong }
	v.clear()
	p.Results, p.Err = c.readBatches(p.Batches, of)
	if errors.Is(p.Err, errLong) {
		p.Results, p.Err = nil, store.ErrLong
		restart(p.Batches, used)
	}
	p.Err = s.countAbandoned(p.Err)
	v.clear()
}

// tryTake is take with a short limit; it reports whether it got a connection.
func (l *loan) tryTake(wait time.Duration) bool {
	select {
	case <-l.lane:
	default:
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		select {
		case <-l.lane:
		case <-ctx.Done():
			return false
		}
	}
	l.lend()
	return true
}
