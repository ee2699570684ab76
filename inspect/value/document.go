package value

import (
	"strings"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/hyperloglog"
)

// document holds a value as package decode lays it out: indented lines that fold at braces.
type document struct {
	chain       string // the names of the decoded layers
	note        string // a remark about the decoding
	fromDecoder bool   // made by the user's decoder
	lines       []string
	closing     map[int]int  // maps a line that opens a brace to the line that closes it
	folded      map[int]bool // the folded lines
	rows        []docRow     // the visible lines, wrapped to the width
	top         int          // the first row on the screen
	cursor      int          // the selected row
	width       int
	height      int
	toEnd       bool      // the cursor moves to the last line once the whole text is read
	node        *nodeLine // of the selected line of a JSON document; nil if not looked up
	tree        *jsonTree // lays out the lines when they are opened; nil if lines has all of them
}

// docRow holds the part of a line that fills one row.
type docRow struct {
	line       int
	start, end int
}

// decodeLimit caps the length of a decoded value, in bytes.
const decodeLimit = 4 << 20

// newDocument decodes data, a whole value. It returns nil if text or a hex dump shows the same, and a
// document without lines if there is only a note to show.
func newDocument(data string) *document {
	if len(data) == 0 || len(data) > decodeLimit {
		return nil
	}
	if n, ok := hyperloglog.Cardinality([]byte(data)); ok {
		return &document{chain: "HyperLogLog", folded: map[int]bool{}, lines: []string{
			"about " + display.Counted(n, "different element", "different elements"), "estimated, with a standard error of 0.81%",
		}}
	}
	shown := decode.Value([]byte(data), decode.Options{})
	last := shown.Layers[len(shown.Layers)-1].Name
	if shown.IsPlain() || len(shown.Layers) == 1 && last == "binary" && shown.Note == "" {
		return nil
	}
	d := &document{note: shown.Note, lines: strings.Split(shown.Text, "\n"), folded: map[int]bool{}}
	switch {
	case len(shown.Layers) == 1 && last == "binary":
		return &document{note: shown.Note}
	case len(shown.Layers) > 1:
		d.chain = shown.Chain()
	case last != "text" && last != "binary":
		d.chain = last
	}
	d.closing = closings(d.lines)
	return d
}

// resume takes over the position and the folds of old, which may be nil.
func (d *document) resume(old *document) {
	if old == nil {
		return
	}
	if d.tree != nil && old.tree != nil {
		d.resumeTree(old)
		return
	}
	d.cursor, d.top, d.rows = old.cursor, old.top, old.rows
	if len(d.lines) == len(old.lines) {
		d.folded = old.folded
	}
}

// closings maps each line that ends with an open brace to the next line that is not deeper.
func closings(lines []string) map[int]int {
	ends := map[int]int{}
	var open []int
	for i, line := range lines {
		for len(open) > 0 && indentOf(line) <= indentOf(lines[open[len(open)-1]]) {
			ends[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		if strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[") || strings.HasSuffix(line, "(") {
			open = append(open, i)
		}
	}
	return ends
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// layout wraps the visible lines into rows.
func (d *document) layout(width, height int) {
	at := 0
	if d.cursor < len(d.rows) {
		at = d.rows[d.cursor].line
	}
	d.width, d.height, d.rows = width, height, d.rows[:0]
	for i := 0; i < len(d.lines); i++ {
		if d.folded[i] {
			d.rows = append(d.rows, docRow{i, 0, len(d.lines[i])})
			i = d.closing[i]
			continue
		}
		parts := screen.WrapText([]byte(d.lines[i]), width-2)
		if len(parts) == 0 {
			parts = []screen.Span{{}}
		}
		for _, p := range parts {
			d.rows = append(d.rows, docRow{i, p.Start, p.End})
		}
	}
	d.show(at)
}

// show selects the row of a line, or of the fold that hides it.
func (d *document) show(line int) {
	d.cursor = 0
	for i, r := range d.rows {
		if r.line > line {
			break
		}
		if r.start == 0 {
			d.cursor = i
		}
	}
	d.clamp()
}

func (d *document) clamp() {
	d.cursor = max(min(d.cursor, len(d.rows)-1), 0)
	d.top = max(min(d.top, d.cursor), d.cursor-d.height+1, 0)
}

func (d *document) move(n int) {
	d.toEnd = false
	d.cursor += n
	d.clamp()
}

func (d *document) home() { d.move(-d.cursor) }

func (d *document) end() {
	d.move(len(d.rows))
	d.toEnd = d.isCut()
}

// isCut reports whether only the beginning of a JSON text is laid out.
func (d *document) isCut() bool { return d != nil && d.tree != nil && d.tree.isCut() }

// toggle folds the block that the selected line opens, or the block around it.
func (d *document) toggle() {
	if len(d.rows) == 0 {
		return
	}
	line := d.rows[d.cursor].line
	if d.tree != nil && d.tree.isClosed(line) {
		d.expand(line)
		d.layout(d.width, d.height)
		d.show(line)
		return
	}
	for line >= 0 {
		if end, ok := d.closing[line]; ok && (line == d.rows[d.cursor].line || end >= d.rows[d.cursor].line) {
			d.folded[line] = !d.folded[line]
			break
		}
		line--
	}
	d.layout(d.width, d.height)
	d.show(max(line, 0))
}

// toggleAll folds everything below the outermost braces, or unfolds everything.
func (d *document) toggleAll() {
	unfold := false
	for _, shut := range d.folded {
		unfold = unfold || shut
	}
	for line := range d.closing {
		d.folded[line] = !unfold && indentOf(d.lines[line]) > 0
	}
	d.layout(d.width, d.height)
}

// find selects the next or previous matching line and unfolds it. It returns false if no line matches.
func (d *document) find(needle string, back bool) bool {
	switch {
	case len(d.rows) == 0:
		return false
	case d.tree != nil:
		return d.findJSON(needle, back)
	}
	step := 1
	if back {
		step = -1
	}
	for i := d.rows[d.cursor].line + step; i >= 0 && i < len(d.lines); i += step {
		if at, _ := find(d.lines[i], needle); at < 0 {
			continue
		}
		for start, end := range d.closing {
			if start < i && i <= end {
				d.folded[start] = false
			}
		}
		d.layout(d.width, d.height)
		d.show(i)
		return true
	}
	return false
}
