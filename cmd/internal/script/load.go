package script

import (
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/sortedrun"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// A file gets each batch as one transaction, so a large batch writes each page once. A server gets smaller batches,
// so that it starts sooner.
var (
	toFile   = batchLimits{commands: 50_000, bytes: 16 << 20, fill: true}
	toServer = batchLimits{commands: 2_000, bytes: 16 << 20, fill: true}
)

// shownErrors limits the errors of a load that are printed.
const shownErrors = 10

// Load runs the commands in large batches, each independently, and prints the numbers of replies and of errors. It
// stops at a read error, and at a failed SELECT, AUTH or HELLO.
func (r *Run) Load(ctx context.Context) error {
	r.continueWith, r.independent, r.answer = "meowdis exec --pipe", true, r.count
	p := toServer
	if r.Exact {
		p = toFile
	}
	if r.Sorted != nil {
		r.sorted = &sortedLoad{run: sortedrun.New(recordKey, r.Sorted.Bytes)}
	}
	err := r.run(ctx, p)
	if errors.Is(err, exit.ErrReported) && !r.ended {
		r.note("the remaining commands were not loaded")
	}
	// redis-cli --pipe prints the same line at its end.
	format := "errors: %d, replies: %d\n"
	if r.JSON {
		format = "{\"errors\":%d,\"replies\":%d}\n"
	}
	if _, failed := fmt.Fprintf(r.Out, format, r.errors, r.replies); failed != nil && (err == nil || errors.Is(err, exit.ErrReported)) {
		return failed
	}
	return err
}

// count handles a reply of Load.
func (r *Run) count(c cmdfile.Command, v resp.Value) error {
	r.replies++
	if !v.HasError() {
		return nil
	}
	if r.errors++; r.errors <= shownErrors {
		r.failed(c, fmt.Sprintf(": %s", firstError(v)))
	} else if r.errors == shownErrors+1 {
		r.note("further errors are counted, but not shown")
	}
	return nil
}

// firstError returns the text of the first error in v.
func firstError(v resp.Value) []byte {
	if v.IsError() {
		return v.Str
	}
	for _, e := range v.Elems {
		if text := firstError(e); text != nil {
			return text
		}
	}
	return nil
}
