//go:build !wasip1 || search

package languages

import (
	"github.com/antzucaro/matchr"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"

	"github.com/meowdis/meowdis/redis/search/text"
)

func init() {
	register("arabic", arabic.Stem)
	register("danish", danish.Stem)
	register("dutch", dutch.Stem)
	register("finnish", finnish.Stem)
	register("french", french.Stem)
	register("german", german.Stem)
	register("hungarian", hungarian.Stem)
	register("irish", irish.Stem)
	register("italian", italian.Stem)
	register("norwegian", norwegian.Stem)
	register("portuguese", portuguese.Stem)
	register("romanian", romanian.Stem)
	register("russian", russian.Stem)
	register("spanish", spanish.Stem)
	register("swedish", swedish.Stem)
	register("tamil", tamil.Stem)
	register("turkish", turkish.Stem)
	text.RegisterPhonetic(phonetic)
}

// phonetic returns the primary code of a term's double metaphone.
func phonetic(term string) (code string) {
	if len(term) > maxStemmed {
		return ""
	}
	defer func() {
		if recover() != nil {
			code = ""
		}
	}()
	code, _ = matchr.DoubleMetaphone(term)
	return code
}
