package move

import (
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/internal/exit"
	"github.com/meowdis/meowdis/internal/progress"
	"github.com/meowdis/meowdis/transfer"
)

// Report says on Notes which keys were not moved as they should be, and counts them.
type Report struct {
	Notes   io.Writer
	Bar     *progress.Bar // nil for none
	Failed  int
	gone    int // were deleted while they were read
	changed int

	incomplete int // were moved, but for something in them
}

// MaxTold is the number of keys that are named; the others are only counted.
const MaxTold = 50

// Notify is a transfer.Notify.
func (r *Report) Notify(k *transfer.Key, err error) {
	if errors.Is(err, transfer.ErrGone) {
		r.gone++
		return
	}
	var lost *transfer.Incomplete
	if errors.As(err, &lost) {
		if r.incomplete++; r.incomplete <= MaxTold {
			r.Say("%s is not complete: %s", k, lost.Lost)
		}
		return
	}
	if r.Failed++; r.Failed <= MaxTold {
		r.Say("%s was left out: %v", k, err)
	}
}

// Seen is shown each part that was put.
func (r *Report) Seen(p transfer.Part) {
	if !p.Last {
		return
	}
	r.Bar.Add(1)
	if p.Changed {
		if r.changed++; r.changed <= MaxTold {
			r.Say("%s was changed while it was read: it may be a mixture of before and after", p.Key)
		}
	}
}

// Say says a line on Notes.
func (r *Report) Say(format string, args ...any) {
	r.Bar.Clear()
	fmt.Fprintf(r.Notes, "meowdis: "+format+"\n", args...)
}

// End ends the run: what is said last, and with which code it ends.
func (r *Report) End(err error) error {
	r.Bar.End()
	if more := r.Failed - MaxTold; more > 0 {
		r.Say("%d more were left out", more)
	}
	if err == nil && r.Failed+r.incomplete > 0 {
		return exit.ErrAnswered
	}
	return err
}

// Count is a number of things, as people write it.
func Count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Outcome says what became of keys, in one line.
func (r *Report) Outcome(did string, w transfer.Written) string {
	line := did + " " + Count(w.Keys, "key")
	for _, more := range []struct {
		n    int64
		what string
	}{
		{w.Skipped, "there already"}, {w.Expired, "expired on the way"}, {int64(r.gone), "deleted meanwhile"},
		{int64(r.changed), "changed meanwhile"}, {int64(r.incomplete), "incomplete"}, {int64(r.Failed), "left out"},
	} {
		if more.n > 0 {
			line += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return line
}

// Damaged is what to call for each damaged block, nil where such a one is the end.
func (r *Report) Damaged(salvage bool) func(*transfer.Damage) {
	if !salvage {
		return nil
	}
	return func(d *transfer.Damage) {
		r.Failed++
		r.Say("%v", d)
	}
}
