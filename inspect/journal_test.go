package inspect

import (
	"os"
	"testing"
)

// TestJournalOutlivesItsSession is about sessions that are killed, on one target.
func TestJournalOutlivesItsSession(t *testing.T) {
	f := newFile(t).shop()
	dir := t.TempDir()
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal = dir
	}
	before := dumpAll(t, f, f.clock.now)
	files := func() int { return journalsIn(t, dir) }
	killed := browseOn(t, f, f.fake, 40, 12)
	killed.press("U", "j", "D", "y")
	killed.runs("SET tags 1")

	// While it lives, others are told nothing, and have a journal of their own.
	beside := browseOn(t, f, f.fake, 40, 12)
	beside.hides("earlier session")
	beside.press("U")
	beside.runs("SET own 1")
	if files() != 2 {
		t.Errorf("%d journals", files())
	}
	beside.press("u")
	if kept, err := beside.model.endJournal(); err != nil || kept != 0 || files() != 1 {
		t.Errorf("%v, and %d journals", err, files())
	}

	if err := killed.model.journal.file.Close(); err != nil {
		t.Fatal(err)
	}
	next := browseOn(t, f, f.fake, 40, 12)
	next.shows("Changes of an earlier session", "keep its 2 changes for undo", "drop them")
	next.press("enter", "U")
	next.runs("SET more 1")
	if kept, err := next.model.endJournal(); err != nil || kept != 3 || files() != 1 {
		t.Errorf("%d changes are kept, %v", kept, err)
	}
	next = browseOn(t, f, f.fake, 40, 12)
	next.press("enter", "U")
	next.runs("SET own 1")
	next.press("u", "u", "u", "u")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
	if kept, err := next.model.endJournal(); err != nil || kept != 0 || files() != 0 {
		t.Errorf("%v, and %d journals", err, files())
	}
}

// TestFleetingDataLeaveNoJournal: nobody could find what is undone in memory.
func TestFleetingDataLeaveNoJournal(t *testing.T) {
	f := newFile(t)
	dir := t.TempDir()
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal, o.Fleeting = dir, true
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("U")
	s.runs("SET k 1")
	if kept, err := s.model.endJournal(); err != nil || kept != 0 || journalsIn(t, dir) != 0 {
		t.Errorf("%d changes in %d journals, %v", kept, journalsIn(t, dir), err)
	}
}

// journalsIn counts the journals of a directory, which nobody else may read.
func journalsIn(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
	return len(entries)
}

// TestJournalsThatAreDropped may be damaged at their end.
func TestJournalsThatAreDropped(t *testing.T) {
	f := newFile(t)
	dir := t.TempDir()
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal = dir
	}
	for _, tail := range []int{0, 1, 9} {
		killed := browseOn(t, f, f.fake, 40, 12)
		killed.press("U")
		killed.runs("SET own 1")
		killed.runs("SET own 2")
		path := killed.model.journal.file.Name()
		end, last := killed.model.journal.end, killed.model.steps[1]
		if tail > 0 { // into its commands
			end = last.from + recordHead + int64(len(last.title)) + recordSum + int64(tail)
		}
		if err := os.Truncate(path, end); err != nil {
			t.Fatal(err)
		}
		if err := killed.model.journal.file.Close(); err != nil {
			t.Fatal(err)
		}
		next := browseOn(t, f, f.fake, 40, 12)
		want := "2 changes"
		if tail > 0 {
			want = "1 change "
		}
		next.shows(want)
		next.press("down", "enter")
		next.shows("They stay as they are")
		if journalsIn(t, dir) != 0 {
			t.Errorf("%d journals", journalsIn(t, dir))
		}
	}
}
