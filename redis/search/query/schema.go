package query

import "strings"

// FieldType is the type of a field of an index.
type FieldType int

// The types of fields.
const (
	Text FieldType = iota
	TagField
	NumericField
	GeoField
	GeoShapeField
	Vector
)

// String returns the type's name in a schema and in error messages.
func (t FieldType) String() string {
	return [...]string{"TEXT", "TAG", "NUMERIC", "GEO", "GEOSHAPE", "VECTOR"}[t]
}

// Field describes a field of an index to the parser of queries.
type Field struct {
	Name          string // the attribute's name, which queries use
	Type          FieldType
	NoStem        bool
	Phonetic      bool
	CaseSensitive bool
	NoIndex       bool // the field cannot be queried: clauses match nothing
	IndexEmpty    bool
	IndexMissing  bool
	SuffixTrie    bool // WITHSUFFIXTRIE
	Spherical     bool // the coordinates of a GEOSHAPE field
	Separator     byte // of a TAG field; zero if the value is one tag
	Weight        float64
	Dim           int    // of a VECTOR field
	ElementBytes  int    // of one number of a VECTOR field
	VectorType    string // FLOAT32 and its like
	Metric        string // L2, IP or COSINE
}

// Schema finds the fields of an index by name.
type Schema interface {
	Field(name string) (Field, bool)
}

// Fields is a Schema of a few fields.
type Fields []Field

// Field returns the field with a name; ok is false if no field has it.
func (s Fields) Field(name string) (f Field, ok bool) {
	for _, f := range s {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Options are what Parse needs beside the text of a query.
type Options struct {
	Dialect int               // 1 to 4; zero means 1
	Params  map[string]string // PARAMS: values by name
	Schema  Schema            // nil accepts every field in every clause
	// IsStopWord reports whether a term in lower case is a stop word; nil means no stop words.
	IsStopWord func(term string) bool
	Fields     []string // INFIELDS: the TEXT fields that terms may match in; nil means all
	Verbatim   bool     // marks every term as not to be expanded
}

// Error is an error in a query.
type Error struct {
	Code string // of Redis 8.8 and later, such as SEARCH_SYNTAX
	Text string
}

// Error returns the text as Redis 8.0 replies with it: without the code.
func (e *Error) Error() string { return e.Text }

func fold(text string) string { return strings.ToLower(text) }
