package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

func TestCode(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{fmt.Errorf("at line 3: %w", ErrReported), 1},
		{Usagef("--limit %d: give at least 1", 0), 2},
		{fmt.Errorf("copying: %w", Usage(os.ErrNotExist)), 2},
		{errors.New("the server hung up"), 3},
		{fmt.Errorf("copying: %w", ErrPartial), 3},
		{fmt.Errorf("%w; the copied keys are kept", StoppedBy(syscall.SIGTERM)), 143},
		{fmt.Errorf("reading: %w", context.Canceled), 130},
	} {
		if got := Code(test.err); got != test.want {
			t.Errorf("%v: %d, not %d", test.err, got, test.want)
		}
	}
	if !errors.Is(Usage(os.ErrNotExist), os.ErrNotExist) {
		t.Error("a usage error hides its cause")
	}
}

// TestStopped distinguishes work that a signal ended from work that failed by itself.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	if failed := errors.New("disk full"); WasStopped(ctx, failed) || WasStopped(ctx, context.Canceled) {
		t.Error("nothing has stopped it yet")
	}
	cancel(StoppedBy(syscall.SIGINT))
	if !WasStopped(ctx, fmt.Errorf("copying: %w", context.Canceled)) || WasStopped(ctx, errors.New("disk full")) || WasStopped(ctx, nil) {
		t.Error("what ended by the signal is not told from what did not")
	}
	if got := Stopped(ctx, "nothing was copied").Error(); got != "interrupted; nothing was copied" {
		t.Error(got)
	}
}
