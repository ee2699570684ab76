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
	keptLines = 2000
	lineBytes = 2048
)

// feed is what comes by itself, the last lines of it. A nil feed is none.
type feed struct {
	title   string
	command string // which listens
	stop    context.CancelFunc

	mu    sync.Mutex
	lines [][]string // the last ones, the last one last
	came  int64      // all of them
	err   error      // why no more comes, or not all
	ended bool
	holds bool // the screen stands still; lines go on to be counted
}

func newFeed(title, command string) *feed { return &feed{title: title, command: command} }

// run listens until end.
func (f *feed) run(listen Listener, call [][]byte) tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	return func() tea.Msg {
		err := listen(ctx, call, f.fail, f.take)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = true
		if !errors.Is(err, context.Canceled) && err != nil {
			f.err = err
		}
		return nil
	}
}

func (f *feed) end() {
	if f != nil && f.stop != nil {
		f.stop()
	}
}

func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// take keeps a line, and lets go of the oldest.
func (f *feed) take(v resp.Value) error {
	if err := target.ReplyError(v); err != nil {
		return err
	}
	line := lineOf(v)
	if line == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.came++; f.holds {
		return nil
	}
	if f.lines = append(f.lines, line); len(f.lines) > 2*keptLines {
		f.lines = append([][]string(nil), f.lines[len(f.lines)-keptLines:]...)
	}
	return nil
}

// lineOf is a message, or a command that ran, as cells; nil of a confirmation.
func lineOf(v resp.Value) []string {
	clip := func(v resp.Value) string {
		text := target.Text(v)
		return text[:min(len(text), lineBytes)]
	}
	if len(v.Elems) == 0 {
		if text := clip(v); text != "OK" {
			return monitored(text)
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

// shown is the lines, how many there were, and whether more may come.
func (f *feed) shown() (lines [][]string, came int64, ended bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines[max(len(f.lines)-keptLines, 0):], f.came, f.ended, f.err
}

// hold stops the screen, or lets it go on.
func (f *feed) hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds = !f.holds
}

func (f *feed) held() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holds
}
