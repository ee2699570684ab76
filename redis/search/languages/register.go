package languages

import (
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/meowdis/meowdis/redis/search/text"
)

// maxStemmed bounds the bytes of a stemmed term: Snowball's code takes quadratic time.
const maxStemmed = 128

func init() { register("english", english.Stem) }

// register adds Snowball's code for a language. Terms that it cannot stem, and text that is not UTF-8, stay as they are.
func register(language string, stem func(*snowballstem.Env) bool) {
	text.RegisterStemmer(language, func(term string) (stemmed string) {
		if len(term) > maxStemmed || !utf8.ValidString(term) {
			return term
		}
		defer func() {
			if recover() != nil {
				stemmed = term
			}
		}()
		env := snowballstem.NewEnv(term)
		stem(env)
		return env.Current()
	})
}
