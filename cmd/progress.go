package cmd

import (
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/schollz/progressbar/v3"
)

// progress is a bar on stderr, for people only, and only of work that takes its
// time. A nil one shows nothing.
type progress struct {
	done, total int64 // total is -1 when nobody knows
	began       time.Time
	s           *streams
	bar         *progressbar.ProgressBar
	shown       bool
}

// quick is how long work takes that needs no bar.
const quick = time.Second

// newProgress is nil unless somebody looks at stderr. What is done is counted in
// units, such as "keys".
func newProgress(s *streams, what, unit string, total int64) *progress {
	if !s.errTerminal {
		return nil
	}
	p := &progress{total: total, began: time.Now(), s: s}
	// Without an interval the bar is drawn here alone, never behind what ends it.
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(drawing{p}), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
		progressbar.OptionSetSpinnerChangeInterval(0))
	p.bar.StartWithoutRender()
	return p
}

// drawing is where a bar is drawn, once it is to be shown. Lines are cut to the width
// of the terminal: of one that goes on in the next, a carriage return would leave the
// first half.
type drawing struct{ of *progress }

func (d drawing) Write(drawn []byte) (int, error) {
	if !d.of.shown {
		return len(drawn), nil
	}
	lines := strings.Split(string(drawn), "\r")
	if width, _, err := d.of.s.size(); err == nil && width > 0 {
		for i, line := range lines {
			lines[i] = ansi.Truncate(line, width-1, "")
		}
	}
	if _, err := io.WriteString(d.of.s.errScreen, strings.Join(lines, "\r")); err != nil {
		return 0, err
	}
	return len(drawn), nil
}

// add counts n units more.
func (p *progress) add(n int64) {
	if p != nil {
		p.set(p.done+n, p.total)
	}
}

// set says that done units of total are done.
func (p *progress) set(done, total int64) {
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

// say changes what the bar says.
func (p *progress) say(what string) {
	if p == nil {
		return
	}
	p.bar.Describe(what)
	p.set(p.done, p.total)
}

// clear makes room for a line.
func (p *progress) clear() {
	if p != nil && p.shown {
		p.bar.Clear()
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p != nil && p.shown {
		p.bar.Clear()
		p.bar.Exit()
	}
}
