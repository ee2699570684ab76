package store

// Follower hears what the writer of a store does: on its goroutine, inside its transactions, in the
// order in which they take effect. So what it makes of a write takes effect together with that, and
// before anything that comes after it. A follower must not call the store.
type Follower interface {
	// Follows reports whether Ran is to be called at all. It is asked for each batch that writes,
	// and as cheap as that needs.
	Follows() bool
	// Ran is called inside the transaction after a batch of Apply or Together that writes has
	// taken effect. run runs further batches there, each undone alone when it is refused; its error
	// must be returned, as an Astray when the batch before is not at fault. All of this may
	// happen again, after Ended(false).
	Ran(b *Batch, r *Result, run func(Batch) (Result, error)) error
	// Ended says what became of the transaction: all that was run since it last did is
	// committed, or undone. No client has its reply yet.
	Ended(committed bool)
}

// JobError is the error of a transaction in which something failed that another client wants. Drop
// takes that out, with the error for its client, and the transaction runs again without it.
type JobError struct {
	Err  error
	Drop func(error)
}

func (a *JobError) Error() string { return a.Err.Error() }

func (a *JobError) Unwrap() error { return a.Err }

// Expired is what a batch is Of that deletes keys that have expired. Its rows are ExpiredCells
// long: 1, the database and the name of each.
type Expired struct{}

// ExpiredFields is what a batch is Of that deletes the expired fields of a hash which stays. Its last
// row names that, as those of Expired.
type ExpiredFields struct{}

// ExpiredCells is how many cells they have at least. One more says whether a key is a hash that went
// with its last field.
const ExpiredCells = 3
