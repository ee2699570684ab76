package overview

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
)

// sideSummary shows the overview beside the list. A new summary replaces the shown one when it is complete.
type sideSummary struct {
	shown     *Summary
	loading   *Summary // nil if none loads
	db        int
	startedAt int64 // when loading began, Unix ms
	endedAt   int64 // when shown was complete
	outdated  bool  // the data changed since
	failed    bool  // a part failed or was stopped; nothing loads until the next refresh
}

const (
	sideSample = 100 // keys of a server to describe for the overview beside the list

	// The overview is computed again at most every sideEvery ms, and for at most a part in sideShare of
	// the time.
	sideEvery = 5000
	sideShare = 20
)

// FillSide loads the overview beside the list. The caller calls it only while the overview is visible.
func (v *Pane) FillSide(keys func() ui.Keyspace) tea.Cmd {
	s := &v.side
	if s.db != v.DB {
		*s = sideSummary{db: v.DB}
	}
	if s.failed || v.Running(job.Summarizing) || v.Running(job.Listing) || v.Running(job.Scanning) || v.Running(job.Writing) {
		return nil
	}
	if s.loading != nil {
		return v.loadSide()
	}
	took := s.endedAt - s.startedAt
	if s.shown != nil && (!s.outdated || v.Now-s.endedAt < max(sideEvery, took*sideShare)) {
		return nil
	}
	s.loading, s.startedAt, s.outdated = v.newSummary(keys(), sideSample), v.Now, false
	if s.shown == nil {
		s.shown = s.loading
	}
	return v.loadSide()
}

// loadSide loads the next part. After the last one it shows the summary.
func (v *Pane) loadSide() tea.Cmd {
	s := &v.side
	if cmd := v.loadNext(s.loading); cmd != nil {
		return cmd
	}
	s.shown, s.loading, s.endedAt = s.loading, nil, v.Now
	return nil
}

// MarkOutdated lets the overview beside the list be computed again.
func (v *Pane) MarkOutdated() { v.side.outdated = true }

// Refresh computes the overview beside the list again, also after a failure.
func (v *Pane) Refresh() {
	v.side.loading, v.side.outdated, v.side.failed, v.side.endedAt = nil, true, false, 0
}

// Halt keeps the overview from loading by itself after a job failed or was stopped.
func (v *Pane) Halt(p job.Purpose) {
	if p == job.Summarizing && v.side.loading != nil {
		v.side.loading, v.side.failed = nil, true
	}
}

// SideView draws the overview beside the list. total is the current number of keys.
func (v *Pane) SideView(total int64, width, height int) []string {
	if v.side.shown == nil || v.side.db != v.DB {
		return nil
	}
	v.side.shown.keys = total
	lines := v.side.shown.draw(v, width)
	return lines[:min(len(lines), height)]
}
