package inspect

import (
	"os"
	"path/filepath"
	"testing"
)

// TestJournalOutlivesItsSession covers killed sessions on one target.
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
	killed.press("w", "j", "d", "y")
	killed.runs("SET tags 1")

	// While a session is alive, a second session does not see its journal and has its own.
	beside := browseOn(t, f, f.fake, 40, 12)
	beside.hides("earlier session")
	beside.press("w")
	beside.runs("SET own 1")
	if files() != 2 {
		t.Errorf("%d journals", files())
	}
	beside.press("u")
	if kept, err := beside.model.edit.EndJournal(); err != nil || kept != 0 || files() != 1 {
		t.Errorf("%v, and %d journals", err, files())
	}

	if _, err := killed.model.edit.EndJournal(); err != nil {
		t.Fatal(err)
	}
	next := browseOn(t, f, f.fake, 40, 12)
	next.shows("2 changes of an earlier session", "press w, then u")
	next.press("w")
	next.runs("SET more 1")
	if kept, err := next.model.edit.EndJournal(); err != nil || kept != 3 || files() != 1 {
		t.Errorf("%d changes are kept, %v", kept, err)
	}
	next = browseOn(t, f, f.fake, 40, 12)
	next.press("w")
	next.runs("SET own 1")
	next.press("u", "u", "u", "u")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
	if kept, err := next.model.edit.EndJournal(); err != nil || kept != 0 || files() != 0 {
		t.Errorf("%v, and %d journals", err, files())
	}
}

// TestTemporaryDataLeaveNoJournal checks that an in-memory target leaves no journal, since its data is
// gone afterwards.
func TestTemporaryDataLeaveNoJournal(t *testing.T) {
	f := newFile(t)
	dir := t.TempDir()
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal, o.Temporary = dir, true
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.runs("SET k 1")
	if kept, err := s.model.edit.EndJournal(); err != nil || kept != 0 || journalsIn(t, dir) != 0 {
		t.Errorf("%d changes in %d journals, %v", kept, journalsIn(t, dir), err)
	}
}

// journalsIn returns the number of journals in a directory, and checks that only the owner can read
// them.
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

// TestJournalsThatAreDropped checks journals with a damaged end.
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
		killed.press("w")
		killed.runs("SET own 1")
		path := killed.journal()
		end := sizeOfFile(t, path)
		killed.runs("SET own 2")
		if tail > 0 { // inside its commands, after a head of 5 bytes, the title and a hash
			end += int64(5 + len(killed.model.edit.Undoable()[1].Title) + 8 + tail)
		} else {
			end = sizeOfFile(t, path)
		}
		if err := os.Truncate(path, end); err != nil {
			t.Fatal(err)
		}
		if _, err := killed.model.edit.EndJournal(); err != nil {
			t.Fatal(err)
		}
		next := browseOn(t, f, f.fake, 40, 12)
		want := "2 changes"
		if tail > 0 {
			want = "1 change "
		}
		next.shows(want)
		next.press("@discard_history")
		next.shows("The history is discarded")
		if journalsIn(t, dir) != 0 {
			t.Errorf("%d journals", journalsIn(t, dir))
		}
	}
}

func sizeOfFile(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// journal returns the path of the session's journal, the only one in its directory.
func (s *session) journal() string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.model.options.Journal, "*"))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("journals: %v %v", files, err)
	}
	return files[0]
}
