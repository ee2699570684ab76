// Package progress shows how far work has come.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/schollz/progressbar/v3"
)

// Bar is a bar on a terminal, and only of work that takes its time. A nil one shows
// nothing.
type Bar struct {
	done, total int64 // total is -1 when it is not known
	began       time.Time
	terminal    io.Writer
	size        func() (width, height int, err error)
	bar         *progressbar.ProgressBar
	shown       bool
	tick        time.Duration // of Wait
}

// quick is how long work takes that needs no bar.
const quick = time.Second

// New makes a bar on a terminal of that size. What is done is counted in units, such as
// "keys"; total is -1 when it is not known.
func New(terminal io.Writer, size func() (width, height int, err error), what, unit string, total int64) *Bar {
	p := &Bar{total: total, began: time.Now(), terminal: terminal, size: size, tick: quick}
	// Without an interval the bar is drawn here alone, never after what ends it.
	p.bar = progressbar.NewOptions64(total, rate(unit),
		progressbar.OptionSetWriter(drawing{p}), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
		progressbar.OptionSetSpinnerChangeInterval(0))
	p.bar.StartWithoutRender()
	return p
}

// rate shows how many units are done in a second, and bytes as people write them, as 2 MB.
func rate(unit string) progressbar.Option {
	if unit == "bytes" {
		return progressbar.OptionShowBytes(true)
	}
	return func(bar *progressbar.ProgressBar) {
		progressbar.OptionShowIts()(bar)
		progressbar.OptionSetItsString(unit)(bar)
	}
}

// drawing is where a bar is drawn, once it is to be shown. Lines are cut to the width
// of the terminal: of one that goes on in the next, a carriage return would leave the
// first half.
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

// Add counts n units more.
func (p *Bar) Add(n int64) {
	if p != nil {
		p.Set(p.done+n, p.total)
	}
}

// Set says that done units of total are done.
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

// Say changes what the bar says.
func (p *Bar) Say(what string) {
	if p == nil {
		return
	}
	p.bar.Describe(what)
	p.Set(p.done, p.total)
}

// Wait shows in place of the bar what is being waited for, and for how long: a single step cannot tell how far it
// is. Nothing else may use the bar until over is called.
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

// Clear makes room for a line.
func (p *Bar) Clear() {
	if p != nil && p.shown {
		p.bar.Clear()
	}
}

// End takes the bar away.
func (p *Bar) End() {
	if p != nil && p.shown {
		p.bar.Clear()
		p.bar.Exit()
	}
}

// Above is w for lines on the terminal that the bar is on: it makes room for them.
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
