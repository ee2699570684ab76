package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// goals compares the goals of meowdis with the results of this run.
type goals []goal

type goal struct {
	part, what, want, got string
	met                   bool
	beside                string // a note for the reader, such as the client's limit
}

// atLeast adds a lower limit for a figure, such as the ratio to a rival.
func (g *goals) atLeast(what string, got, want float64) { g.atLeastBeside(what, got, want, "") }

func (g *goals) atLeastBeside(what string, got, want float64, beside string) {
	*g = append(*g, goal{what: what, want: fmt.Sprintf("at least %.2f×", want), got: fmt.Sprintf("%.2f×", got), met: got >= want, beside: beside})
}

func (g *goals) atMost(what string, got, want float64) {
	*g = append(*g, goal{what: what, want: fmt.Sprintf("at most %.2f×", want), got: fmt.Sprintf("%.2f×", got), met: got <= want})
}

func (g *goals) within(what string, got, want time.Duration) { g.withinBeside(what, got, want, "") }

func (g *goals) withinBeside(what string, got, want time.Duration, beside string) {
	*g = append(*g, goal{what: what, want: "at most " + want.String(), got: round(got).String(), met: got <= want, beside: beside})
}

func (g *goals) below(what string, kb, want int64) {
	*g = append(*g, goal{what: what, want: fmt.Sprintf("at most %d MB", want), got: fmt.Sprintf("%d MB", kb>>10), met: kb>>10 <= want})
}

// unknown adds a goal whose figure could not be measured on this machine.
func (g *goals) unknown(what string, why error) {
	*g = append(*g, goal{what: what, got: "–", beside: why.Error()})
}

const goalsHead = "| part | | goal | the last run | | beside |\n|---|---|---:|---:|---|---|\n"

// lines returns the goals as lines of a table.
func (g goals) lines() (lines []string) {
	for _, one := range g {
		sign := "**missed**"
		if one.met {
			sign = "met"
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", one.part, one.what, one.want, one.got, sign, one.beside))
	}
	return lines
}

// print prints the goals, and how many are met.
func (g goals) print(w io.Writer) { io.WriteString(w, goalsTable(g.lines())) }

func goalsTable(lines []string) string {
	met := 0
	for _, line := range lines {
		if strings.Contains(line, "| met |") {
			met++
		}
	}
	return fmt.Sprintf("%d of %d goals are met.\n\n%s%s", met, len(lines), goalsHead, strings.Join(lines, ""))
}

// over returns the table old, with the goals of these parts replaced, in the order of parts.
func (g goals) over(old string, parts []part) string {
	ran := map[string]bool{}
	for _, one := range g {
		ran[one.part] = true
	}
	var lines []string
	fresh := g.lines()
	for _, p := range parts {
		from := fresh
		if !ran[p.name] {
			from = strings.SplitAfter(old, "\n")
		}
		for _, line := range from {
			if strings.HasPrefix(line, "| "+p.name+" |") {
				lines = append(lines, line)
			}
		}
	}
	return goalsTable(lines)
}
