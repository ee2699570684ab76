package store

// Follower is called by the writer of a store: on its goroutine, inside its transactions, and in the order of
// effect. So the follower's own writes take effect together with the write that caused them, and before any
// later one. A follower must not call the store.
type Follower interface {
	// Follows reports whether Ran should be called. It is called for each batch that writes, so it must be
	// cheap.
	Follows() bool
	// Ran is called inside the transaction after a batch of Apply or ApplyGroup has written. run runs further
	// batches there; a refused one is undone alone. Ran must return run's error, as a JobError if the batch b is
	// not at fault. After Ended(false) the same batches may run again.
	Ran(b *Batch, r *Result, run func(Batch) (Result, error)) error
	// Ended reports that all batches since the last Ended are committed, or undone. No client has its reply yet.
	Ended(committed bool)
}

// JobError fails a transaction because another client's job failed. Drop removes that job and gives
// the error to its client; the transaction then runs again without the job.
type JobError struct {
	Err  error
	Drop func(error)
}

func (a *JobError) Error() string { return a.Err.Error() }

func (a *JobError) Unwrap() error { return a.Err }

// Expired is the Of of a batch that deletes expired keys. Its rows have ExpiredCells cells or more: 1, the
// database and the name of the key.
type Expired struct{}

// ExpiredFields is the Of of a batch that deletes the expired fields of a hash and keeps the hash. Its last row
// names the hash in the cells of Expired.
type ExpiredFields struct{}

// ExpiredCells is the minimum number of cells of such a row. One more cell reports whether the key is a hash
// that expired with its last field.
const ExpiredCells = 3
