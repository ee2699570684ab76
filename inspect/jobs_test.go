package inspect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestJobsUseWhatTheyAreHanded finds jobs that use the pane or the model that starts them. Only the
// update loop may use these, and it changes them while the job runs.
func TestJobsUseWhatTheyAreHanded(t *testing.T) {
	race.Skip(t)
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	jobs := 0
	for _, file := range files {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			receiver := f.Recv.List[0].Names[0].Name
			for _, work := range jobsIn(f) {
				jobs++
				ast.Inspect(work, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && id.Name == receiver {
						t.Errorf("%s: the job uses %s", set.Position(id.Pos()), receiver)
					}
					return true
				})
			}
		}
	}
	if jobs < 15 {
		t.Errorf("found %d jobs only", jobs)
	}
}

// jobsIn returns the functions that f starts as jobs.
func jobsIn(f *ast.FuncDecl) (jobs []*ast.FuncLit) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		name, ok := call.Fun.(*ast.SelectorExpr)
		work, isFunc := call.Args[1].(*ast.FuncLit)
		if ok && isFunc && name.Sel.Name == "Start" {
			jobs = append(jobs, work)
		}
		return true
	})
	return jobs
}
