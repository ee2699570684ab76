package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// family holds a metric and its samples in Prometheus's format:
// https://prometheus.io/docs/instrumenting/exposition_formats/
type family struct {
	name, help, kind string
	samples          []sample
}

// sample holds one line. labels alternates names and values; suffix follows the family's name, such as "_bucket".
type sample struct {
	suffix string
	labels []string
	value  float64
}

// The kinds of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// add appends a sample with these labels.
func (f *family) add(value float64, labels ...string) {
	f.samples = append(f.samples, sample{labels: labels, value: value})
}

// distribution appends the samples of a histogram: the cumulative count up to each bound, the total count and the sum.
func (f *family) distribution(bounds []float64, within []uint64, count uint64, sum float64, labels ...string) {
	for i, bound := range bounds {
		f.samples = append(f.samples, sample{"_bucket", append(slices.Clone(labels), "le", numeral(bound)), float64(within[i])})
	}
	f.samples = append(f.samples,
		sample{"_bucket", append(slices.Clone(labels), "le", "+Inf"), float64(count)},
		sample{"_sum", labels, sum}, sample{"_count", labels, float64(count)})
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// appendTo appends the family's lines, or nothing if it has no samples.
func (f *family) appendTo(page []byte) []byte {
	if len(f.samples) == 0 {
		return page
	}
	page = fmt.Appendf(page, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
	for _, s := range f.samples {
		page = append(append(page, f.name...), s.suffix...)
		for i := 0; i < len(s.labels); i += 2 {
			page = append(page, "{,"[min(i, 1)])
			page = fmt.Appendf(page, `%s="%s"`, s.labels[i], labelEscapes.Replace(s.labels[i+1]))
		}
		if len(s.labels) > 0 {
			page = append(page, '}')
		}
		page = append(append(append(page, ' '), numeral(s.value)...), '\n')
	}
	return page
}

func numeral(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
