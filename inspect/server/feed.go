package server

import (
	"context"
	"errors"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
)

// Limits of a feed: number of lines, and bytes of each cell.
const (
	maxFeedLines = 2000
	maxLineBytes = 2048
)

// feed holds the latest lines of a stream of messages or commands. A nil feed is empty.
type feed struct {
	title   string
	command string // the command that opened the stream
	stop    context.CancelFunc

	mu       sync.Mutex
	lines    [][]string // oldest first
	received int64      // number of lines received in all
	err      error      // why the stream ended or is incomplete
	ended    bool
	paused   bool // the screen is paused; lines are only counted
}

func newFeed(title, command string) *feed { return &feed{title: title, command: command} }

// run receives lines until close is called.
func (f *feed) run(listen Listener, call [][]byte) tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	return func() tea.Msg {
		err := listen(ctx, call, f.setError, f.addLine)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = true
		if !errors.Is(err, context.Canceled) && err != nil {
			f.err = err
		}
		return nil
	}
}

func (f *feed) close() {
	if f != nil && f.stop != nil {
		f.stop()
	}
}

func (f *feed) setError(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// addLine adds a line, and drops the oldest.
func (f *feed) addLine(v resp.Value) error {
	if err := client.ReplyError(v); err != nil {
		return err
	}
	line := feedLine(v)
	if line == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.received++; f.paused {
		return nil
	}
	if f.lines = append(f.lines, line); len(f.lines) > 2*maxFeedLines {
		f.lines = append([][]string(nil), f.lines[len(f.lines)-maxFeedLines:]...)
	}
	return nil
}

// feedLine returns a message, or a MONITOR line, as cells; nil for a confirmation.
func feedLine(v resp.Value) []string {
	clip := func(v resp.Value) string {
		text := client.Text(v)
		return text[:min(len(text), maxLineBytes)]
	}
	if len(v.Elems) == 0 {
		if text := clip(v); text != "OK" {
			return parseMonitorLine(text)
		}
		return nil
	}
	switch e := v.Elems; {
	case len(e) == 4 && client.Text(e[0]) == "pmessage":
		return []string{clip(e[2]), clip(e[3])}
	case len(e) == 3 && client.Text(e[0]) == "message":
		return []string{clip(e[1]), clip(e[2])}
	}
	return nil
}

// snapshot returns the lines, the number received, and whether the stream has ended.
func (f *feed) snapshot() (lines [][]string, came int64, ended bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines[max(len(f.lines)-maxFeedLines, 0):], f.received, f.ended, f.err
}

// togglePause pauses or resumes the screen.
func (f *feed) togglePause() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = !f.paused
}

func (f *feed) isPaused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused
}
