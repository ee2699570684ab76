package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// pageWidth is how wide pages are, but for tables and what is in fences.
const pageWidth = 110

// TestPages has the pages be as wide as they should, and their links lead somewhere.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	anchors := map[string][]string{}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md") {
		anchors[page] = readPage(t, page)
	}
	for page := range anchors {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
			link, err := url.Parse(m[1])
			if err != nil || link.IsAbs() {
				continue
			}
			to := page
			if link.Path != "" {
				to = filepath.Join(filepath.Dir(page), link.Path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: links to %s, which is not there", page, m[1])
			} else if link.Fragment != "" && !slices.Contains(anchors[to], link.Fragment) {
				t.Errorf("%s: links to %s, and there is no such heading", page, m[1])
			}
		}
	}
}

// TestExamplesFirst holds every page to an example or a picture before the first paragraph. The list of pages has
// none.
func TestExamplesFirst(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, first, _ := strings.Cut(string(text), "\n\n")
		if filepath.Base(page) != "README.md" && !strings.HasPrefix(first, "```") && !strings.HasPrefix(first, "![") {
			t.Errorf("%s begins with %.40q", page, first)
		}
	}
}

// readPage returns the anchors of a page's headings, as GitHub makes them.
func readPage(t *testing.T, page string) (anchors []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	for i, line := range strings.Split(string(text), "\n") {
		heading, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "|"):
		case strings.HasPrefix(line, "#") && isHeading:
			anchor := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading), "")
			anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
		case utf8.RuneCountInString(line) > pageWidth && strings.Contains(strings.TrimSpace(line), " "):
			t.Errorf("%s:%d: %d characters", page, i+1, utf8.RuneCountInString(line))
		}
	}
	return anchors
}
