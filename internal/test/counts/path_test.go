package counts

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// traced reads the stacks of all goroutines when SQLite is about to run a statement.
type traced struct {
	*local.Store
	stacks string
}

func (s *traced) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	batches[0].Stmts = slices.Clone(batches[0].Stmts)
	batches[0].Stmts[0].Fold = func() func(store.Row) { // called just before SQLite
		stacks := make([]byte, 1<<20)
		s.stacks = string(stacks[:runtime.Stack(stacks, true)])
		return func(store.Row) {}
	}
	return s.Store.Apply(ctx, batches)
}

const (
	maxCalls = 25 // between Session.Do and SQLite
	maxFiles = 6  // that these functions are in
)

// TestPath counts the calls between Session.Do and SQLite for a SET: the functions on the stacks of the session's
// goroutine and of the writer's.
func TestPath(t *testing.T) {
	file, err := local.Open(filepath.Join(t.TempDir(), "db.sqlite"), local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &traced{Store: file}
	if v, err := engine.New(s).Session().Do(context.Background(), []byte("SET"), []byte("k"), []byte("v")); err != nil || v.IsError() {
		t.Fatal(v, err)
	}
	var path, files []string
	for _, end := range []string{"engine.(*Session).Do(", "local.(*conn).step("} {
		found := false
		for stack := range strings.SplitSeq(s.stacks, "\n\n") {
			if strings.Contains(stack, end) {
				calls, in := ours(stack)
				path, files, found = append(path, calls...), append(files, in...), true
			}
		}
		if !found {
			t.Fatalf("no goroutine has called %s:\n%s", end, s.stacks)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(path) > maxCalls || len(files) > maxFiles {
		t.Errorf("%d calls in %d files; want at most %d in %d:\n%s\n%s", len(path), len(files), maxCalls, maxFiles, strings.Join(path, "\n"), strings.Join(files, "\n"))
	}
	t.Logf("%d calls in %d files", len(path), len(files))
}

// ours returns the functions of meowdis on a stack, the first call first, and their files.
func ours(stack string) (calls, files []string) {
	const module = "github.com/meowdis/meowdis/"
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i++ {
		name, is := strings.CutPrefix(lines[i], module)
		if !is || strings.Contains(name, "test/counts") {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), ":")
		calls = append(calls, name[:strings.LastIndex(name, "(")])
		files = append(files, filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file))
	}
	slices.Reverse(calls)
	return calls, files
}
