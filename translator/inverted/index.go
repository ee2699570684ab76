package inverted

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/geohash"
	"github.com/meowdis/meowdis/redis/search/geo"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// Number is a row of search_numbers.
type Number struct {
	Field int
	Value float64
	Doc   int64
}

// Batch collects the rows of documents to index.
type Batch struct {
	Schema   *Schema
	Synonyms text.Synonyms
	Work     *store.Work

	Docs    []DocInfo
	Numbers []Number
	terms   map[string]*chunk

	words  text.Document                         // of the current document
	extras map[analyzedField]map[string][]string // Analysis.Known

	term, positions []byte // reused
	places          []int  // reused
}

type analyzedField struct {
	field    int
	language string
}

// Block is the part of the block of a term that a batch adds.
type Block struct {
	Term  []byte
	First int64
	Data  []byte
}

// Blocks returns the blocks in order of their terms.
func (b *Batch) Blocks() []Block {
	all := make([]Block, 0, len(b.terms))
	for term, c := range b.terms {
		all = append(all, Block{Term: []byte(term), Data: c.sealed()})
	}
	smallsort.Sort(all, func(x, y Block) int { return bytes.Compare(x.Term, y.Term) })
	for i := range all {
		r := reader{rest: all[i].Data}
		all[i].First, _ = r.next()
	}
	return all
}

func (b *Batch) chunk(term []byte) *chunk {
	c := b.terms[string(term)]
	if c == nil {
		if b.terms == nil {
			b.terms = map[string]*chunk{}
		}
		b.Work.Grow(int64(128 + len(term)))
		c = &chunk{}
		b.terms[string(term)] = c
	}
	return c
}

// indexing holds the state of one document.
type indexing struct {
	batch    *Batch
	schema   *Schema
	language string
	numbers  []Number
	tags     map[string]bool // terms without positions: tags and missing fields
	blobs    []blob
}

type blob struct {
	term, data []byte
}

// Add indexes a document as doc, which is greater than the documents before it. An error leaves no trace.
func (b *Batch) Add(doc int64, src *Source) error {
	if b.Schema.Upstash != nil {
		b.addFields(doc, src)
		return nil
	}
	b.words.Reset()
	x := &indexing{batch: b, schema: b.Schema, tags: map[string]bool{}, language: src.Language(b.Schema)}
	for _, f := range b.Schema.Fields {
		values, err := src.Values(b.Schema, f)
		if err != nil {
			return err
		}
		if f.NoIndex && f.Type != Numeric && f.Type != Geo {
			continue
		}
		if err := x.field(f, values); err != nil {
			return err
		}
	}
	info := DocInfo{Doc: doc, Length: uint32(b.words.Length), MaxFreq: uint32(b.words.MaxFreq), Score: src.Score(b.Schema)}
	for word, p := range b.words.Postings {
		b.addWord(doc, word, p)
	}
	for term := range x.tags {
		b.Work.Grow(8)
		b.chunk([]byte(term)).posting(doc, 1, Mask{}, nil)
	}
	for _, bl := range x.blobs {
		b.Work.Grow(int64(8 + len(bl.data)))
		b.chunk(bl.term).blob(doc, bl.data)
	}
	b.addNumbers(doc, x.numbers)
	b.chunk(AllTerm).docInfo(info)
	b.Docs = append(b.Docs, info)
	return nil
}

// addNumbers adds each number of a document once, as search_numbers has it: an array may repeat a number.
func (b *Batch) addNumbers(doc int64, numbers []Number) {
	for i := range numbers {
		numbers[i].Doc = doc
		numbers[i].Value += 0 // SQLite stores -0 as 0
	}
	slices.SortFunc(numbers, func(p, q Number) int { return cmp.Or(cmp.Compare(p.Field, q.Field), cmp.Compare(p.Value, q.Value)) })
	numbers = slices.Compact(numbers)
	b.Work.Grow(int64(24 * len(numbers)))
	b.Numbers = append(b.Numbers, numbers...)
}

func (x *indexing) field(f *Field, values []string) error {
	if values == nil {
		if f.IndexMissing {
			x.tags[string(MissingTerm(f))] = true
		}
		return nil
	}
	if f.Type == Text {
		x.text(f, values)
		return nil
	}
	for _, v := range values {
		if err := adders[f.Type](x, f, v); err != nil {
			return err
		}
	}
	return nil
}

// adders adds a value of a field that is not a Text field.
var adders = [...]func(x *indexing, f *Field, v string) error{
	Tag: (*indexing).tag, Numeric: (*indexing).number, Geo: (*indexing).place, Vector: (*indexing).vector, GeoShape: (*indexing).shape,
}

func (x *indexing) tag(f *Field, v string) error {
	for _, tag := range text.SplitTags(v, f.Separator, f.CaseSensitive, f.IndexEmpty) {
		x.tags[string(TagTerm(f, tag))] = true
	}
	return nil
}

func (x *indexing) number(f *Field, v string) error {
	n, err := parseNumber(v)
	x.numbers = append(x.numbers, Number{Field: f.ID, Value: n})
	return err
}

func (x *indexing) place(f *Field, v string) error {
	n, err := parsePlace(v)
	x.numbers = append(x.numbers, Number{Field: f.ID, Value: n})
	return err
}

func (x *indexing) vector(f *Field, v string) error {
	if len(v) != f.Vector.Size() {
		return fmt.Errorf("Could not add vector with blob size %d (expected size %d)", len(v), f.Vector.Size())
	}
	x.blobs = append(x.blobs, blob{VectorTerm(f), []byte(v)})
	return nil
}

func (x *indexing) shape(f *Field, v string) error {
	_, err := geo.Parse(v, !f.Flat)
	x.blobs = append(x.blobs, blob{ShapeTerm(f), []byte(v)})
	return err
}

// text adds the values of a Text field.
func (x *indexing) text(f *Field, values []string) {
	work := x.batch.Work
	for _, v := range values {
		work.Step(4 * len(v))
		work.Grow(int64(8 * len(v)))
		if v == "" && f.IndexEmpty {
			x.batch.words.AddEmpty(f.ID)
		}
	}
	analysis := x.schema.Analysis(f, x.language, x.batch.Synonyms)
	analysis.Known = x.batch.known(f, x.language)
	x.batch.words.Add(f.ID, f.Weight, values, x.schema.IsStopWord, analysis)
}

// known returns the Analysis.Known of a field.
func (b *Batch) known(f *Field, language string) map[string][]string {
	of := analyzedField{f.ID, language}
	m := b.extras[of]
	if m == nil {
		if b.extras == nil {
			b.extras = map[analyzedField]map[string][]string{}
		}
		m = map[string][]string{}
		b.extras[of] = m
	}
	return m
}

// Analysis returns how words of a Text field are analysed.
func (s *Schema) Analysis(f *Field, language string, synonyms text.Synonyms) text.Analysis {
	return text.Analysis{Language: language, NoStem: f.NoStem, Phonetic: f.Phonetic != "", Synonyms: synonyms}
}

// addWord adds the posting of a word.
func (b *Batch) addWord(doc int64, word string, p *text.Posting) {
	var mask Mask
	places := b.places[:0]
	for _, o := range p.Occurrences {
		mask = mask.Or(b.Schema.Fields[o.Field].Mask())
		places = append(places, o.Position)
	}
	var positions []byte
	if !b.Schema.NoOffsets {
		slices.Sort(places)
		positions = appendPositions(b.positions[:0], places)
	}
	freq := p.Freq
	if b.Schema.NoFreqs {
		freq = 1
	}
	b.Work.Grow(int64(8 + len(positions)))
	b.term = append(append(b.term[:0], kindWord), word...)
	b.chunk(b.term).posting(doc, uint32(freq), mask, positions)
	b.places, b.positions = places, positions
}

// NormalTag returns a tag as it is stored.
func (f *Field) NormalTag(tag string) string {
	if tags := text.SplitTags(tag, 0, f.CaseSensitive, true); len(tags) > 0 {
		return tags[0]
	}
	return ""
}

var isStopWord = text.StopWords(text.DefaultStopWords)

// IsStopWord reports whether the index leaves out a word, which is in lower case.
func (s *Schema) IsStopWord(word string) bool {
	if !s.HasStopWords {
		return isStopWord(word)
	}
	for _, w := range s.StopWords {
		if string(w) == word {
			return true
		}
	}
	return false
}

func parseNumber(v string) (float64, error) {
	n, ok := text.ParseNumber(v)
	if !ok {
		return 0, fmt.Errorf("Invalid numeric value: '%s'", v)
	}
	return n, nil
}

// parsePlace returns the geohash of a place.
func parsePlace(v string) (float64, error) {
	lon, lat, ok := text.ParsePoint(v)
	switch {
	case !ok:
		return 0, errors.New("Invalid geo string")
	case !(math.Abs(lon) <= geohash.MaxLon && math.Abs(lat) <= geohash.MaxLat):
		return 0, errors.New("Invalid geo coordinates")
	}
	return float64(geohash.Encode(geohash.Point{Lon: lon, Lat: lat})), nil
}

// Source is a document.
type Source struct {
	Key    []byte
	Fields map[string][]byte // of a hash
	Order  []string          // the names of Fields, the oldest first
	Root   *document.Value   // of a JSON document
	Text   []byte            // the document as it is stored
	Work   *store.Work
}

// Value returns the field of a hash, or the first value at the path of a document, as text.
func (s *Source) Value(path string) (string, bool) {
	if s.Root == nil {
		v, ok := s.Fields[path]
		return string(v), ok
	}
	for _, v := range s.Select(path) {
		switch v.Kind {
		case document.Null:
			return "", false
		case document.String:
			return v.Str, true
		}
		return string(v.Append(nil)), true
	}
	return "", false
}

// IsPath reports whether the paths of a schema of documents may be path.
func IsPath(path string) bool {
	_, err := document.ParsePath(path)
	return err == nil && path != ""
}

// Select returns the values at a path of a document.
func (s *Source) Select(path string) []*document.Value {
	p, err := document.ParsePath(path)
	if err != nil {
		return nil
	}
	return p.Select(s.Root, s.Work)
}

// Language returns the language of the document.
func (s *Source) Language(of *Schema) string {
	if of.LanguageField != "" {
		if v, ok := s.Value(of.LanguageField); ok && text.IsLanguage(v) {
			return strings.ToLower(v)
		}
	}
	return of.Language
}

// Score returns the score of the document.
func (s *Source) Score(of *Schema) float64 {
	if of.ScoreField != "" {
		if v, ok := s.Value(of.ScoreField); ok {
			if f, err := strconv.ParseFloat(v, 64); err == nil && f >= 0 && f <= 1 {
				return f
			}
		}
	}
	return of.Score
}

// Values returns the values of a field to index, nil if it is missing. A vector is its bytes.
func (s *Source) Values(of *Schema, f *Field) ([]string, error) {
	if s.Root == nil {
		v, ok := s.Fields[f.Path]
		if !ok {
			return nil, nil
		}
		return []string{string(v)}, nil
	}
	values := s.Select(f.Path)
	if len(values) == 1 && values[0].Kind == document.Array {
		if f.Type == Vector && !f.several(values[0]) && isNumbers(values[0]) {
			return f.vectors(values)
		}
		values = values[0].Elems
		if len(values) == 0 {
			return nil, nil
		}
	}
	if f.Type == Vector {
		return f.vectors(values)
	}
	var all []string
	for _, v := range values {
		text, ok, err := f.scalar(v)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, text)
		}
	}
	return all, nil
}

func (f *Field) several(v *document.Value) bool {
	return len(v.Elems) > 0 && v.Elems[0].Kind == document.Array
}

func isNumbers(v *document.Value) bool {
	return !slices.ContainsFunc(v.Elems, func(e *document.Value) bool { return !e.IsNumber() })
}

// scalar returns a value of a document as text; ok is false for null.
func (f *Field) scalar(v *document.Value) (text string, ok bool, err error) {
	fail := func(says string) (string, bool, error) { return "", false, errors.New("Invalid JSON type: " + says) }
	switch {
	case v.Kind == document.Null:
		return "", false, nil
	case v.Kind == document.String:
		if f.Type == Numeric {
			return fail("String type can represent only TEXT, TAG, GEO or GEOMETRY field")
		}
		return v.Str, true, nil
	case v.IsNumber():
		if f.Type != Numeric {
			return fail("Numeric type can represent only NUMERIC field")
		}
		return strconv.FormatFloat(v.Double(), 'g', -1, 64), true, nil
	case v.Kind == document.Bool:
		if f.Type != Tag {
			return fail("Boolean type can be represent only TAG field")
		}
		return string(v.Append(nil)), true, nil
	}
	if f.Type == Numeric {
		return fail("NUMERIC fields can only contain numeric or nulls")
	}
	return fail("TEXT/TAG fields can only contain strings or nulls")
}

// vectors encodes arrays of numbers.
func (f *Field) vectors(values []*document.Value) (all []string, err error) {
	if len(values) > 0 && values[0].IsNumber() { // a path that selects the numbers
		values = []*document.Value{{Kind: document.Array, Elems: values}}
	}
	for _, v := range values {
		if v.Kind == document.Null {
			continue
		}
		if v.Kind != document.Array || !isNumbers(v) {
			return nil, errors.New("Invalid vector format")
		}
		if len(v.Elems) != f.Vector.Dim {
			return nil, fmt.Errorf("Invalid vector length. Expected %d, got %d", f.Vector.Dim, len(v.Elems))
		}
		numbers := make([]float64, len(v.Elems))
		for i, e := range v.Elems {
			numbers[i] = e.Double()
		}
		all = append(all, string(EncodeVector(f.Vector.DataType, numbers)))
	}
	return all, nil
}

// TagsOf returns the tags of a field that the batch has.
func (b *Batch) TagsOf(f *Field) (tags []string) {
	prefix := string(TagTerm(f, ""))
	for term := range b.terms {
		if strings.HasPrefix(term, prefix) {
			tags = append(tags, term[len(prefix):])
		}
	}
	return tags
}

// SortedWords returns the words of the batch, for expansions.
func (b *Batch) SortedWords() []string {
	var all []string
	for term := range b.terms {
		if term[0] == kindWord {
			all = append(all, term[1:])
		}
	}
	sort.Strings(all)
	return all
}
