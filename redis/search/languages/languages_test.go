package languages

import (
	"testing"

	"github.com/meowdis/meowdis/redis/search/text"
)

// Redis documentation, Stemming and Phonetic matching; the Porter stemmer of snowballstem.org.
func TestStems(t *testing.T) {
	for _, c := range [][3]string{
		{"english", "going", "go"}, {"english", "studies", "studi"}, {"english", "cat", "cat"},
		{"English", "running", "run"}, {"german", "häuser", "haus"}, {"italian", "abbandonata", "abbandon"},
		{"russian", "книги", "книг"}, {"chinese", "running", "running"}, {"english", "\xffrunning", "\xffrunning"},
	} {
		if got := text.Stem(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for _, c := range [][2]string{{"smith", "SM0"}, {"jon", text.Phonetic("john")}, {"al", ""}} {
		if got := text.Phonetic(c[0]); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}

func FuzzStem(f *testing.F) {
	f.Add("running", uint8(4))
	f.Fuzz(func(t *testing.T, term string, language uint8) {
		text.Stem(text.Languages[int(language)%len(text.Languages)], term)
		text.Phonetic(term)
	})
}
