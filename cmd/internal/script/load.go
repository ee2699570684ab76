package script

import (
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// What goes to a file together is one transaction: large ones write each page once
// instead of over and over. A server has something to do sooner.
var (
	toFile   = pace{commands: 50_000, bytes: 16 << 20, fill: true}
	toServer = pace{commands: 2_000, bytes: 16 << 20, fill: true}
)

// shownErrors is how many errors of a load are shown.
const shownErrors = 10

// Load runs the commands many at a time, each by itself, and prints how many were
// answered, and with how many errors. It stops where reading does, and at a SELECT, AUTH
// or HELLO that fails.
func (r *Run) Load(ctx context.Context) error {
	r.again, r.independent, r.answer = "meowdis exec --pipe", true, r.count
	p := toServer
	if r.Exact {
		p = toFile
	}
	err := r.run(ctx, p)
	if errors.Is(err, exit.ErrAnswered) && !r.ended {
		r.note("what follows was not loaded")
	}
	// What redis-cli --pipe ends with.
	format := "errors: %d, replies: %d\n"
	if r.JSON {
		format = "{\"errors\":%d,\"replies\":%d}\n"
	}
	if _, failed := fmt.Fprintf(r.Out, format, r.errors, r.replies); failed != nil && (err == nil || errors.Is(err, exit.ErrAnswered)) {
		return failed
	}
	return err
}

// count is the answer of Load.
func (r *Run) count(c cmdfile.Command, v resp.Value) error {
	r.replies++
	if !v.HasError() {
		return nil
	}
	if r.errors++; r.errors <= shownErrors {
		r.failed(c, fmt.Sprintf(": %s", firstError(v)))
	} else if r.errors == shownErrors+1 {
		r.note("more errors are counted, and not shown")
	}
	return nil
}

// firstError is the text of the first error in v.
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
