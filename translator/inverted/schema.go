package inverted

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/meowdis/meowdis/redis/search/upstash"
)

// Type is the type of a field.
type Type byte

const (
	Text Type = iota
	Tag
	Numeric
	Geo
	GeoShape
	Vector
)

var typeNames = []string{"TEXT", "TAG", "NUMERIC", "GEO", "GEOSHAPE", "VECTOR"}

// String returns the name of the type in FT.CREATE and FT.INFO.
func (t Type) String() string { return typeNames[t] }

// TypeOf returns the type of a name in upper case.
func TypeOf(name string) (t Type, known bool) {
	at := slices.Index(typeNames, name)
	return Type(max(0, at)), at >= 0
}

// Field is an attribute of a schema.
type Field struct {
	ID   int    // its position in the schema
	Name string // the attribute, after AS
	Path string // the field of a hash, or the path of a document
	Type Type

	Sortable, Unnormalized, NoIndex    bool
	IndexEmpty, IndexMissing, Suffixes bool

	TextOptions
	TagOptions
	Flat   bool // of GeoShape: Cartesian units instead of degrees
	Vector VectorOptions
}

// TextOptions holds the options of a TEXT field.
type TextOptions struct {
	Weight   float64
	NoStem   bool
	Phonetic string // "dm:en", or "" for none
	TextBit  int    // the bit of the field in a Mask
}

// TagOptions holds the options of a TAG field.
type TagOptions struct {
	Separator     byte // 0 for none
	CaseSensitive bool
}

// SortsNormalized reports whether values are in lower case where they are sorted and grouped.
func (f *Field) SortsNormalized() bool {
	return f.Sortable && !f.Unnormalized && (f.Type == Text || f.Type == Tag && !f.CaseSensitive)
}

// VectorOptions holds the arguments of a VECTOR field.
type VectorOptions struct {
	Algorithm, DataType, Metric string
	Dim                         int
	Options                     [][2]string // others, as written
}

// Size returns the bytes of a vector.
func (v VectorOptions) Size() int { return v.Dim * elementSizes[v.DataType] }

var elementSizes = map[string]int{"FLOAT32": 4, "FLOAT64": 8, "FLOAT16": 2, "BFLOAT16": 2, "INT8": 1, "UINT8": 1}

// IsVectorType reports whether name is a type of vector elements.
func IsVectorType(name string) bool { return elementSizes[name] > 0 }

// Schema describes an index.
type Schema struct {
	JSON     bool
	Strings  bool                // documents are strings in JSON; only SEARCH.CREATE sets it
	Upstash  *upstash.Definition // of SEARCH.CREATE, nil for FT.CREATE
	Prefixes [][]byte
	Filter   string

	DocumentOptions
	StorageOptions
	SkipScan, IndexAll bool
	Temporary          int64 // seconds of TEMPORARY, 0 for none
	StopWords          [][]byte
	HasStopWords       bool // STOPWORDS is set

	Fields []*Field
}

// DocumentOptions names the fields with the language, score and payload of a document, and has their defaults.
type DocumentOptions struct {
	Language                                string
	Score                                   float64
	LanguageField, ScoreField, PayloadField string
	HasPayload                              bool // PAYLOAD_FIELD is set
}

// StorageOptions lists the parts that an index leaves out.
type StorageOptions struct {
	MaxTextFields, NoOffsets, NoHighlight, NoFields, NoFreqs bool
}

// Field returns the attribute of a name, nil if the schema has none.
func (s *Schema) Field(name string) *Field {
	for _, f := range s.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// FieldByPath returns the attribute of a path, nil if the schema has none.
func (s *Schema) FieldByPath(path string) *Field {
	for _, f := range s.Fields {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// Add appends a field.
func (s *Schema) Add(f *Field) {
	f.ID = len(s.Fields)
	if f.Type == Text && s.Upstash == nil {
		for _, g := range s.Fields {
			if g.Type == Text {
				f.TextBit++
			}
		}
	}
	s.Fields = append(s.Fields, f)
}

// Covers reports whether the index has a key.
func (s *Schema) Covers(key []byte) bool {
	for _, p := range s.Prefixes {
		if bytes.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// TextFields returns the number of Text fields.
func (s *Schema) TextFields() (n int) {
	for _, f := range s.Fields {
		if f.Type == Text {
			n++
		}
	}
	return n
}

// Mask is a set of Text fields.
type Mask [2]uint64

// AllFields has every field.
var AllFields = Mask{1<<64 - 1, 1<<64 - 1}

// Mask returns the set with the field only.
func (f *Field) Mask() (m Mask) {
	m[f.TextBit/64] = 1 << (f.TextBit % 64)
	return m
}

// Or returns the union.
func (m Mask) Or(o Mask) Mask { return Mask{m[0] | o[0], m[1] | o[1]} }

// And returns the intersection.
func (m Mask) And(o Mask) Mask { return Mask{m[0] & o[0], m[1] & o[1]} }

// Without returns the fields of m that o lacks.
func (m Mask) Without(o Mask) Mask { return Mask{m[0] &^ o[0], m[1] &^ o[1]} }

// Empty reports whether m has no field.
func (m Mask) Empty() bool { return m[0]|m[1] == 0 }

// Len returns the number of fields.
func (m Mask) Len() int { return bits.OnesCount64(m[0]) + bits.OnesCount64(m[1]) }
