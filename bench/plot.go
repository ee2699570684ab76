package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// curve is what a command took, for each of the sizes of a plot.
type curve struct {
	name string
	took []time.Duration
}

// plot draws curves as an SVG file: sizes to the right and µs upwards, both in powers of ten.
// The name of each stands at its end, apart from those of the others.
func plot(file, of string, sizes []int, curves []curve) error {
	const (
		width, height = 900.0, 420.0
		left, right   = 60.0, 330.0
		top, bottom   = 40.0, 40.0
		line          = 14.0
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
	fmt.Fprintf(&b, `<text x="%.0f" y="20">µs of a command, by %s</text>`+"\n", left, html.EscapeString(of))
	for power := range int(highest) + 1 {
		at := y(float64(power))
		fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#dddddd"/><text x="%.1f" y="%.1f" text-anchor="end">%.0f</text>`+"\n",
			left, at, width-right, left-6, at+4, math.Pow10(power))
	}
	for _, size := range sizes {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", x(size), height-bottom+18, size)
	}
	slices.SortFunc(curves, func(a, b curve) int { return int(b.took[len(b.took)-1] - a.took[len(a.took)-1]) })
	free := top
	for i, c := range curves {
		var path []string
		for j, d := range c.took {
			path = append(path, fmt.Sprintf("%.1f %.1f", x(sizes[j]), y(micros(d))))
		}
		end := y(micros(c.took[len(c.took)-1]))
		label := max(end, free)
		free = label + line
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<path d="M%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(path, "L"), colour)
		fmt.Fprintf(&b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-width="0.5"/>`, width-right, end, width-right+18, label, colour)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", width-right+22, label+4, colour, html.EscapeString(c.name))
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
