//go:build !wasip1 || search

package translator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/translator/inverted"
)

// The limits of a schema.
const (
	maxSearchFields = 1024
	maxTextFields   = 128
	maxTemporary    = 1 << 32 // seconds
	fewTextFields   = 32      // of an index without MAXTEXTFIELDS, when FT.ALTER adds fields
)

// definition parses the words after the name of the index in FT.CREATE.
type definition struct {
	words [][]byte
	at    int
}

func (d *definition) more() bool { return d.at < len(d.words) }

// is reports whether the next word is name, and skips it.
func (d *definition) is(name string) bool {
	if d.more() && wordIs(d.words[d.at], name) {
		d.at++
		return true
	}
	return false
}

// next returns the next word, nil after the last one.
func (d *definition) next() []byte {
	if !d.more() {
		return nil
	}
	d.at++
	return d.words[d.at-1]
}

// counted returns the words after their number.
func (d *definition) counted(option string) ([][]byte, string) {
	word := d.next()
	n, ok := parseInt(word)
	switch {
	case word == nil:
		return nil, "Bad arguments for " + option + ": Expected an argument, but none provided"
	case !ok:
		return nil, "Bad arguments for " + option + ": Could not convert argument to expected type"
	case n < 0:
		return nil, "Bad arguments for " + option + ": " + outOfBounds
	case n > int64(len(d.words)-d.at):
		return nil, "Bad arguments for " + option + ": Expected an argument, but none provided"
	}
	list := d.words[d.at : d.at+int(n)]
	d.at += int(n)
	return list, ""
}

// parseDefinition parses a definition. bad is the text of an error, "" for none.
func parseDefinition(words [][]byte) (s *inverted.Schema, bad string) {
	d := &definition{words: words}
	s = &inverted.Schema{Prefixes: [][]byte{{}}, DocumentOptions: inverted.DocumentOptions{Language: "english", Score: 1}}
	for d.more() {
		if d.is("SCHEMA") {
			if !d.more() {
				return nil, "Fields arguments are missing"
			}
			return s, d.fields(s)
		}
		if bad = d.option(s); bad != "" {
			return nil, bad
		}
	}
	return nil, "No schema found"
}

func (d *definition) option(s *inverted.Schema) (bad string) {
	word := string(d.next())
	for _, flag := range []struct {
		name string
		to   *bool
	}{
		{"MAXTEXTFIELDS", &s.MaxTextFields}, {"NOOFFSETS", &s.NoOffsets}, {"NOHL", &s.NoHighlight}, {"NOFIELDS", &s.NoFields},
		{"NOFREQS", &s.NoFreqs}, {"SKIPINITIALSCAN", &s.SkipScan}, {"ASYNC", new(bool)},
	} {
		if strings.EqualFold(word, flag.name) {
			*flag.to = true
			return ""
		}
	}
	name := strings.ToUpper(word)
	switch name {
	case "PREFIX":
		s.Prefixes, bad = d.counted(name)
		if len(s.Prefixes) == 0 {
			s.Prefixes = [][]byte{{}}
		}
		return bad
	case "STOPWORDS":
		var list [][]byte
		list, bad = d.counted(name)
		s.HasStopWords, s.StopWords = true, nil
		for _, w := range list {
			s.StopWords = append(s.StopWords, []byte(strings.ToLower(string(w))))
		}
		return bad
	}
	to := map[string]*string{"LANGUAGE_FIELD": &s.LanguageField, "SCORE_FIELD": &s.ScoreField, "PAYLOAD_FIELD": &s.PayloadField, "LANGUAGE": &s.Language, "FILTER": &s.Filter}[name]
	if to == nil && !slices.Contains([]string{"ON", "SCORE", "TEMPORARY", "INDEXALL"}, name) {
		return fmt.Sprintf("Unknown argument `%s`", word)
	}
	value := d.next()
	if value == nil {
		return "Bad arguments for " + name + ": Expected an argument, but none provided"
	}
	return setOption(s, name, string(value), to)
}

func setOption(s *inverted.Schema, name, value string, to *string) string {
	switch name {
	case "ON":
		switch strings.ToUpper(value) {
		case "HASH":
		case "JSON":
			s.JSON = true
		default:
			return "Invalid rule type: " + value
		}
	case "SCORE":
		f, ok := parseFloat([]byte(value))
		if !ok || f < 0 || f > 1 {
			return "Invalid score"
		}
		s.Score = f
	case "TEMPORARY":
		n, ok := parseInt([]byte(value))
		switch {
		case !ok:
			return badArgument(name, wrongArgument)
		case n < 0 || n > maxTemporary:
			return badArgument(name, outOfBounds)
		}
		s.Temporary = n
	case "INDEXALL":
		switch strings.ToUpper(value) {
		case "ENABLE":
			s.IndexAll = true
		case "DISABLE":
		default:
			return "Invalid argument for `INDEXALL`, use ENABLE or DISABLE"
		}
	case "LANGUAGE":
		s.Language = strings.ToLower(value)
		if !text.IsLanguage(s.Language) {
			return "Invalid language"
		}
	default:
		*to = value
		s.HasPayload = s.HasPayload || name == "PAYLOAD_FIELD"
	}
	return ""
}

// fields parses the fields of a schema, and adds them to s.
func (d *definition) fields(s *inverted.Schema) (bad string) {
	for d.more() {
		f := &inverted.Field{Path: string(d.next()), TextOptions: inverted.TextOptions{Weight: 1}}
		f.Name = f.Path
		if d.is("AS") {
			if !d.more() {
				return "Parse error: `AS` requires an argument"
			}
			f.Name = string(d.next())
		}
		if s.Field(f.Name) != nil {
			return "Duplicate field in schema - " + f.Name
		}
		if !d.more() {
			return fmt.Sprintf("Field `%s` does not have a type", f.Name)
		}
		if bad = d.field(s, f); bad != "" {
			return bad
		}
		if s.JSON {
			f.Unnormalized = f.Sortable
		}
		s.Add(f)
		switch {
		case len(s.Fields) > maxSearchFields:
			return fmt.Sprintf("Schema is limited to %d fields", maxSearchFields)
		case s.TextFields() > maxTextFields:
			return fmt.Sprintf("Schema is limited to %d TEXT fields", maxTextFields)
		}
	}
	return ""
}

// field parses the type of a field and its options.
func (d *definition) field(s *inverted.Schema, f *inverted.Field) (bad string) {
	var known bool
	if f.Type, known = inverted.TypeOf(strings.ToUpper(string(d.next()))); !known {
		return fmt.Sprintf("Invalid field type for field `%s`", f.Name)
	}
	if f.Type == inverted.Tag && !s.JSON {
		f.Separator = ','
	}
	if f.Type == inverted.Vector {
		bad = d.vector(f)
	}
	for taken := true; taken && bad == "" && d.more(); {
		taken, bad = d.ownOption(f)
	}
	if bad != "" || f.Type == inverted.Vector {
		return bad
	}
	for d.more() {
		switch {
		case f.Type != inverted.GeoShape && d.is("SORTABLE"):
			f.Sortable = true
			f.Unnormalized = d.is("UNF") || f.Type == inverted.Numeric
		case d.is("NOINDEX"):
			f.NoIndex = true
		default:
			return fieldConflict(f)
		}
	}
	return fieldConflict(f)
}

func fieldConflict(f *inverted.Field) string {
	if f.NoIndex && f.IndexMissing {
		return fmt.Sprintf("'Field `%s` cannot be defined with both `NOINDEX` and `INDEXMISSING`", f.Name)
	}
	return ""
}

// fieldOption describes an option of the fields of some types.
type fieldOption struct {
	types   []inverted.Type
	flag    func(f *inverted.Field) // nil for an option with a value
	set     func(f *inverted.Field, value []byte) (bad string)
	noValue string // the error
}

// textOrTag lists the types of the options of words.
var textOrTag = []inverted.Type{inverted.Text, inverted.Tag}

var fieldOptions = map[string]fieldOption{
	"INDEXMISSING":   {nil, func(f *inverted.Field) { f.IndexMissing = true }, nil, ""},
	"WITHSUFFIXTRIE": {textOrTag, func(f *inverted.Field) { f.Suffixes = true }, nil, ""},
	"INDEXEMPTY":     {textOrTag, func(f *inverted.Field) { f.IndexEmpty = true }, nil, ""},
	"NOSTEM":         {textOrTag[:1], func(f *inverted.Field) { f.NoStem = true }, nil, ""},
	"WEIGHT":         {textOrTag[:1], nil, setWeight, badArgument("WEIGHT", noArgument)},
	"PHONETIC":       {textOrTag[:1], nil, setPhonetic, "PHONETIC requires an argument"},
	"SEPARATOR":      {textOrTag[1:], nil, setSeparator, "SEPARATOR requires an argument"},
	"CASESENSITIVE":  {textOrTag[1:], func(f *inverted.Field) { f.CaseSensitive = true }, nil, ""},
	"FLAT":           {[]inverted.Type{inverted.GeoShape}, func(f *inverted.Field) { f.Flat = true }, nil, ""},
	"SPHERICAL":      {[]inverted.Type{inverted.GeoShape}, func(f *inverted.Field) { f.Flat = false }, nil, ""},
}

// ownOption parses an option of the field's type, and reports whether the next word is one.
func (d *definition) ownOption(f *inverted.Field) (taken bool, bad string) {
	o, known := fieldOptions[strings.ToUpper(string(d.words[d.at]))]
	switch {
	case !known || o.types != nil && !slices.Contains(o.types, f.Type):
		return false, ""
	case o.flag != nil:
		d.at++
		o.flag(f)
		return true, ""
	case d.at+1 == len(d.words):
		return false, o.noValue
	}
	d.at += 2
	bad = o.set(f, d.words[d.at-1])
	return bad == "", bad
}

func setWeight(f *inverted.Field, value []byte) (bad string) {
	w, ok := parseFloat(value)
	if !ok {
		return badArgument("WEIGHT", wrongArgument)
	}
	f.Weight = w
	return ""
}

func setPhonetic(f *inverted.Field, value []byte) (bad string) {
	f.Phonetic = string(value)
	if !slices.Contains([]string{"dm:en", "dm:fr", "dm:pt", "dm:es"}, f.Phonetic) {
		return "Matcher Format: <2 chars algorithm>:<2 chars language>. Support algorithms: double metaphone (dm). Supported languages: English (en), French (fr), Portuguese (pt) and Spanish (es)"
	}
	return ""
}

func setSeparator(f *inverted.Field, value []byte) (bad string) {
	if len(value) != 1 {
		return fmt.Sprintf("Tag separator must be a single character. Got `%s`", value)
	}
	f.Separator = value[0]
	return ""
}

// maxVectorBytes limits the size of a vector.
const maxVectorBytes = 1 << 20

// vector parses the algorithm of a vector field.
func (d *definition) vector(f *inverted.Field) string {
	v := &f.Vector
	v.Algorithm = strings.ToUpper(string(d.next()))
	if !slices.Contains([]string{"FLAT", "HNSW", "SVS-VAMANA"}, v.Algorithm) {
		return "Bad arguments for vector similarity algorithm: Unknown argument"
	}
	list, bad := d.counted("vector similarity number of parameters")
	if bad != "" {
		return bad
	}
	if len(list)%2 != 0 {
		return fmt.Sprintf("Bad number of arguments for vector similarity index: got %d but expected even number as algorithm parameters (should be submitted as named arguments)", len(list))
	}
	for i := 0; i < len(list); i += 2 {
		name, value := strings.ToUpper(string(list[i])), strings.ToUpper(string(list[i+1]))
		if bad := vectorOption(v, name, value); bad != "" {
			return bad
		}
	}
	for _, m := range []struct {
		name    string
		missing bool
	}{{"TYPE", v.DataType == ""}, {"DIM", v.Dim == 0}, {"DISTANCE_METRIC", v.Metric == ""}} {
		if m.missing {
			return fmt.Sprintf("Missing mandatory parameter: cannot create %s index without specifying %s argument", v.Algorithm, m.name)
		}
	}
	if v.Size() > maxVectorBytes {
		return fmt.Sprintf("Bad arguments for vector similarity %s index dim: Value is outside acceptable bounds", v.Algorithm)
	}
	return ""
}

// vectorOptions lists the options of the algorithms, besides TYPE, DIM and DISTANCE_METRIC.
var vectorOptions = map[string][]string{
	"FLAT":       {"INITIAL_CAP", "BLOCK_SIZE"},
	"HNSW":       {"INITIAL_CAP", "M", "EF_CONSTRUCTION", "EF_RUNTIME", "EPSILON"},
	"SVS-VAMANA": {"GRAPH_MAX_DEGREE", "CONSTRUCTION_WINDOW_SIZE", "SEARCH_WINDOW_SIZE", "EPSILON", "COMPRESSION", "TRAINING_THRESHOLD", "REDUCE"},
}

func vectorOption(v *inverted.VectorOptions, name, value string) string {
	invalid := func(what string) string {
		return fmt.Sprintf("Bad arguments for vector similarity %s index %s: Could not convert argument to expected type", v.Algorithm, what)
	}
	switch name {
	case "TYPE":
		if !inverted.IsVectorType(value) || v.Algorithm == "SVS-VAMANA" && value != "FLOAT32" && value != "FLOAT16" {
			return invalid("type")
		}
		v.DataType = value
	case "DIM":
		n, err := strconv.Atoi(value)
		if err != nil || n <= 0 {
			return invalid("dim")
		}
		v.Dim = n
	case "DISTANCE_METRIC":
		if !slices.Contains([]string{"L2", "IP", "COSINE"}, value) {
			return invalid("metric")
		}
		v.Metric = value
	default:
		if !slices.Contains(vectorOptions[v.Algorithm], name) {
			return fmt.Sprintf("Bad arguments for algorithm %s: Unknown argument", v.Algorithm)
		}
		if f, ok := parseFloat([]byte(value)); name != "COMPRESSION" && (!ok || f < 0) {
			return invalid(strings.ToLower(name))
		}
		v.Options = append(v.Options, [2]string{name, value})
	}
	return ""
}

// joinWords writes the words of a definition as a line that resp.SplitLine reads.
func joinWords(words [][]byte) []byte {
	var out []byte
	for i, w := range words {
		if i > 0 {
			out = append(out, ' ')
		}
		if plainWord(w) {
			out = append(out, w...)
		} else {
			out = resp.AppendQuoted(out, w, false)
		}
	}
	return out
}

func plainWord(w []byte) bool {
	return len(w) > 0 && !slices.ContainsFunc(w, func(ch byte) bool { return ch <= ' ' || ch >= 0x7f || ch == '"' || ch == '\'' || ch == '\\' })
}
