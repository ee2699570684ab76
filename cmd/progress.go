package cmd

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on stderr, for people only, and only of work that takes its
// time. A nil one shows nothing.
type progress struct {
	s           *streams
	what, unit  string
	done, total int64 // total is -1 when nobody knows
	began       time.Time
	bar         *progressbar.ProgressBar // nil until it is shown
}

// quick is how long work takes that needs no bar.
const quick = time.Second

// newProgress is nil unless somebody looks at stderr. What is done is counted in
// units, such as "keys".
func newProgress(s *streams, what, unit string, total int64) *progress {
	if !s.errTerminal {
		return nil
	}
	return &progress{s: s, what: what, unit: unit, total: total, began: time.Now()}
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
	p.done, p.total = done, total
	switch {
	case p.bar != nil:
		if p.bar.GetMax64() != total {
			p.bar.ChangeMax64(total)
		}
		p.bar.Set64(done)
	case time.Since(p.began) > quick:
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.s.err), progressbar.OptionSetDescription(p.what), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.unit), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20))
		p.bar.Set64(done)
	}
}

// say changes what the bar says.
func (p *progress) say(what string) {
	if p == nil {
		return
	}
	p.what = what
	if p.bar != nil {
		p.bar.Describe(what)
	}
	p.set(p.done, p.total)
}

// clear makes room for a line.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		p.bar.Clear()
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p != nil && p.bar != nil {
		p.bar.Clear()
		p.bar.Exit()
	}
}
