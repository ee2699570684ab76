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
		root, members, ok := findRoot(text)
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
		if valid && !slices.Equal(members, each) {
			t.Errorf("%.30q: the members are %v, not %v", text, members, each)
		}
	}
}
