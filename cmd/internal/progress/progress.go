// Package progress shows the progress of long work.
package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/schollz/progressbar/v3"
)

// Bar is a progress bar on a terminal. It appears only if work takes longer than a second. A nil Bar shows nothing.
type Bar struct {
	done, total int64 // total is -1 if unknown
	began       time.Time
	terminal    io.Writer
	size        func() (width, height int, err error)
	bar         *progressbar.ProgressBar
	shown       bool
	tick        time.Duration // interval of Wait
}

// quick limits the time of work without a bar.
const quick = time.Second

// New returns a bar for a terminal of that size. Progress is counted in units, such as "keys"; total is -1 if
// unknown.
func New(terminal io.Writer, size func() (width, height int, err error), what, unit string, total int64) *Bar {
	p := &Bar{total: total, began: time.Now(), terminal: terminal, size: size, tick: quick}
	// Without an interval only this package draws the bar, never after End.
	p.bar = progressbar.NewOptions64(total, rate(unit),
		progressbar.OptionSetWriter(drawing{p}), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
		progressbar.OptionSetSpinnerChangeInterval(0))
	p.bar.StartWithoutRender()
	return p
}

// rate shows the units done per second; bytes as MB.
func rate(unit string) progressbar.Option {
	if unit == "bytes" {
		return progressbar.OptionShowBytes(true)
	}
	return func(bar *progressbar.ProgressBar) {
		progressbar.OptionShowIts()(bar)
		progressbar.OptionSetItsString(unit)(bar)
	}
}

// drawing writes the bar to the terminal once it is shown. It cuts lines to the terminal's width: a carriage return
// would leave the first half of a wrapped line.
type drawing struct{ of *Bar }

func (d drawing) Write(drawn []byte) (int, error) {
	if !d.of.shown {
		return len(drawn), nil
	}
	lines := strings.Split(string(drawn), "\r")
	if width, _, err := d.of.size(); err == nil && width > 0 {
		for i, line := range lines {
			lines[i] = ansi.Truncate(line, width-1, "")
		}
	}
	if _, err := io.WriteString(d.of.terminal, strings.Join(lines, "\r")); err != nil {
		return 0, err
	}
	return len(drawn), nil
}

// Add adds n units to the progress.
func (p *Bar) Add(n int64) {
	if p != nil {
		p.Set(p.done+n, p.total)
	}
}

// Set sets the progress to done of total units.
func (p *Bar) Set(done, total int64) {
	if p == nil {
		return
	}
	if total != p.total {
		p.bar.ChangeMax64(total)
	}
	p.done, p.total = done, total
	if p.shown = p.shown || time.Since(p.began) > quick; p.shown {
		p.bar.Set64(done)
	}
}

// barWidth has the columns of the percentage and the bar.
const barWidth = 28

// Say changes the description of the bar, to the first that leaves room for the bar, or to the last one.
func (p *Bar) Say(descriptions ...string) {
	if p == nil {
		return
	}
	width, _, err := p.size()
	i := slices.IndexFunc(descriptions, func(d string) bool { return err != nil || ansi.StringWidth(d)+barWidth < width })
	if i < 0 {
		i = len(descriptions) - 1
	}
	p.bar.Describe(descriptions[i])
	p.Set(p.done, p.total)
}

// Wait replaces the bar by what it waits for and the seconds so far, for a single step of unknown length. The caller
// must not use the bar until over is called.
func (p *Bar) Wait(what string) (over func()) {
	if p == nil {
		return func() {}
	}
	p.Clear()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(p.tick)
		defer tick.Stop()
		for began := time.Now(); ; {
			select {
			case <-tick.C:
				p.shown = true
				fmt.Fprintf(drawing{p}, "\r%s [%ds]", what, int(time.Since(began).Seconds()))
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		if <-stopped; p.shown {
			io.WriteString(p.terminal, "\r\x1b[K")
		}
	}
}

// Clear removes the bar from the line, for other output.
func (p *Bar) Clear() {
	if p != nil && p.shown {
		p.bar.Clear()
	}
}

// End removes the bar.
func (p *Bar) End() {
	if p != nil && p.shown {
		p.bar.Clear()
		p.bar.Exit()
	}
}

// Above returns a writer for lines on the bar's terminal. It clears the bar first.
func (p *Bar) Above(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return above{p, w}
}

type above struct {
	bar *Bar
	to  io.Writer
}

func (a above) Write(text []byte) (int, error) {
	a.bar.Clear()
	return a.to.Write(text)
}
