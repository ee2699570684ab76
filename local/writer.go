package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// job is work for the writer: batches, each on its own, or a function that runs batches in one transaction.
type job struct {
	batches []store.Batch
	fn      func(func(store.Batch) (store.Result, error)) error
	own     func(*conn) error // replaces batches and fn: work that keeps the transaction open
	used    int64             // of the budget, before the job
	results []store.Result
	err     error
	done    chan struct{}
	turn    *store.WriteWait
	onRun   func(*store.Result) // called after each batch
	refused *store.WaitEnd      // ends the wait for the writer
	stage   atomic.Int32        // waits, runs or left

	since     time.Time            // start of the wait
	committed int                  // batches that are committed
	ran       int                  // batches that have run, the open transaction included
	apart     int                  // the batches before it run one by one
	timedOut  map[int]store.Result // results of batches that exceeded the time limit and are not run again, by index
}

// The stages of a job.
const (
	waits int32 = iota
	runs        // the writer has begun or failed the job
	left        // the caller has left before the job began
)

// Jobs queue in order of arrival. A transaction takes jobs for about a slice of time. A job with many batches
// (a pipeline) runs in one transaction, unless it takes longer than a piece of time: then its remaining batches
// go to the end of the queue. So a client waits at most one piece for each other client, however long the
// pipelines are.
const maxGroup = 256 // jobs that one commit releases, approximately

// pace limits a transaction (slice) and a job's share of it (piece).
type pace struct{ slice, piece time.Duration }

var writersPace = pace{100 * time.Millisecond, time.Second}

// errNeedSavepoints means that a batch was refused after it had changed something, so that the group must run
// again with savepoints.
var errNeedSavepoints = errors.New("the group needs savepoints")

// errLocked means that another process holds the write lock.
var errLocked = errors.New("another process holds the write lock")

// submit queues a job for the writer, waits for it and returns its error.
func (s *Store) submit(j *job) error {
	s.send([]*job{j})
	return j.wait()
}

// send queues jobs as one group. They share one turn.
func (s *Store) send(jobs []*job) {
	since := time.Now()
	for _, j := range jobs {
		j.since, j.refused = since, j.turn.Ended()
	}
	select {
	case s.jobs <- jobs:
	case <-jobs[0].refused.C: // the writer never begins them
	}
}

// abandon fails the job with err unless it has finished.
func (j *job) abandon(err error) {
	select {
	case <-j.done:
	default:
		j.finish(err)
	}
}

// wait waits until the job is done, or its turn ends before the writer begins it.
func (j *job) wait() error {
	select {
	case <-j.done:
	case <-j.refused.C:
		if j.stage.CompareAndSwap(waits, left) {
			return j.refused.Err
		}
		<-j.done
	}
	return j.err
}

// begin reports whether the caller still waits for the job.
func (j *job) begin() bool { return j.stage.CompareAndSwap(waits, runs) || j.stage.Load() == runs }

// finish releases the client that waits for the job.
func (j *job) finish(err error) {
	if j.begin() {
		j.err = err
		close(j.done)
	}
}

// Transact runs fn in one transaction; run executes a batch in it, and undoes that batch alone if it is
// refused. fn may be called twice, and must return the errors of run. A read-only transaction may run beside
// the writer, and ends when ctx does.
func (s *Store) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return err
	}
	if readOnly {
		return s.withReader(ctx, func(c *conn) error {
			return errors.Join(c.snapshot(func() error { return fn(c.runner(true)) }), s.immutable.check())
		})
	}
	return s.submit(&job{fn: fn, done: make(chan struct{}), turn: store.WriteWaitOf(ctx)})
}

// write runs in the writer's goroutine.
func (s *Store) write() {
	defer s.done.Done()
	group := make([]*job, 0, maxGroup)
	for {
		select {
		case jobs := <-s.jobs:
			group = append(group[:0], jobs...)
			// Let other clients submit first: a commit costs the same for one job as for many.
			runtime.Gosched()
		case <-s.quit:
			return
		}
		group = s.addArrived(group)
		s.commit(group)
		clear(group) // release the arguments and rows before the next wait
	}
}

// addArrived adds the jobs that have arrived since.
func (s *Store) addArrived(group []*job) []*job {
	for len(group) < maxGroup {
		select {
		case jobs := <-s.jobs:
			group = append(group, jobs...)
		default:
			return group
		}
	}
	return group
}

// commit runs a group, and jobs that arrive in the meantime, in one transaction if possible. It first runs
// without savepoints, which is cheaper. If a refusal would leave a partial change, it runs the group again with
// a savepoint around each batch. If the engine fails, each job runs alone, so that one client's failing
// statement does not fail other clients. Jobs that wait for another process wait together, each no longer than
// it would wait alone. A panic fails the jobs that are left.
func (s *Store) commit(group []*job) {
	defer s.abandonAfterPanic(&group)
	alone := false
	for len(group) > 0 {
		some := group
		if alone {
			some = group[:1]
		}
		t, err := s.attempt(some, false)
		if errors.Is(err, errNeedSavepoints) {
			t, err = s.attempt(some, true)
		}
		if astray := (*store.JobError)(nil); errors.As(err, &astray) {
			astray.Drop(s.countAbandoned(astray.Err))
			continue
		}
		switch {
		case err == nil:
			finishAll(t.finished, nil)
			group = append(append(group[:0:0], group[t.began:]...), t.unfinished...)
			if len(group) > 0 {
				group = s.addArrived(group)
			}
		case errors.Is(err, errUnconfirmed):
			finishAll(group[:t.began], err)
			group = group[t.began:]
		case errors.Is(err, errLocked):
			group = s.failExpired(group, err)
		case t.failed != nil && t.failed.canRetry(err):
			alone = true
		case t.failed != nil:
			t.failed.finish(s.countAbandoned(err))
			group = without(group, t.failed)
			alone = true
		case len(some) > 1 && !isGone(err) && !errors.Is(err, errNotWriter):
			alone = true
		default:
			finishAll(some, err)
			group = group[len(some):]
		}
	}
}

func finishAll(jobs []*job, err error) {
	for _, j := range jobs {
		j.finish(err)
	}
}

// abandonAfterPanic is deferred by commit. It fails the jobs that are left if commit panics.
func (s *Store) abandonAfterPanic(group *[]*job) {
	if err := store.Recovered(recover()); err != nil {
		s.report(err)
		for _, j := range *group {
			j.abandon(err)
		}
	}
}

func without(group []*job, failed *job) []*job {
	return slices.DeleteFunc(slices.Clone(group), func(j *job) bool { return j == failed })
}

// failExpired fails the jobs whose wait has exceeded the busy timeout, and adds the jobs that have arrived since.
func (s *Store) failExpired(group []*job, err error) []*job {
	var others []*job
	for _, j := range group {
		switch {
		case s.life.Err() != nil:
			j.finish(s.countAbandoned(errAbandoned))
		case time.Since(j.since) >= s.options.BusyTimeout:
			j.finish(fmt.Errorf("waiting for %v: %w", s.options.BusyTimeout, err))
		default:
			others = append(others, j)
		}
	}
	return s.addArrived(others)
}

// groupProgress is one transaction's progress through a group of jobs.
type groupProgress struct {
	began                int // jobs that began
	finished, unfinished []*job
	failed               *job // the job that failed the transaction; nil if none did
}

// attempt runs a group, or its first jobs, in one transaction. Only the writer's goroutine calls it.
func (s *Store) attempt(group []*job, savepoints bool) (t groupProgress, err error) {
	c, loan, err := s.takeWriter()
	if err != nil {
		return t, err
	}
	defer s.giveBackWriter(loan)
	t, err = s.attemptOn(c, s.newWorkLimit(context.Background()), group, writersPace, savepoints)
	if errors.Is(err, ErrWALGone) && !isLate(err) && s.repairWAL(c) == nil && !slices.ContainsFunc(group, (*job).runsOnce) {
		t, err = s.attemptOn(c, s.newWorkLimit(context.Background()), group, writersPace, savepoints)
	}
	return t, err
}

// attemptOn is attempt on a given connection.
func (s *Store) attemptOn(c *conn, v *workLimit, group []*job, p pace, savepoints bool) (t groupProgress, err error) {
	v.begin(c)
	before := c.commits
	err = c.transaction(beginNow, func() error { return s.runGroup(c, group, &t, p, savepoints) })
	own := c.commits - before // 0 if nothing was written
	s.rowCache.onPostCommit(own)
	s.externalCommits.onEnd(own)
	v.end(c)
	if err != nil && isOneOf(err, sqlite3.SQLITE_IOERR) { // the guard may have failed it
		if gone := s.Moved(); gone != nil {
			t.failed, err = nil, gone
		}
	}
	var unconfirmed error
	if err == nil {
		unconfirmed = s.confirmCommit()
	}
	s.reportEnd(err == nil && unconfirmed == nil)
	if unconfirmed != nil {
		return t, unconfirmed
	}
	if err == nil {
		s.wrote.Store(true)
		s.commits.Add(1)
		for _, j := range slices.Concat(t.finished, t.unfinished) {
			j.committed = j.ran
			j.used = usedBy(j.batches)
		}
		// A process that opens the file after this check reads the commit.
		if gone := s.Moved(); gone != nil {
			return t, &lateError{gone}
		}
	}
	return t, err
}

// runGroup runs the jobs of group in the open transaction until the slice is over.
func (s *Store) runGroup(c *conn, group []*job, t *groupProgress, p pace, savepoints bool) error {
	s.rowCache.onBegin()
	s.externalCommits.onBegin()
	began := s.clock()
	run := c.runner(savepoints)
	for apart := 0; t.began < len(group); { // the jobs before apart run one by one
		if t.began > 0 && s.clock().Sub(began) > p.slice {
			break
		}
		coalesces := !savepoints && !s.followed() // the job before may have begun to wait for changes
		if next := group[t.began:]; coalesces && t.began >= apart {
			switch n, err := coalesceJobs(c, run, next); {
			case err != nil:
				return err
			case n > 0:
				t.began += n
				t.finished = append(t.finished, next[:n]...)
				continue
			}
			apart = t.began + max(coalescibleJobs(next), 1)
		}
		j := group[t.began]
		t.began++
		if !j.begin() {
			continue
		}
		if j.fn != nil && j.turn != nil {
			j.turn.DelaysOthers.Store(t.began > 1)
		}
		whole, err := j.work(c, s.withFollower(c, j, run), p.piece, coalesces)
		switch {
		case err != nil:
			t.failed = j
			return err
		case whole:
			t.finished = append(t.finished, j)
		default:
			t.unfinished = append(t.unfinished, j)
		}
	}
	if err := errors.Join(s.Moved(), s.guarded()); err != nil {
		return err
	}
	s.rowCache.onPreCommit()
	return nil
}

// work runs the job, or the batches that fit in a piece; whole is false if batches are left.
func (j *job) work(c *conn, run func(store.Batch) (store.Result, error), piece time.Duration, coalesces bool) (whole bool, err error) {
	defer store.Catch(&err)
	began := c.workLimit.nextBatch()
	switch {
	case j.own != nil:
		return true, j.own(c)
	case j.fn != nil:
		if !j.turn.HasTimeLimit() {
			defer c.workLimit.suspend()()
		}
		return true, j.fn(run)
	}
	if j.results == nil {
		j.results = make([]store.Result, len(j.batches))
	}
	restart(j.batches, j.used)
	j.apart = 0
	for j.ran = j.committed; j.ran < len(j.batches); {
		if now := c.workLimit.nextBatch(); j.ran > j.committed && now.Sub(began) > piece {
			return false, nil
		}
		if coalesces && j.ran >= j.apart {
			n, err := j.coalesce(c, run)
			if err != nil {
				return false, err
			}
			if j.ran += n; n > 0 {
				continue
			}
			j.apart = j.ran + max(j.coalescible(), 1)
		}
		if err := j.runNext(c, run); err != nil {
			return false, err
		}
	}
	return true, nil
}

// runNext runs the next batch, unless it has exceeded the time limit before.
func (j *job) runNext(c *conn, run func(store.Batch) (store.Result, error)) (err error) {
	b, r := &j.batches[j.ran], &j.results[j.ran]
	late, is := j.timedOut[j.ran]
	if is {
		*r = late
		j.ran++
		return nil
	}
	if *r, err = run(*b); err != nil {
		return err
	}
	if j.onRun != nil {
		j.onRun(r)
	}
	if r.Took == 0 {
		r.Took = time.Since(c.workLimit.began)
	}
	j.ran++
	if b.Budget.Full() { // the client needs no more
		j.batches, j.results = j.batches[:j.ran], j.results[:j.ran]
	}
	return nil
}

// runsOnce reports whether the job cannot run again.
func (j *job) runsOnce() bool { return j.own != nil }

// canRetry reports whether the job can run again: without the batch that exceeded the time limit, or in a
// transaction without the jobs that it delays.
func (j *job) canRetry(err error) bool {
	if j.fn != nil && j.turn != nil && j.turn.DelaysOthers.Load() && errors.Is(err, store.ErrLong) {
		return true
	}
	var late *store.TooLong
	if j.fn != nil || j.own != nil || !errors.As(err, &late) {
		return false
	}
	if j.timedOut == nil {
		j.timedOut = map[int]store.Result{}
	}
	j.timedOut[j.ran] = late.Result()
	return true
}

// runner returns a function that runs a batch inside the open transaction. A refused batch leaves no trace: if
// it has changed something, its savepoint is rolled back, or, without savepoints, the function returns
// errNeedSavepoints.
func (c *conn) runner(savepoints bool) func(store.Batch) (store.Result, error) {
	return func(b store.Batch) (store.Result, error) {
		guarded := savepoints && !b.ReadOnly
		if guarded {
			if err := c.control(mark); err != nil {
				return store.Result{}, err
			}
		}
		r, changed, err := c.batch(b)
		switch {
		case err != nil:
			return r, err
		case r.Refused != nil && changed && !guarded:
			return r, errNeedSavepoints
		case r.Refused != nil && guarded:
			err = c.control(undo)
		}
		if guarded && err == nil {
			err = c.control(unmark)
		}
		return r, err
	}
}

// ReadsDuringWrites reports whether readers can run beside the writer.
func (s *Store) ReadsDuringWrites() bool { return s.hasWriter.Load() }
