//go:build unix

package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDecoderLeavesNothing: what a decoder has started ends with it, whether the decoder is stopped or ends by
// itself.
func TestDecoderLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct{ script, err string }{
		"is left":    {"sleep 1000 & wait", ""},
		"ends first": {"sleep 1000 &", "a process that it started keeps its output open"},
		"closes":     {"sleep 1000 >/dev/null 2>&1 &", "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fifo := filepath.Join(t.TempDir(), "open")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() {
				_, err := runDecoder(ctx, []string{"sh", "-c", "exec 3>" + fifo + "; " + c.script}, nil)
				ended <- err
			}()
			f, err := os.Open(fifo) // once the decoder has
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if c.err == "" {
				stop()
			}
			closed := make(chan struct{})
			go func() {
				io.ReadAll(f) // until no process has it open
				close(closed)
			}()
			select {
			case <-closed:
			case <-time.After(3 * time.Minute):
				t.Error("what the decoder has started goes on")
			}
			if err := <-ended; !strings.Contains(fmt.Sprint(err), c.err) {
				t.Errorf("got %v, want %s", err, c.err)
			}
		})
	}
}
