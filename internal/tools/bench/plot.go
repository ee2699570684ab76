package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/keyspace/display"
)

// curve holds the times of a command, one per size.
type curve struct {
	name string
	took []time.Duration
}

// plot draws curves to an SVG file: sizes to the right and times upwards, both on log scales.
// Each curve's name is at its end, and names do not overlap.
func plot(file, of string, sizes []int, curves []curve) error {
	const (
		width, height = 900.0, 420.0
		left, right   = 60.0, 330.0
		top, bottom   = 40.0, 40.0
		line          = 15.0
	)
	colours := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666"}
	micros := func(d time.Duration) float64 { return math.Log10(max(float64(d)/float64(time.Microsecond), 1)) }
	highest := 1.0
	for _, c := range curves {
		for _, d := range c.took {
			highest = max(highest, math.Ceil(micros(d)))
		}
	}
	first, last := math.Log10(float64(sizes[0])), math.Log10(float64(sizes[len(sizes)-1]))
	x := func(size int) float64 {
		return left + (width-left-right)*(math.Log10(float64(size))-first)/(last-first)
	}
	y := func(log float64) float64 { return height - bottom - (height-top-bottom)*log/highest }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%.0f" y="20">time of a command, by %s</text>`+"\n", left, html.EscapeString(of))
	for power := range int(highest) + 1 {
		at := y(float64(power))
		fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#dddddd"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, at, width-right, left-6, at+4, time.Duration(math.Pow10(power))*time.Microsecond)
	}
	for _, size := range sizes {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x(size), height-bottom+18, display.Grouped(int64(size)))
	}
	slices.SortFunc(curves, func(a, b curve) int { return int(b.took[len(b.took)-1] - a.took[len(a.took)-1]) })
	ends := make([]float64, len(curves))
	for i, c := range curves {
		ends[i] = y(micros(c.took[len(c.took)-1]))
	}
	labels := spaceOut(ends, line, height-line)
	for i, c := range curves {
		var path []string
		for j, d := range c.took {
			path = append(path, fmt.Sprintf("%.1f %.1f", x(sizes[j]), y(micros(d))))
		}
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<path d="M%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(path, "L"), colour)
		fmt.Fprintf(&b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-width="0.5"/>`, width-right, ends[i], width-right+18, labels[i], colour)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", width-right+22, labels[i]+4, colour, html.EscapeString(c.name))
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// spaceOut moves sorted positions at least a line apart, with none below lowest.
func spaceOut(places []float64, line, lowest float64) []float64 {
	moved := slices.Clone(places)
	for i := 1; i < len(moved); i++ {
		moved[i] = max(moved[i], moved[i-1]+line)
	}
	for i := len(moved) - 1; i >= 0; i-- {
		moved[i] = min(moved[i], lowest)
		lowest = moved[i] - line
	}
	return moved
}
