package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletionInBash presses TAB where keys have letters that bash parts words
// at, and in a line that would do harm if it were run.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openScreen(t, 80, 24)
	s.check(s.Run("cd " + dir + " && bash --norc --noprofile"))
	s.check(s.Run("DB=a.sqlite; meowdis exec -t $DB MSET cat:1 a 'two words' b it\\'s c && source <(meowdis completion bash) && clear && echo 'rea''dy'"))
	s.shows("ready")
	for _, line := range []struct{ typed, completed string }{
		{"meowdis exec -t $DB GET ca", "meowdis exec -t $DB GET cat:1 |"},
		{"meowdis exec -t $DB GET cat:", "meowdis exec -t $DB GET cat:1 |"},
		{`meowdis exec --db=$DB GET tw`, `meowdis exec --db=$DB GET two\ words |`},
		{`meowdis exec --db=$DB GET "tw`, `meowdis exec --db=$DB GET "two words" |`},
		{`meowdis exec -t $DB GET it`, `meowdis exec -t $DB GET it\'s |`},
		{`meowdis exec -t $DB MGET a > made ca`, `meowdis exec -t $DB MGET a > made cat:1 |`},
		{`meowdis exec hgeta`, `meowdis exec hgetall |`},
	} {
		s.check(s.Type(line.typed))
		s.check(s.Press("Tab"))
		s.check(s.Type("|")) // what bash puts after a whole word is seen, too
		s.lastLine("$ " + line.completed)
		s.check(s.Press("C-u", "C-l"))
	}
	s.check(s.Run("clear; ls"))
	s.shows("a.sqlite")
	if text, err := s.Screen(); err != nil || strings.Contains(text, "made") {
		t.Errorf("completion ran the line: %v\n%s", err, text)
	}
}

// TestCompletionInZsh looks for what zsh would run: it reads what stands in $( as if
// it were typed, where # is no comment.
func TestCompletionInZsh(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join("internal", "complete", "shells", "meowdis.zsh"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(script), "$(\n")
	if !found {
		t.Fatal("there is no $( in the script")
	}
	substituted, _, _ := strings.Cut(rest, "\n    )")
	for line := range strings.Lines(substituted) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			t.Errorf("a comment stands in $(: %s", line)
		}
	}
}
