package logging_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// TestPanic logs a panic, with the stack of its place.
func TestPanic(t *testing.T) {
	var log strings.Builder
	store.Guard(logging.Panic(slog.New(slog.NewTextHandler(&log, nil))), func() { panic("injected") })
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "panic=injected") || !strings.Contains(got, "logging_test.go") {
		t.Errorf("the log has %q", got)
	}
}
