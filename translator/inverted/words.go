package inverted

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
)

// vectorDefaults holds the options of the algorithms that FT.INFO shows although no client has set them.
var vectorDefaults = map[string][][2]string{
	"HNSW":       {{"M", "16"}, {"EF_CONSTRUCTION", "200"}, {"EF_RUNTIME", "10"}},
	"SVS-VAMANA": {{"GRAPH_MAX_DEGREE", "32"}, {"CONSTRUCTION_WINDOW_SIZE", "200"}, {"COMPRESSION", "NO_COMPRESSION"}},
}

// VectorDefaults returns the options of an algorithm that FT.INFO shows, with their default values.
func VectorDefaults(algorithm string) [][2]string { return vectorDefaults[algorithm] }

// Words returns the definition as FT.CREATE takes it after the name of the index. Equal schemas have equal words: options
// have one order, and defaults are left out. SKIPINITIALSCAN is left out, too, because it does not describe the index.
func (s *Schema) Words() [][]byte {
	w := &wordList{}
	if s.JSON {
		w.add("ON", "JSON")
	}
	if s.IndexAll {
		w.add("INDEXALL", "ENABLE")
	}
	if len(s.Prefixes) != 1 || len(s.Prefixes[0]) > 0 {
		w.list("PREFIX", s.Prefixes)
	}
	w.option("FILTER", s.Filter, "")
	w.option("LANGUAGE", s.Language, "english")
	w.option("LANGUAGE_FIELD", s.LanguageField, "")
	w.option("SCORE", number(s.Score), "1")
	w.option("SCORE_FIELD", s.ScoreField, "")
	if s.HasPayload {
		w.add("PAYLOAD_FIELD", s.PayloadField)
	}
	w.flag("MAXTEXTFIELDS", s.MaxTextFields)
	w.option("TEMPORARY", strconv.FormatInt(s.Temporary, 10), "0")
	w.flag("NOOFFSETS", s.NoOffsets)
	w.flag("NOHL", s.NoHighlight)
	w.flag("NOFIELDS", s.NoFields)
	w.flag("NOFREQS", s.NoFreqs)
	if s.HasStopWords {
		w.list("STOPWORDS", s.StopWords)
	}
	w.add("SCHEMA")
	for _, f := range s.Fields {
		w.field(s, f)
	}
	return w.words
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// wordList collects words.
type wordList struct{ words [][]byte }

func (w *wordList) add(words ...string) {
	for _, word := range words {
		w.words = append(w.words, []byte(word))
	}
}

func (w *wordList) flag(name string, set bool) {
	if set {
		w.add(name)
	}
}

func (w *wordList) option(name, value, missing string) {
	if value != missing {
		w.add(name, value)
	}
}

func (w *wordList) list(name string, words [][]byte) {
	w.add(name, strconv.Itoa(len(words)))
	w.words = append(w.words, words...)
}

func (w *wordList) field(s *Schema, f *Field) {
	w.add(f.Path)
	w.option("AS", f.Name, f.Path)
	w.add(f.Type.String())
	switch f.Type {
	case Text:
		w.flag("NOSTEM", f.NoStem)
		w.option("WEIGHT", number(f.Weight), "1")
		w.option("PHONETIC", f.Phonetic, "")
	case Tag:
		if separator := f.Separator; separator != defaultSeparator(s) {
			w.add("SEPARATOR", string([]byte{separator}))
		}
		w.flag("CASESENSITIVE", f.CaseSensitive)
	case GeoShape:
		w.flag("FLAT", f.Flat)
	case Vector:
		w.vector(f.Vector)
	}
	w.flag("WITHSUFFIXTRIE", f.Suffixes)
	w.flag("INDEXEMPTY", f.IndexEmpty)
	w.flag("INDEXMISSING", f.IndexMissing)
	w.flag("SORTABLE", f.Sortable)
	w.flag("UNF", f.Sortable && f.Unnormalized && !s.JSON && f.Type != Numeric)
	w.flag("NOINDEX", f.NoIndex)
}

// defaultSeparator returns the separator of a Tag field that sets none.
func defaultSeparator(s *Schema) byte {
	if s.JSON {
		return 0
	}
	return ','
}

func (w *wordList) vector(v VectorOptions) {
	options := [][2]string{{"TYPE", v.DataType}, {"DIM", strconv.Itoa(v.Dim)}, {"DISTANCE_METRIC", v.Metric}}
	own := slices.Clone(v.Options)
	smallsort.Sort(own, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for _, o := range own {
		if !slices.Contains(vectorDefaults[v.Algorithm], o) {
			options = append(options, o)
		}
	}
	w.add(v.Algorithm, strconv.Itoa(2*len(options)))
	for _, o := range options {
		w.add(o[0], o[1])
	}
}
