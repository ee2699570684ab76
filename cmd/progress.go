package cmd

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on stderr, for people only, and only of work that takes its
// time. A nil one shows nothing.
type progress struct {
	s     *streams
	what  string
	total int64 // -1 when nobody knows
	began time.Time
	done  int64
	bar   *progressbar.ProgressBar // nil until it is shown
}

// quick is how long work takes that needs no bar.
const quick = time.Second

// newProgress is nil unless somebody looks at stderr.
func newProgress(s *streams, what string, total int64) *progress {
	if !s.errTerminal {
		return nil
	}
	return &progress{s: s, what: what, total: total, began: time.Now()}
}

func (p *progress) add(n int64) {
	if p == nil {
		return
	}
	p.done += n
	switch {
	case p.bar != nil:
		p.bar.Add64(n)
	case time.Since(p.began) > quick:
		p.bar = progressbar.NewOptions64(p.total,
			progressbar.OptionSetWriter(p.s.err), progressbar.OptionSetDescription(p.what), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString("keys"), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20))
		p.bar.Add64(p.done)
	}
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
