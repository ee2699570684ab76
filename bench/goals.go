package main

import (
	"fmt"
	"time"
)

// goals are what meowdis wants to reach, beside what it reached in this run.
type goals []goal

type goal struct {
	what, want, got string
	met             bool
}

// atLeast is a goal of a figure, such as the ratio to a rival.
func (g *goals) atLeast(what string, got, want float64) {
	*g = append(*g, goal{what, fmt.Sprintf("at least %.2f×", want), fmt.Sprintf("%.2f×", got), got >= want})
}

func (g *goals) atMost(what string, got, want float64) {
	*g = append(*g, goal{what, fmt.Sprintf("at most %.2f×", want), fmt.Sprintf("%.2f×", got), got <= want})
}

func (g *goals) within(what string, got, want time.Duration) {
	*g = append(*g, goal{what, "at most " + want.String(), round(got).String(), got <= want})
}

func (g *goals) below(what string, kb, want int64) {
	*g = append(*g, goal{what, fmt.Sprintf("at most %d MB", want), fmt.Sprintf("%d MB", kb>>10), kb>>10 <= want})
}

// print lists the goals, and how many are met.
func (g goals) print() {
	if len(g) == 0 {
		return
	}
	met := 0
	fmt.Print("Goals:\n\n| | goal | this run | |\n|---|---:|---:|---|\n")
	for _, one := range g {
		sign := "missed"
		if one.met {
			sign = "met"
			met++
		}
		fmt.Printf("| %s | %s | %s | %s |\n", one.what, one.want, one.got, sign)
	}
	fmt.Printf("\n%d of %d goals are met.\n", met, len(g))
}
