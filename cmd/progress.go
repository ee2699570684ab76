package cmd

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows on the terminal how much of the work is done, and takes it away
// again at the end. A total of -1 is unknown. Where nobody sees it, it shows
// nothing.
func (s *streams) progress(what string, total int64) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(s.err),
		progressbar.OptionSetVisibility(s.errTerminal),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
	}
	if total >= 0 {
		options = append(options, progressbar.OptionShowCount())
	}
	return progressbar.NewOptions64(total, options...)
}
