package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// part is a part of a run, with tables of its own.
type part struct {
	name string
	run  func(*options, string) error
}

// errNotMeasured reports a part or a row that cannot be measured on this machine.
var errNotMeasured = errors.New("not measured")

// measure runs a part in a temporary directory. If it succeeds, its output also replaces its
// section of the page o.write.
func (p part) measure(o *options) error {
	dir, err := os.MkdirTemp(o.scratch, p.name)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var text bytes.Buffer
	o.out = io.MultiWriter(os.Stdout, &text)
	before, began := len(o.goals), time.Now()
	err = p.run(o, dir)
	for i := range o.goals[before:] {
		o.goals[before+i].part = p.name
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", p.name, err)
	}
	fmt.Fprintf(o.out, "This part, `-only %s`, took %s on %s.\n", p.name, time.Since(began).Round(time.Second), today())
	fmt.Println()
	switch {
	case errors.Is(err, errNotMeasured):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", p.name, err)
	case o.write == "":
		return nil
	}
	return rewrite(o.write, p.name, func(string) string { return text.String() })
}

func today() string { return time.Now().Format("2006-01-02") }

// rewrite changes the text between a part's marks in a page.
func rewrite(page, part string, change func(string) string) error {
	all, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begins, ends := fmt.Sprintf("<!-- bench %s -->\n", part), fmt.Sprintf("<!-- /bench %s -->\n", part)
	head, rest, ok1 := strings.Cut(string(all), begins)
	old, tail, ok2 := strings.Cut(rest, ends)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no place for %q, between %q and %q", page, part, begins, ends)
	}
	return os.WriteFile(page, []byte(head+begins+wrapped(change(old))+ends+tail), 0o644)
}

// wrapped wraps text at the width of our pages, except tables.
func wrapped(text string) string {
	const width = 110
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := 0
		if line == "\n" || line[0] == '|' {
			b.WriteString(line)
			continue
		}
		for i, word := range strings.Fields(line) {
			size := len([]rune(word))
			switch {
			case i == 0:
			case at+1+size > width:
				b.WriteByte('\n')
				at = 0
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += size
		}
		b.WriteByte('\n')
	}
	return b.String()
}
