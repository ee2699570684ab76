package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLifeOfSet checks that the functions and files that docs/design.md names in the life of a SET exist.
func TestLifeOfSet(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, life, _ := strings.Cut(string(text), "## The life of a SET")
	life, _, _ = strings.Cut(life, "\n## ")
	steps := regexp.MustCompile(`(?m)^\d+\. `).FindAllString(life, -1)
	if len(steps) != 10 {
		t.Errorf("%d steps", len(steps))
	}
	source := ""
	for _, folder := range []string{"server", "engine", "translator", "local"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source += string(text)
		}
	}
	for _, m := range regexp.MustCompile("`([A-Za-z]+)\\.([A-Za-z]+)`").FindAllStringSubmatch(life, -1) {
		method := regexp.MustCompile(`func \((\w+ )?\*?` + m[1] + `\) ` + m[2] + `\(`)
		if !method.MatchString(source) {
			t.Errorf("no method %s of %s", m[2], m[1])
		}
	}
	for _, m := range regexp.MustCompile("`([A-Za-z.]+)`[^`(]*\\(([a-z_/]+\\.go)\\)").FindAllStringSubmatch(life, -1) {
		text, err := os.ReadFile(m[2])
		if err != nil {
			t.Error(err)
			continue
		}
		name := m[1][strings.LastIndex(m[1], ".")+1:]
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name + `\(`).Match(text) {
			t.Errorf("%s has no function %s", m[2], name)
		}
	}
}
