package local

import (
	"fmt"
	"time"

	"github.com/meowdis/meowdis/store"
)

// maxCoalesced limits the batches that one batch replaces.
const maxCoalesced = 128

// coalescible returns the number of batches, from the first on, that one batch can replace.
func coalescible(first *store.Batch, batches []store.Batch) (n int) {
	for n = range min(len(batches), maxCoalesced) {
		if b := &batches[n]; b.Coalescer == nil || b.Coalescer != first.Coalescer || !b.Coalescer.Fits(first, b) {
			return n
		}
	}
	return min(len(batches), maxCoalesced)
}

// coalesce runs batches of jobs as one. It reports false, without an effect, if they must run one by one.
func coalesce(c *conn, run func(store.Batch) (store.Result, error), batches []*store.Batch, results []*store.Result) (done bool, err error) {
	began := c.workLimit.nextBatch()
	r, err := run(batches[0].Coalescer.Coalesce(batches))
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", errNeedSavepoints, err) // the batches, run one by one, show which one fails
	case r.Refused != nil || !batches[0].Coalescer.Split(&r, batches, results):
		return false, nil
	}
	each := time.Since(began) / time.Duration(len(results))
	for _, one := range results {
		one.Took = max(each, 1)
	}
	return true, nil
}

// coalescible returns the number of the job's next batches that one batch can replace.
func (j *job) coalescible() int {
	next := j.batches[j.ran:]
	if next[0].Coalescer == nil || j.timedOut != nil || j.onRun != nil {
		return 0
	}
	return coalescible(&next[0], next)
}

// coalesce runs the next batches of the job as one, and returns how many; 0 if they must run one by one.
func (j *job) coalesce(c *conn, run func(store.Batch) (store.Result, error)) (n int, err error) {
	if n = j.coalescible(); n < 2 {
		return 0, nil
	}
	batches, results := make([]*store.Batch, n), make([]*store.Result, n)
	for i := range n {
		batches[i], results[i] = &j.batches[j.ran+i], &j.results[j.ran+i]
	}
	if done, err := coalesce(c, run, batches, results); !done {
		return 0, err
	}
	return n, nil
}

// coalescibleJobs returns the number of jobs, from the first on, whose batches one batch can replace.
func coalescibleJobs(group []*job) (n int) {
	if len(group[0].batches) == 0 || group[0].batches[0].Coalescer == nil {
		return 0
	}
	first, batches := &group[0].batches[0], 0
	for _, j := range group {
		whole := j.fn == nil && j.own == nil && j.onRun == nil && j.timedOut == nil && j.committed == 0
		if !whole || coalescible(first, j.batches) < len(j.batches) || batches+len(j.batches) > maxCoalesced {
			break
		}
		batches += len(j.batches)
		n++
	}
	return n
}

// coalesceJobs runs the first jobs as one batch, and returns how many; 0 if they must run one by one.
func coalesceJobs(c *conn, run func(store.Batch) (store.Result, error), group []*job) (n int, err error) {
	if n = coalescibleJobs(group); n < 2 {
		return 0, nil
	}
	var batches []*store.Batch
	var results []*store.Result
	for _, j := range group[:n] {
		if !j.begin() { // its client has left
			return 0, nil
		}
		restart(j.batches, j.used)
		j.results = make([]store.Result, len(j.batches))
		for i := range j.batches {
			batches, results = append(batches, &j.batches[i]), append(results, &j.results[i])
		}
	}
	if done, err := coalesce(c, run, batches, results); !done {
		return 0, err
	}
	for _, j := range group[:n] {
		j.ran = len(j.batches)
	}
	return n, nil
}
