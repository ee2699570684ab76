package server

import (
	"context"
	"errors"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
)

// The most that a feed keeps: lines, and bytes of each.
const (
	maxFeedLines = 2000
	maxLineBytes = 2048
)

// feed is what comes by itself, the last lines of it. A nil feed is none.
type feed struct {
	title   string
	command string // which listens
	stop    context.CancelFunc

	mu       sync.Mutex
	lines    [][]string // the last ones, the last one last
	received int64      // all of them
	err      error      // why no more comes, or not all
	ended    bool
	paused   bool // the screen stands still; lines go on to be counted
}

func newFeed(title, command string) *feed { return &feed{title: title, command: command} }

// run listens until end.
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

// addLine keeps a line, and lets go of the oldest.
func (f *feed) addLine(v resp.Value) error {
	if err := target.ReplyError(v); err != nil {
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

// feedLine is a message, or a command that ran, as cells; nil of a confirmation.
func feedLine(v resp.Value) []string {
	clip := func(v resp.Value) string {
		text := target.Text(v)
		return text[:min(len(text), maxLineBytes)]
	}
	if len(v.Elems) == 0 {
		if text := clip(v); text != "OK" {
			return parseMonitorLine(text)
		}
		return nil
	}
	switch e := v.Elems; {
	case len(e) == 4 && target.Text(e[0]) == "pmessage":
		return []string{clip(e[2]), clip(e[3])}
	case len(e) == 3 && target.Text(e[0]) == "message":
		return []string{clip(e[1]), clip(e[2])}
	}
	return nil
}

// snapshot is the lines, how many there were, and whether more may come.
func (f *feed) snapshot() (lines [][]string, came int64, ended bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines[max(len(f.lines)-maxFeedLines, 0):], f.received, f.ended, f.err
}

// togglePause stops the screen, or lets it go on.
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
