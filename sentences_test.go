package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// phrases match sentences that need a second reading, each with what to write instead. A match is a hint:
// some are right, so each folder has a bound.
var phrases = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`^[a-z]\w* (is|are) (how|what|where|when|whether|which|the|a|an|of|those)\b`), "begin with a verb: returns, reports, closes"},
	{regexp.MustCompile(`\b[Ww]hat (is|was|are|were|it|has|had|comes?|follows|they|may|must|can|there|of|no|only|would|others|belongs)\b`), "name the thing: the rows, the reply"},
	{regexp.MustCompile(`\b(for|of|to|by|from|and|with) who \w+|\b[Ww]hoever\b`), "the caller, the client, the user"},
	{regexp.MustCompile(`\b([Ss]omebody|[Aa]nybody|[Nn]obody|[Ss]trangers?)\b|\b(of|by|for|to|with) others\b`), "other clients, no reader"},
	{regexp.MustCompile(`\b[Tt]hose (of|that|who|which|in|with|to|for|from|on)\b|\b(is|are|as|than|with|by|of|to) that of\b`), "repeat the noun"},
	{regexp.MustCompile(`\b(is|are|was|were) (not |no longer |still )?there\b`), "exists, is missing"},
	{regexp.MustCompile(`\b(is|are) (no (\w+)|none)\b`), "is not a X, has no X"},
	{regexp.MustCompile(`\b(by|of|in|to|from|for|on|at|with|under) which\b`), "split the sentence"},
	{regexp.MustCompile(`\bg(o|oes|oing) on\b|\banew\b|\bin vain\b|\bmeanwhile\b|\blikewise\b|\bfrom then on\b`), "continues, again, fails"},
	{regexp.MustCompile(`\b(tells|told)\b`), "reports, returns, prints"},
	{regexp.MustCompile(`\bof (no )?use\b|\bas it was\b|\bhow (it|they) w(ent|as)\b|\bthe other way round\b`), "useful, unchanged, reversed"},
}

// sentenceBounds is the number of matches in each folder. It may only fall.
var sentenceBounds = map[string]int{
	"cmd": 10, "engine": 35, "inspect": 13, "internal": 45, "keyspace": 7, "local": 9, "redis": 30, "remote": 3,
	"repl": 3, "server": 15, "store": 18, "transfer": 8, "translator": 12,
}

// TestSentences counts the phrases in the comments and messages of each folder.
func TestSentences(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata") {
			return firstOf(err, fs.SkipDir)
		}
		folder := strings.Split(filepath.ToSlash(path), "/")[0]
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && folder != path {
			for _, s := range sentencesOf(t, path) {
				for _, p := range phrases {
					if m := p.pattern.FindString(s.text); m != "" {
						found[folder] = append(found[folder], path+":"+strconv.Itoa(s.line)+": "+strconv.Quote(m)+": "+p.instead)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, matches := range found {
		switch bound := sentenceBounds[folder]; {
		case len(matches) > bound:
			t.Errorf("%s has %d matches, and its bound is %d:\n%s", folder, len(matches), bound, strings.Join(matches, "\n"))
		case len(matches) < bound*3/4-2:
			t.Errorf("%s has %d matches: lower its bound from %d", folder, len(matches), bound)
		}
	}
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// sentence is a line of a comment, or a string that contains spaces.
type sentence struct {
	line int
	text string
}

func sentencesOf(t *testing.T, path string) (list []sentence) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(text), "// Code generated") {
		return nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			list = append(list, sentence{set.Position(c.Pos()).Line, strings.TrimPrefix(c.Text, "// ")})
		}
	}
	list = append(list, messagesOf(set, file)...)
	return list
}

// messagesOf returns the strings of a file that are sentences, without SQL.
func messagesOf(set *token.FileSet, file *ast.File) (list []sentence) {
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && len(text) > 18 && strings.Contains(text, " ") && !sqlText.MatchString(text) {
				list = append(list, sentence{set.Position(lit.Pos()).Line, text})
			}
		}
		return true
	})
	return list
}

var sqlText = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WHERE|WITH)\b`)
