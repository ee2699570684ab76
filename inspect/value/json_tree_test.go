package value

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace/decode"
)

// lineOf returns the number of the line that contains text, or -1.
func (d *document) lineOf(text string) int {
	for i, line := range d.lines {
		if strings.Contains(line, text) {
			return i
		}
	}
	return -1
}

// open opens the line that contains text.
func (d *document) open(t *testing.T, text string) {
	t.Helper()
	i := d.lineOf(text)
	if i < 0 {
		t.Fatalf("no line contains %q:\n%s", text, strings.Join(d.lines, "\n"))
	}
	d.show(i)
	d.toggle()
}

func bigJSON(users int) string {
	var b strings.Builder
	b.WriteString(`{"users":[`)
	for i := range users {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"user %d","tags":["a","b"]}`, i, i)
	}
	b.WriteString(`],"empty":[],"title":"Big"}`)
	return b.String()
}

// TestJSONTree opens groups and values of a document, folds them, and names the path of a value.
func TestJSONTree(t *testing.T) {
	text := bigJSON(2500)
	d := newJSONTree(text)
	d.layout(80, 20)
	if got, want := strings.Join(d.lines, "\n"), "{\n  \"users\": [ 2,500 elements ],\n  \"empty\": [],\n  \"title\": \"Big\"\n}"; got != want {
		t.Fatalf("the first level is\n%s\nwant\n%s", got, want)
	}
	d.open(t, `"users"`)
	d.open(t, "[2,000 … 2,499]")
	if n := len(d.lines); n != 5+4+501 {
		t.Errorf("%d lines", n)
	}
	i := d.lineOf("[2,000 …") + 18
	d.show(i)
	d.toggle()
	d.show(i + 2)
	l, ok := d.currentJSON()
	if !ok || l.path != `$["users"][2017]["name"]` || text[l.Start:l.End] != `"user 2017"` {
		t.Errorf("%q %v: %q", l.path, ok, text[l.Start:l.End])
	}
	d.show(i)
	d.toggle()
	if !d.folded[i] || len(d.rows) != len(d.lines)-(d.closing[i]-i) {
		t.Errorf("line %d is not folded", i)
	}

	// Another version keeps what is open and the selected line.
	d.show(d.lineOf(`"title"`))
	other := newJSONTree(strings.Replace(text, `"Big"`, `"Bigger"`, 1))
	other.resume(d)
	other.layout(80, 20)
	if got := other.lines[other.rows[other.cursor].line]; len(other.lines) != len(d.lines)-4 || !strings.Contains(got, `"title": "Bigger"`) {
		t.Errorf("%d of %d lines, at %q", len(other.lines), len(d.lines), got)
	}
}

// TestJSONTreeSearch opens the values around each match, in both directions.
func TestJSONTreeSearch(t *testing.T) {
	text := bigJSON(2500)
	d := newJSONTree(text)
	d.layout(80, 20)
	for i, name := range []string{"user 2009", "user 201", "user 2010", "user 2011"} {
		needle := []string{name, "user 201", "user 201", "user 201"}[i]
		if !d.find(needle, false) || !strings.Contains(d.lines[d.rows[d.cursor].line], name) {
			t.Fatalf("%q: the cursor is at %q", name, d.lines[d.rows[d.cursor].line])
		}
		if name == "user 201" { // the first one
			if l, _ := d.currentJSON(); l.path != `$["users"][2010]["name"]` && l.path != `$["users"][201]["name"]` {
				t.Errorf("it is %s", l.path)
			}
			d.home()
			d.find("user 2009", false)
		}
	}
	for _, name := range []string{"user 2010", "user 201"} {
		if !d.find("user 201", true) || !strings.Contains(d.lines[d.rows[d.cursor].line], name) {
			t.Fatalf("back to %q: the cursor is at %q", name, d.lines[d.rows[d.cursor].line])
		}
	}
	d.end()
	if d.find("nowhere", false) || d.find("nowhere", true) || !d.find("title", true) {
		t.Error("the search before the end is wrong")
	}
}

// TestJSONTreeText shows that all lines together are the document, however it is nested.
func TestJSONTreeText(t *testing.T) {
	for _, text := range []string{`[]`, `{}`, `1`, `"x"`, `[[[]],{"a":{}}]`, `{"a":[1,{"b":null}],"c":{"d":"[{"}}`, bigJSON(20)} {
		d := newJSONTree(text)
		d.layout(80, 20)
		for i := 0; i < len(d.lines); i++ {
			d.expand(i)
		}
		if len(d.lines) != len(d.tree.lines) {
			t.Fatalf("%d lines of %d", len(d.tree.lines), len(d.lines))
		}
		var got, want any
		if err := json.Unmarshal([]byte(strings.Join(d.lines, "\n")), &got); err != nil {
			t.Fatalf("%s: %v\n%s", text, err, strings.Join(d.lines, "\n"))
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is laid out as\n%s", text, strings.Join(d.lines, "\n"))
		}
	}
	for _, bad := range []string{"", "{", `[1`, "1 2"} {
		if newJSONTree(bad) != nil {
			t.Errorf("%q has a tree", bad)
		}
	}
}

// TestJSONTreeOfManyElements lays out groups of groups.
func TestJSONTreeOfManyElements(t *testing.T) {
	text := "[" + strings.Repeat("1,", 1_200_000) + "7]"
	d := newJSONTree(text)
	d.layout(80, 20)
	if len(d.lines) != 4 {
		t.Fatalf("%d lines: %q", len(d.lines), d.lines)
	}
	d.open(t, "[1,000,000 … 1,200,000]")
	d.open(t, "[1,200,000 … 1,200,000]")
	if i := slices.Index(d.lines, "      7"); i < 0 || d.tree.lines[i].path != "$[1200000]" {
		t.Errorf("the last element is at %d of %d", i, len(d.lines))
	}
}

// TestFindRoot compares the one pass over a whole text with finding the value and its members one after the other.
func TestFindRoot(t *testing.T) {
	many := "[" + strings.Repeat("1,", jsonGroup) + "2]"
	for _, text := range []string{
		`{"a":1,"b":[1,{"c":"]"}]}`, " [1, 2 ,\"}\"] \n", "[]", " {} ", `"text"`, "12", "null", many, `{"a":{"b":{}}}`,
		"", " ", `{"a":1}}`, `{"a":1}{"b":2}`, "[1][2]", `["a]`, `{"a":[1}`, `{"a":"b}`, `{"a"}`, "[1", "]", `{"a":1] `, `[1]}`,
	} {
		want, err := decode.FindJSON(text, 0)
		valid := err == nil && strings.TrimSpace(text[want.End:]) == "" && json.Valid([]byte(text))
		root, index, ok := findRoot(text)
		if valid && (!ok || root != want) {
			t.Errorf("%.30q: got %v %v, want %v", text, root, ok, want)
		}
		if err != nil && ok {
			t.Errorf("%.30q is accepted", text)
		}
		var each []decode.JSONValue
		if valid && want.Count > 0 && want.Count <= jsonGroup {
			if err := decode.EachJSON(text, want, want.Start, func(m decode.JSONValue) bool { each = append(each, m); return true }); err != nil {
				t.Fatal(err)
			}
		}
		if valid && !slices.Equal(index.members, each) {
			t.Errorf("%.30q: the members are %v, not %v", text, index.members, each)
		}
	}
}

// TestRootGroups compares the groups of a root by its index with the groups found by reading the members.
func TestRootGroups(t *testing.T) {
	for _, n := range []int{1001, 1999, 2000, 2001, 1_000_000, 1_000_001, 1_001_000, 2_000_500} {
		text := "[" + strings.Repeat("1,", n-1) + "7 ]"
		byIndex := newJSONTree(text)
		root, _, _ := findRoot(text)
		byReading := newTree(&jsonTree{text: text, size: len(text)}, jsonLine{JSONValue: root})
		if !slices.Equal(byIndex.lines, byReading.lines) || !slices.Equal(byIndex.tree.lines, byReading.tree.lines) {
			t.Errorf("%d elements:\n%+v\n%+v", n, byIndex.tree.lines, byReading.tree.lines)
		}
	}
}

// TestCutJSONTree lays out the beginning of a text, cut anywhere. Lines that are complete are as in the whole text.
func TestCutJSONTree(t *testing.T) {
	for _, text := range []string{
		` {"a":[1,{"b":null,"c":"x\"]"}],"d e":{"f":-12.5e3,"g":[]},"h":true} `, `[[[["deep"]]],2]`, `"a string"`, `{"a":"` + strings.Repeat("é", 1050) + `"}`, `12345`,
	} {
		whole := newJSONTree(text)
		for i := 0; i < len(whole.lines); i++ {
			whole.expand(i)
		}
		want := map[string]string{}
		for i, l := range whole.tree.lines {
			if !l.closer && !strings.HasSuffix(whole.lines[i], "{") && !strings.HasSuffix(whole.lines[i], "[") {
				want[l.path] = strings.TrimSuffix(whole.lines[i], ",")
			}
		}
		for n := 1; n < len(text); n++ {
			d := newCutTree(text[:n], len(text))
			if d == nil {
				if strings.TrimSpace(text[:n]) != "" {
					t.Errorf("%q has no tree", text[:n])
				}
				continue
			}
			for i := 0; i < len(d.lines); i++ {
				d.expand(i)
			}
			for i, l := range d.tree.lines {
				if w, ok := want[l.path]; ok && !l.cut && !l.closer && !l.rest && strings.TrimSuffix(d.lines[i], ",") != w {
					t.Errorf("%q: %s is %q, not %q", text[:n], l.path, d.lines[i], w)
				}
			}
			d.layout(80, 20)
			d.find("no match", false)
			d.end()
			d.find("no match", true)
			whole := newJSONTree(text)
			whole.resume(d)
			if line := whole.rows[whole.cursor].line; line != len(whole.lines)-1 {
				t.Errorf("%q: the end is line %d of %d", text[:n], line, len(whole.lines))
			}
		}
	}
}

// TestCutJSONTreeLines shows what is visible of a large document in its beginning, and keeps the selected line and
// open values once the whole text is read.
func TestCutJSONTreeLines(t *testing.T) {
	text := bigJSON(2500)
	many := "[" + strings.Repeat(`{"a":1},`, 100_000) + "0]"
	for _, c := range []struct {
		text string
		cut  int
		want string
	}{
		{text, 5000, "{\n  \"users\": [ … ]\n  …\n}"},
		{many, 20_000, "[\n  [0 … 999]\n  [1,000 … 1,999]\n  [2,000 … ]\n  …\n]"},
		{`{"a":1,"b":2,"c":[` + many + `]}`, 5000, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": [ … ]\n  …\n}"},
		{`{"text":"` + strings.Repeat("x", 9000) + `"}`, 5000, "{\n  \"text\": \"" + strings.Repeat("x", 1999) + "…\n  …\n}"},
	} {
		d := newCutTree(c.text[:c.cut], len(c.text))
		if got := strings.Join(d.lines, "\n"); strings.ReplaceAll(got, ",\n  …", "\n  …") != c.want {
			t.Errorf("the lines are\n%s\nwant\n%s", got, c.want)
		}
	}
	d := newCutTree(text[:5000], len(text))
	d.layout(80, 20)
	d.open(t, `"users"`)
	d.open(t, "[0 … ")
	d.show(d.lineOf(`[0 … `) + 5)
	l, _ := d.currentJSON()
	whole := newJSONTree(text)
	whole.resume(d)
	whole.layout(80, 20)
	if now, ok := whole.currentJSON(); !ok || now.path != l.path || now.path != `$["users"][4]` {
		t.Errorf("the selected value is %q, and was %q", now.path, l.path)
	}
}
