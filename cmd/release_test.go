package cmd

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCaskPages has Homebrew install every man page: its casks name them one by one.
func TestCaskPages(t *testing.T) {
	dir := t.TempDir()
	root := newRoot(&streams{getenv: func(string) string { return "" }})
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	pages, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(config), "\n    manpages:")
	if !found {
		t.Fatal("there are no manpages in .goreleaser.yaml")
	}
	var named, want []string
	for _, line := range strings.Split(list, "\n")[1:] {
		page, ok := strings.CutPrefix(line, "      - dist-extras/man/")
		if !ok {
			break
		}
		named = append(named, page)
	}
	for _, page := range pages {
		want = append(want, page.Name())
	}
	if !slices.Equal(named, want) {
		t.Errorf("the cask of .goreleaser.yaml has the pages\n%q\nwant\n%q", named, want)
	}
}
