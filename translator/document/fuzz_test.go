package document

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzParse parses documents. Printing and parsing a document must not change it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e+3,true,null,18446744073709551615],"b":{"c":"x\n\ud83d\ude00"},"a":1}`, `1e999`, `-0`, "\"\\ud800\"", `[1,]`, "\xff", strings.Repeat("[", 200),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text, nil)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q is no reply", err)
			}
			return
		}
		printed := v.Append(nil)
		again, err := Load(printed, nil)
		if err != nil || !again.Equal(v) || !bytes.Equal(again.Append(nil), printed) {
			t.Fatalf("%s came back as %s, %v", printed, again.Append(nil), err)
		}
		if pretty, err := Parse(Format{Indent: "\t", Newline: "\n", Space: " "}.Append(nil, v), nil); err != nil || !pretty.Equal(v) {
			t.Fatalf("%s is another document when it is indented: %v", printed, err)
		}
	})
}

// FuzzParsePath parses and evaluates paths. The values for a change must be in the document, each once.
func FuzzParsePath(f *testing.F) {
	for _, path := range []string{
		"$", ".a.b", "$..a[0,-1,'b']", "$.a[1:-1:2]", "$..[?(@.a==1 && !(@.b=~'x') || $.c>=\"y\")]", "$[?@[?@>1]]", "$[::9223372036854775807]", "$['\\u00e9\\'']", "a\nb", "$" + strings.Repeat("[?(", 100),
	} {
		f.Add(path)
	}
	root := mustParse(f, `{"a":[1,{"b":"x"},[2,[3,null]]],"b":{"a":{"a":1.5,"é'":true}},"c":"y"}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q is no reply", err)
			}
			return
		}
		seen := map[*Value]bool{}
		for _, v := range p.SelectUnique(root, nil) {
			if v == nil || seen[v] {
				t.Fatalf("%s leads to %v twice, or nowhere", text, v)
			}
			seen[v] = true
		}
		if parent, _, _, ok := p.Child(); ok && len(parent.Select(root, nil)) > 1 {
			t.Fatalf("%s leads to one place, and its parent to several", text)
		}
	})
}
