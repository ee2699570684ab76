package value

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
)

// jsonTree lays out a JSON text of any size as a document. A container is laid out when the user opens it, and
// its members in groups if it has many, so the work depends on the lines on the screen. The text may be the beginning
// of a larger one, which is shown until the whole text is read.
type jsonTree struct {
	text  string
	size  int        // of the whole text
	lines []jsonLine // of each line of the document
	root  rootIndex  // of the first line, while it is laid out
}

// jsonLine holds the value, or the group of elements, that a line begins or ends.
type jsonLine struct {
	decode.JSONValue
	path   string // such as $["users"][3]
	opened bool
	first  int // of a group: the number of its first member
	from   int // and the offset in the text to find it at
	until  int // and the end of the last one
	group  int // and how many members it has; 0 for a value
	closer bool
	cut    bool // the text ends before the value does: End and Count are unknown
	rest   bool // stands for the members after the end of the text
	indent int
}

const (
	jsonGroup     = 1000 // members of a container, or groups, laid out at once
	maxScalarText = 2000 // bytes of a scalar on the screen
)

// newJSONTree lays out the first level of a JSON text; nil if it is not valid JSON.
func newJSONTree(text string) *document {
	root, index, ok := findRoot(text)
	if !ok {
		return nil
	}
	return newTree(&jsonTree{text: text, size: len(text), root: index}, jsonLine{JSONValue: root})
}

// newCutTree lays out the first level of a JSON text of size bytes, as far as it is visible in its beginning.
func newCutTree(text string, size int) *document {
	root, ok := decode.CutJSON(text, 0, false)
	if !ok {
		return nil
	}
	root.End = size
	return newTree(&jsonTree{text: text, size: size}, jsonLine{JSONValue: root, cut: true})
}

func newTree(t *jsonTree, root jsonLine) *document {
	root.path = "$"
	t.lines = []jsonLine{root}
	d := &document{chain: "JSON", folded: map[int]bool{}, closing: map[int]int{}, tree: t}
	d.lines = []string{t.line(root, true)}
	d.expand(0)
	t.root = rootIndex{}
	return d
}

// isCut reports whether the text is only the beginning of the document.
func (t *jsonTree) isCut() bool { return len(t.text) < t.size }

// rootIndex holds the places of members of the root: all of them, or if they are many, the ends of every
// jsonGroup of them.
type rootIndex struct {
	members []decode.JSONValue
	ends    []int
}

// findRoot finds the value that is the whole text. In the same pass it finds its members.
func findRoot(text string) (root decode.JSONValue, index rootIndex, ok bool) {
	start, end := len(text)-len(strings.TrimLeft(text, jsonSpace)), len(strings.TrimRight(text, jsonSpace))
	if start >= end || text[start] != '{' && text[start] != '[' || text[end-1] != text[start]+2 { // ] and } are two after [ and {
		root, err := decode.FindJSON(text, 0)
		return root, index, err == nil && root.End == end
	}
	root = decode.JSONValue{Start: start, Begin: start, End: end}
	last := start
	err := decode.EachJSON(text, root, start, func(m decode.JSONValue) bool {
		if root.Count++; root.Count <= jsonGroup {
			index.members = append(index.members, m)
		}
		if last = m.End; root.Count%jsonGroup == 0 {
			index.ends = append(index.ends, last)
		}
		return true
	})
	if root.Count > jsonGroup {
		index.members = nil
	}
	if root.Count%jsonGroup > 0 {
		index.ends = append(index.ends, last)
	}
	return root, index, err == nil && last < end
}

const jsonSpace = " \t\r\n"

// line returns the text of a value on one line.
func (t *jsonTree) line(l jsonLine, last bool) string {
	indent := strings.Repeat(" ", l.indent)
	if l.rest {
		return indent + "…"
	}
	if l.group > 0 && l.cut {
		return indent + "[" + display.Grouped(int64(l.first)) + " … ]"
	}
	if l.group > 0 {
		return indent + "[" + display.Grouped(int64(l.first)) + " … " + display.Grouped(int64(l.first+l.group-1)) + "]"
	}
	name := ""
	if l.Name != "" {
		name = shortJSON(l.Name) + ": "
	}
	value := t.text[l.Start:min(l.End, len(t.text))]
	switch {
	case l.cut && value[0] == '{':
		value = "{ … }"
	case l.cut && value[0] == '[':
		value = "[ … ]"
	case l.cut:
		value = strings.ToValidUTF8(value[:min(len(value), maxScalarText)], "") + "…"
	case l.Count > 0 && value[0] == '{':
		value = "{ " + display.Counted(int64(l.Count), "member", "members") + " }"
	case l.Count > 0:
		value = "[ " + display.Counted(int64(l.Count), "element", "elements") + " ]"
	default:
		value = shortJSON(value)
	}
	if !last {
		value += ","
	}
	return indent + name + value
}

// shortJSON returns a scalar, or its beginning and its size.
func shortJSON(text string) string {
	if len(text) <= maxScalarText {
		return text
	}
	return strings.ToValidUTF8(text[:maxScalarText], "") + "… " + display.Bytes(int64(len(text)))
}

// isClosed reports whether line i is a container, or a group, that is not laid out yet.
func (t *jsonTree) isClosed(i int) bool {
	l := t.lines[i]
	cut := l.cut && (t.text[l.Start] == '{' || t.text[l.Start] == '[')
	return !l.opened && !l.closer && (l.Count > 0 || l.group > 0 || cut)
}

// expand lays out the members below a closed line.
func (d *document) expand(i int) {
	t := d.tree
	if !t.isClosed(i) {
		return
	}
	l := &t.lines[i]
	l.opened = true
	inner := t.members(*l)
	var texts []string
	for j, m := range inner {
		texts = append(texts, t.line(m, j == len(inner)-1))
	}
	open, shut := "[", "]"
	if l.group == 0 && t.text[l.Start] == '{' {
		open, shut = "{", "}"
	}
	switch comma := strings.HasSuffix(d.lines[i], ","); {
	case l.group > 0:
		d.lines[i] += " ("
		shut = ")"
	default:
		if comma {
			shut += ","
		}
		d.lines[i] = strings.Repeat(" ", l.indent)
		if l.Name != "" {
			d.lines[i] += shortJSON(l.Name) + ": "
		}
		d.lines[i] += open
	}
	closer := *l
	closer.closer = true
	texts = append(texts, strings.Repeat(" ", l.indent)+shut)
	d.lines = slices.Insert(d.lines, i+1, texts...)
	t.lines = slices.Insert(t.lines, i+1, append(inner, closer)...)
	folded := map[int]bool{}
	for at, is := range d.folded {
		if at > i {
			at += len(texts)
		}
		folded[at] = is
	}
	d.folded, d.closing = folded, closings(d.lines)
}

// members returns the lines below a container or a group: its members, or groups of them if they are many.
func (t *jsonTree) members(l jsonLine) (lines []jsonLine) {
	container, count, first, from := l.JSONValue, l.Count, 0, l.Start
	switch {
	case l.group > 0:
		count, first, from = l.group, l.first, l.from
	case l.cut:
		container.End = t.size
		count = t.estimate(container)
	}
	size := 1
	for count > size*jsonGroup {
		size *= jsonGroup
	}
	group := func(n, from int) jsonLine {
		return jsonLine{JSONValue: container, path: l.path, first: first + n, from: from, until: container.End, group: min(size, count-n), indent: l.indent + 2}
	}
	if l.path == "$" && l.group == 0 && len(t.root.ends) > 0 && size > 1 {
		return t.rootGroups(size, count, from, group)
	}
	n, end := 0, from
	each := func(m decode.JSONValue) bool {
		switch {
		case size == 1:
			lines = append(lines, t.memberLine(l, m, first+n))
		case n%size == 0:
			if len(lines) > 0 {
				lines[len(lines)-1].until = end
			}
			lines = append(lines, group(n, end))
		}
		end = m.End
		n++
		return n < count
	}
	if l.path == "$" && l.group == 0 && len(t.root.members) > 0 {
		for _, m := range t.root.members {
			each(m)
		}
		return lines
	}
	err := decode.EachJSON(t.text, container, from, each)
	switch {
	case err == nil:
		return lines
	case !t.isCut():
		return nil // the text is not valid JSON here
	}
	if end == container.Start {
		end++ // after the bracket
	}
	if m, ok := decode.CutJSON(t.text, end, t.text[container.Start] == '{'); ok {
		each(m)
	}
	if size > 1 && len(lines) > 0 {
		lines[len(lines)-1].cut = true
	}
	return append(lines, jsonLine{path: l.path, rest: true, indent: l.indent + 2})
}

// memberLine returns the line of member n of a container.
func (t *jsonTree) memberLine(l jsonLine, m decode.JSONValue, n int) jsonLine {
	return jsonLine{JSONValue: m, path: memberPath(l.path, m, n), indent: l.indent + 2, cut: t.isCut() && m.End == len(t.text)}
}

// rootGroups returns the groups of members of the root by its index, which has the ends of smaller groups.
func (t *jsonTree) rootGroups(size, count, start int, group func(n, from int) jsonLine) (lines []jsonLine) {
	for n := 0; n < count; n += size {
		from := start
		if n > 0 {
			from = t.root.ends[n/jsonGroup-1]
		}
		l := group(n, from)
		if next := (n + size) / jsonGroup; next <= len(t.root.ends) && n+size < count {
			l.until = t.root.ends[next-1]
		}
		lines = append(lines, l)
	}
	return lines
}

// estimate returns how many members a container has whose end is missing, as far as its first ones tell. They are few
// if most of the text belongs to the last one.
func (t *jsonTree) estimate(container decode.JSONValue) int {
	n, end := 0, container.Start
	decode.EachJSON(t.text, container, container.Start, func(m decode.JSONValue) bool {
		n, end = n+1, m.End
		return true
	})
	if seen := len(t.text) - container.Start; end-container.Start > seen/2 {
		return max(n+1, int(float64(n)/float64(seen)*float64(t.size-container.Start)))
	}
	return n + 1
}

// currentJSON returns the selected line, and false for a line that is not a value of its own.
func (d *document) currentJSON() (jsonLine, bool) {
	if d.tree == nil || d.cursor >= len(d.rows) {
		return jsonLine{}, false
	}
	l := d.tree.lines[d.rows[d.cursor].line]
	return l, l.group == 0 && !l.closer && !l.rest
}

// resumeTree opens the values that are open in old, and returns to its line.
func (d *document) resumeTree(old *document) {
	type place struct {
		path         string
		first, group int
		closer, rest bool
	}
	placeOf := func(l jsonLine) place { return place{l.path, l.first, l.group, l.closer, l.rest} }
	opened := map[place]bool{}
	for i, l := range old.tree.lines {
		if l.opened && !old.folded[i] {
			opened[placeOf(l)] = true
		}
	}
	at := 0
	if d.cursor < len(old.rows) {
		at = old.rows[old.cursor].line
	}
	for i := 0; i < len(d.tree.lines); i++ {
		if opened[placeOf(d.tree.lines[i])] {
			d.expand(i)
		}
	}
	want := placeOf(old.tree.lines[at])
	line := slices.IndexFunc(d.tree.lines, func(l jsonLine) bool { return placeOf(l) == want })
	switch last := len(d.tree.lines) - 1; {
	case old.toEnd:
		line = last
	case line < 0 && want.rest:
		line = min(at, last)
	}
	d.rows, d.cursor = []docRow{{line: max(line, 0)}}, 0
}

// findJSON opens the values around the next or previous match in the text, and selects the line of the match.
func (d *document) findJSON(needle string, back bool) bool {
	t := d.tree
	l := t.lines[d.rows[d.cursor].line]
	begin, end := l.span()
	end = min(end, len(t.text))
	at := -1
	switch {
	case back && l.closer:
		at, _ = findLast(t.text[:end-1], needle)
	case back:
		at, _ = findLast(t.text[:begin], needle)
	default:
		from := l.Start
		if l.group > 0 {
			from = begin
		}
		if l.closer || l.Count == 0 && l.group == 0 {
			from = end
		}
		if at, _ = find(t.text[from:], needle); at >= 0 {
			at += from
		}
	}
	if at < 0 {
		return false
	}
	line := 0
	for i := 0; i < len(t.lines); i++ {
		if begin, end := t.lines[i].span(); t.lines[i].closer || at < begin || at >= end {
			continue
		}
		line = i
		delete(d.folded, i)
		d.expand(i)
	}
	d.layout(d.width, d.height)
	d.show(line)
	return true
}

// span returns the part of the text that a line stands for.
func (l jsonLine) span() (begin, end int) {
	if l.group > 0 {
		return l.from, l.until
	}
	return l.Begin, l.End
}
