package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
)

// Together applies the parts of several clients, each as Apply would, in one visit: those
// of parts that only read are one snapshot, and the others come to the writer together. Either all
// of them only read or none does. It calls took with the index of each part as soon as that is done;
// for writes that take long, from other goroutines and after it has returned.
//
// Who calls it has others waiting: a part that reads for long ends, and its error is
// store.ErrLong, as is that of all that read when no connection is free soon.
func (s *Store) Together(parts []*store.Part, took func(int)) {
	release, err := s.use()
	switch {
	case err != nil:
		failAll(parts, err)
	case !readOnly(parts[0].Batches):
		s.writeTogether(parts, took, release)
		return
	default:
		s.readTogether(parts)
		release()
	}
	for i := range parts {
		took(i)
	}
}

func failAll(parts []*store.Part, err error) {
	for _, p := range parts {
		p.Results, p.Err = nil, err
	}
}

// sharedPatience is how long the parts that write are waited for together, in their order: then
// each is waited for alone, so that one that takes long holds none up that came after it.
const sharedPatience = 50 * time.Millisecond

func (s *Store) writeTogether(parts []*store.Part, took func(int), release func()) {
	jobs := make([]*job, len(parts))
	for i, p := range parts {
		jobs[i] = &job{batches: p.Batches, used: usedBy(p.Batches), done: make(chan struct{})}
	}
	var waits sync.WaitGroup
	settle := func(i int) {
		parts[i].Results, parts[i].Err = jobs[i].results, jobs[i].err
		took(i)
	}
	s.send(jobs)
	late := time.NewTimer(sharedPatience)
	defer late.Stop()
	for i, j := range jobs {
		select {
		case <-j.done:
			settle(i)
		case <-late.C:
			for i := i; i < len(jobs); i++ {
				waits.Go(func() {
					<-jobs[i].done
					settle(i)
				})
			}
			go func() {
				waits.Wait()
				release()
			}()
			return
		}
	}
	release()
}

// sharedRead is what reads that others wait for take at most, and sharedWait is how long
// they wait for a connection.
var sharedRead = shortness{one: aMoment, all: 4 * aMoment}

const sharedWait = aMoment

func (s *Store) readTogether(parts []*store.Part) {
	parts, of := s.notKept(parts)
	if len(parts) == 0 {
		return
	}
	l := &loan{pool: s.readers, lane: s.readers.short}
	if !l.takeSoon(sharedWait) {
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
	v := s.visit(context.Background())
	v.short = sharedRead
	err := v.on(l.conn, func(c *conn) error {
		if len(parts) == 1 && len(parts[0].Batches) == 1 && len(parts[0].Batches[0].Stmts) == 1 && !keeps(of[0]) {
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
	if err = errors.Join(err, s.frozen.check()); err != nil {
		failAll(parts, s.counted(err))
		return
	}
	for i, p := range parts {
		s.keep(p.Batches, of[i], p.Results)
	}
}

// notKept answers the parts whose rows are all kept, and returns the others, with what is to
// be kept of each.
func (s *Store) notKept(parts []*store.Part) (others []*store.Part, of [][]asked) {
	if s.kept == nil {
		return parts, make([][]asked, len(parts))
	}
	for _, p := range parts {
		all := make([]asked, len(p.Batches))
		whole := true
		for i := range p.Batches {
			all[i] = s.kept.ask(&p.Batches[i])
			whole = whole && all[i].rows != nil
		}
		if whole && takeAll(all, p) {
			continue
		}
		s.kept.read.Add(int64(len(p.Batches)))
		others, of = append(others, p), append(of, all)
	}
	return others, of
}

// takeAll makes the rows that were found the results of a part, unless its budget has no room
// for them.
func takeAll(all []asked, p *store.Part) bool {
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

// readPart runs a part on a connection whose visit is shared.
func (s *Store) readPart(c *conn, p *store.Part, of []asked) {
	v := c.visit
	if v.work+v.batch > v.short.all {
		p.Err = store.ErrLong
		return
	}
	used := usedBy(p.Batches)
	v.outlast = func() error { return errLong }
	v.goOn()
	p.Results, p.Err = c.readBatches(p.Batches, of)
	if errors.Is(p.Err, errLong) {
		p.Results, p.Err = nil, store.ErrLong
		restart(p.Batches, used)
	}
	p.Err = s.counted(p.Err)
	v.goOn()
}

// takeSoon is take for who does not wait for long; it reports whether it got a connection.
func (l *loan) takeSoon(wait time.Duration) bool {
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
