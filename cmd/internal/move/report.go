package move

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/progress"
	"github.com/meowdis/meowdis/transfer"
)

// Report writes to Notes which keys were not moved completely, and counts them.
type Report struct {
	Notes   io.Writer
	Bar     *progress.Bar // nil for none
	Failed  int
	deleted int // deleted while they were read
	changed int

	incomplete int // moved without some of their data

	JSON    io.Writer // receives the results as JSON at the end; nil for none
	results []any     // the lines for JSON
	nodes   *nodes    // nil unless the keys are counted by node
}

// Outcome is a JSON result of a move.
type Outcome struct {
	Action     string `json:"action"`
	Keys       int64  `json:"keys"`
	Existing   int64  `json:"existing"` // at the destination, and kept
	Expired    int64  `json:"expired"`  // during the move
	Deleted    int    `json:"deleted"`  // while they were read
	Changed    int    `json:"changed"`  // while they were read
	Incomplete int    `json:"incomplete"`
	LeftOut    int    `json:"left_out"`

	Nodes []NodeKeys `json:"nodes,omitempty"` // of a cluster: the keys read from each master
}

// Verified is a JSON result of the comparison after a copy.
type Verified struct {
	Action      string `json:"action"`
	Keys        int64  `json:"keys"`
	Differences int    `json:"differences"`
}

// AddResult adds a JSON line, which End prints.
func (r *Report) AddResult(v any) { r.results = append(r.results, v) }

// WriteJSON writes v as one line of JSON.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// MaxListed limits the keys that are listed by name; further ones are only counted.
const MaxListed = 50

// Notify implements transfer.Notify.
func (r *Report) Notify(k *transfer.Key, err error) {
	if errors.Is(err, transfer.ErrGone) {
		r.deleted++
		return
	}
	var lost *transfer.Incomplete
	if errors.As(err, &lost) {
		if r.incomplete++; r.incomplete <= MaxListed {
			r.Say("%s is incomplete: %s", k, lost.Lost)
		}
		return
	}
	if r.Failed++; r.Failed <= MaxListed {
		r.Say("%s was left out: %v", k, err)
	}
}

// Seen counts a written part.
func (r *Report) Seen(p transfer.Part) {
	if !p.Last {
		return
	}
	r.Read(p.Key.Name)
	if p.Changed {
		if r.changed++; r.changed <= MaxListed {
			r.Say("%s changed while it was read: its copy may mix old and new data", p.Key)
		}
	}
}

// Say writes a line to Notes.
func (r *Report) Say(format string, args ...any) {
	r.Bar.Clear()
	fmt.Fprintf(r.Notes, "meowdis: "+format+"\n", args...)
}

// End prints the final lines and returns the error of the run: exit.ErrPartial if keys are left out or incomplete.
func (r *Report) End(err error) error {
	r.Bar.End()
	if more := r.Failed - MaxListed; more > 0 {
		r.Say("%d more were left out", more)
	}
	if r.JSON != nil {
		for _, v := range r.results {
			if failed := WriteJSON(r.JSON, v); err == nil {
				err = failed
			}
		}
	}
	if err == nil && r.Failed+r.incomplete > 0 {
		return exit.ErrPartial
	}
	return err
}

// Count formats a number of things, such as "2 keys".
func Count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Done prints one line about the moved keys, and adds the JSON result.
func (r *Report) Done(did string, w transfer.Written) {
	r.AddResult(Outcome{did, w.Keys, w.Skipped, w.Expired, r.deleted, r.changed, r.incomplete, r.Failed, r.nodes.list()})
	r.SayNodes()
	line := did + " " + Count(w.Keys, "key")
	for _, more := range []struct {
		n    int64
		what string
	}{
		{w.Skipped, "already existed"}, {w.Expired, "expired"}, {int64(r.deleted), "deleted while reading"},
		{int64(r.changed), "changed while reading"}, {int64(r.incomplete), "incomplete"}, {int64(r.Failed), "left out"},
	} {
		if more.n > 0 {
			line += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	r.Say("%s", line)
}

// Damaged returns the function to call for each damaged block, or nil if the first one ends the run.
func (r *Report) Damaged(salvage bool) func(*transfer.Damage) {
	if !salvage {
		return nil
	}
	return func(d *transfer.Damage) {
		r.Failed++
		r.Say("%v", d)
	}
}
