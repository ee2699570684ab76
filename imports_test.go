package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds the packages to imports.txt. A pure package imports pure packages only. The packages of
// cmd and of the test machinery may import any package.
func TestImports(t *testing.T) {
	const module = "github.com/meowdis/meowdis/"
	text, err := os.ReadFile("imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	allowed, pure, isPure := map[string][]string{}, map[string]bool{}, false
	for line := range strings.Lines(string(text)) {
		if about, ok := strings.CutPrefix(line, "# "); ok {
			isPure = strings.HasPrefix(about, "pure:")
		} else if name, list, ok := strings.Cut(line, ":"); ok {
			allowed[name], pure[name] = strings.Fields(list), isPure
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name, ours := strings.CutPrefix(words[0], module)
		if !ours || name == "cmd" || strings.HasPrefix(name, "internal/test/") {
			continue
		}
		list, known := allowed[name]
		if !known {
			t.Errorf("%s is missing from imports.txt: add the packages that it may import", name)
		}
		for _, path := range words[1:] {
			imported, ours := strings.CutPrefix(path, module)
			switch {
			case !ours:
			case !slices.Contains(list, imported):
				t.Errorf("%s imports %s, which imports.txt does not allow", name, imported)
			case pure[name] && !pure[imported]:
				t.Errorf("%s is pure and imports %s, which is not", name, imported)
			}
		}
		delete(allowed, name)
	}
	for name := range allowed {
		t.Errorf("%s is in imports.txt and is not a package", name)
	}
}
