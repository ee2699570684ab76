package value

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// samplesOf shows the samples of a time series below a chart of all of them.
var samplesOf = &source{
	sourceShape: sourceShape{full: true},
	unit:        [2]string{"sample", "samples"},
	columns:     []column{{title: "TIMESTAMP", right: true}, {title: "VALUE", right: true}, {title: "TIME"}},
	fetch: func(key string, _ int64, from chunkRequest) [][]byte {
		return client.Command("TS.RANGE", key, from.cursor, "+", "COUNT", strconv.Itoa(from.n))
	},
	decode: func(_ int64, v resp.Value) *chunk {
		c := &chunk{}
		for _, p := range points(v) {
			c.rows, c.bodies = append(c.rows, record{client.Decimal(p.at), p.text, sampleTime(p.at)}), append(c.bodies, p.text)
			c.next = client.Decimal(p.at + 1)
		}
		return c
	},
	summary: seriesSummary,
}

// point holds a sample, or the average of a bucket.
type point struct {
	at    int64
	value float64
	text  string
}

func points(v resp.Value) (all []point) {
	for _, e := range v.Elems {
		if len(e.Elems) < 2 {
			continue
		}
		text := client.Text(e.Elems[1])
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			all = append(all, point{client.Number(e.Elems[0]), value, text})
		}
	}
	return all
}

// sampleTime returns a timestamp in Unix ms as text.
func sampleTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000") }

// chart holds the averages of a time series in buckets of equal length.
type chart struct {
	first, last int64 // timestamps of the samples
	points      []point
	min, max    float64
}

// chartBuckets limits the points of a chart.
const chartBuckets = 200

// seriesSummary returns the number of samples and a chart; -1 if the target does not tell them.
func seriesSummary(ctx context.Context, c *client.Conn, db int, key string) (size int64, ch *chart, err error) {
	values, err := c.Do(ctx, db, client.Command("TS.INFO", key))
	if err != nil {
		return -1, nil, err
	}
	facts := map[string]int64{}
	for pairs := values[0].Elems; len(pairs) > 1 && !values[0].IsError(); pairs = pairs[2:] {
		facts[client.Text(pairs[0])] = client.Number(pairs[1])
	}
	size, known := facts["totalSamples"]
	switch {
	case !known:
		return -1, nil, nil
	case size < 2:
		return size, nil, nil
	}
	ch = &chart{first: facts["firstTimestamp"], last: facts["lastTimestamp"], min: math.Inf(1), max: math.Inf(-1)}
	bucket := max((ch.last-ch.first)/chartBuckets+1, 1)
	values, err = c.Do(ctx, db, client.Command("TS.RANGE", key, client.Decimal(ch.first), client.Decimal(ch.last), "ALIGN", "-", "AGGREGATION", "avg", client.Decimal(bucket)))
	if err != nil || values[0].IsError() {
		if err == nil && !keyspace.Refused(values[0]) {
			err = client.ReplyError(values[0])
		}
		return size, nil, err
	}
	for _, p := range points(values[0]) {
		if math.IsInf(p.value, 0) || math.IsNaN(p.value) {
			continue
		}
		ch.points = append(ch.points, p)
		ch.min, ch.max = min(ch.min, p.value), max(ch.max, p.value)
	}
	if len(ch.points) < 2 {
		return size, nil, nil
	}
	return size, ch, nil
}

// lines returns how many lines a chart takes in a pane of the height.
func (c *chart) lines(height int) int {
	switch {
	case c == nil || height < 6:
		return 0
	case height < 16:
		return 1
	}
	return chartRows + 2
}

const chartRows = 5

// draw draws the chart in the width: its greatest and least value on the left, its times below.
func (c *chart) draw(v *Pane, width, lines int) []string {
	top, bottom := shortFloat(c.max), shortFloat(c.min)
	margin := max(ansi.StringWidth(top), ansi.StringWidth(bottom)) + 1
	if lines == 1 {
		margin = 0
	}
	levels := c.columns(max(width-margin-2, 8))
	rows := max(lines-2, 1)
	var drawn []string
	for row := range rows {
		label := ""
		switch {
		case rows > 1 && row == 0:
			label = top
		case row == rows-1 && rows > 1:
			label = bottom
		}
		var b strings.Builder
		for _, level := range levels {
			b.WriteRune(block(level, rows-1-row, rows))
		}
		drawn = append(drawn, v.Styles.Dim.Render(display.FitRight(label, max(margin-1, 0)))+display.Spaces(min(margin, 1))+v.Styles.Accent.Render(strings.TrimRight(b.String(), " ")))
	}
	if lines == 1 {
		return drawn
	}
	from, to := sampleTime(c.first), sampleTime(c.last)
	gap := max(len(levels)-len(from)-len(to), 1)
	return append(drawn, v.Styles.Dim.Render(display.Truncate(display.Spaces(margin)+from+display.Spaces(gap)+to, width)), "")
}

// columns returns the level of each column, from 0 to 1; -1 where no sample is.
func (c *chart) columns(width int) []float64 {
	sums, counts := make([]float64, width), make([]int, width)
	for _, p := range c.points {
		i := int(float64(p.at-c.first) / float64(c.last-c.first+1) * float64(width))
		i = max(min(i, width-1), 0)
		sums[i], counts[i] = sums[i]+p.value, counts[i]+1
	}
	levels := make([]float64, width)
	filled := -1
	for i := range levels {
		switch {
		case counts[i] > 0:
			levels[i] = 0.5
			if c.max > c.min {
				levels[i] = (sums[i]/float64(counts[i]) - c.min) / (c.max - c.min)
			}
			filled = i
		case filled >= 0 && len(c.points) < width && i-filled <= 2*width/len(c.points):
			levels[i] = levels[i-1] // fewer points than columns
		default:
			levels[i] = -1
		}
	}
	return levels
}

// block returns the part of a column in row, from 0 at the bottom.
func block(level float64, row, rows int) rune {
	if level < 0 {
		return ' '
	}
	eighths := max(int(math.Round(level*float64(8*rows))), 1) - 8*row
	return []rune(" ▁▂▃▄▅▆▇█")[max(min(eighths, 8), 0)]
}

func shortFloat(f float64) string { return strconv.FormatFloat(f, 'g', 5, 64) }
