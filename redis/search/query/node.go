package query

import (
	"math"
	"regexp"
)

// Node is a node of a query's tree: one of the pointer types of this file.
type Node interface {
	// Common returns the part that every node has; it is never nil.
	Common() *Base
}

// Base is the part that every node has.
type Base struct {
	// Fields are the TEXT fields that terms may match in: nil means every TEXT field, an empty slice none.
	Fields []string
	Weight float64 // multiplies the score of the node; 1 unless the query sets $weight
	// Slop, InOrder and Phonetic are the attributes of the node; nil if the query does not set them.
	Slop     *int
	InOrder  *bool
	Phonetic *bool
}

// Common returns the node's Base.
func (b *Base) Common() *Base { return b }

// All matches every document: the query *.
type All struct{ Base }

// Nothing matches no document: an empty query, or one of stop words only.
type Nothing struct{ Base }

// Term matches documents with an indexed term, which is in lower case and unescaped.
type Term struct {
	Base
	Text     string
	Verbatim bool // never expanded: it was quoted, or the query is VERBATIM
	Expanded bool // Expand added it to a term of the query
}

// Phrase matches its terms side by side, in order: "hello world" in quotes. It has two terms or more.
type Phrase struct {
	Base
	Terms      []string
	PrefixLast bool // the last term may be the beginning of one; only Upstash's filters set it
}

// And matches documents that match all children.
type And struct {
	Base
	Children []Node
}

// Or matches documents that match a child.
type Or struct {
	Base
	Children []Node
}

// Not matches documents that do not match the child.
type Not struct {
	Base
	Child Node
}

// Optional matches every document, and adds the child's score where the child matches.
type Optional struct {
	Base
	Child Node
}

// AffixKind says where the text of an Affix stands in the terms that match.
type AffixKind int

// The kinds of an Affix.
const (
	Prefix AffixKind = iota // text*
	Suffix                  // *text
	Infix                   // *text*
)

// Affix matches terms, or tags as a child of Tag, that begin with, end with or contain a text.
type Affix struct {
	Base
	Kind AffixKind
	Text string
}

// Wildcard matches terms, or tags as a child of Tag, with a pattern: ? is one character, * any run, \ escapes.
type Wildcard struct {
	Base
	Pattern string
}

// Fuzzy matches terms within a Levenshtein distance of 1 to 3.
type Fuzzy struct {
	Base
	Text     string
	Distance int
	// Only Upstash's filters set these: swapped neighbours cost one edit, and the beginning of a term may match.
	Swaps, Prefix bool
}

// Regexp matches terms that have a regular expression as a whole. Only Upstash's filters have it.
type Regexp struct {
	Base
	Pattern *regexp.Regexp
}

// TagRange matches tags between two others by bytes; a nil end is open. Only Upstash's filters have it.
type TagRange struct {
	Base
	Field                      string
	Min, Max                   *string
	MinExclusive, MaxExclusive bool
}

// Tag matches documents with one of the values in a TAG field. A value is a Term, an Affix or a Wildcard.
// The values are in the query's case: fold them unless the field is CASESENSITIVE.
type Tag struct {
	Base
	Field  string
	Values []Node
}

// Numeric matches a range of a NUMERIC field. Unbounded ends are infinite.
type Numeric struct {
	Base
	Field                      string
	Min, Max                   float64
	MinExclusive, MaxExclusive bool
}

// Geo matches a circle around a point of a GEO field.
type Geo struct {
	Base
	Field    string
	Lon, Lat float64
	Radius   float64
	Unit     string // m, km, mi or ft
}

// UnknownUnit is the result of Geo.Invalid for a circle in unknown units.
const UnknownUnit = "Invalid GeoFilter unit"

// Invalid returns the reason why no point can be in the circle, or "".
func (g *Geo) Invalid() string {
	switch {
	case unitMeters[g.Unit] == 0:
		return UnknownUnit
	case !(math.Abs(g.Lat) <= 85.05112878 && math.Abs(g.Lon) <= 180):
		return "Invalid GeoFilter lat/lon"
	case !(g.Radius > 0):
		return "Invalid GeoFilter radius"
	}
	return ""
}

// Meters returns the circle's radius in meters.
func (g *Geo) Meters() float64 { return g.Radius * unitMeters[g.Unit] }

var unitMeters = map[string]float64{"m": 1, "km": 1000, "mi": 1609.34, "ft": 0.3048}

// Relation is how a document's shape must lie to the query's shape.
type Relation int

// The relations of a GeoShape.
const (
	Within     Relation = iota // the document's shape is inside the query's
	Contains                   // the query's shape is inside the document's
	Intersects                 // they share a point
	Disjoint                   // they share no point
)

// GeoShape matches documents whose shape in a GEOSHAPE field has a relation to a shape in WKT.
type GeoShape struct {
	Base
	Field    string
	Relation Relation
	WKT      string
}

// Missing matches documents without a value in a field: ismissing(@field).
type Missing struct {
	Base
	Field string
}

// KNN matches the K nearest vectors among the documents that match Filter. Only the root of a tree is a KNN.
type KNN struct {
	Base
	VectorOptions
	Filter Node
	Field  string
	K      int
	Param  string // the parameter that holds the query's vector
	Vector string // its bytes
}

// VectorRange matches vectors within a distance.
type VectorRange struct {
	Base
	VectorOptions
	Field  string
	Radius float64
	Param  string // the parameter that holds the query's vector
	Vector string // its bytes
}

// VectorOptions are the attributes of a vector clause.
type VectorOptions struct {
	ScoreAs      string  // the field that yields the distance; empty if a range yields none
	EFRuntime    int     // zero if not set
	Epsilon      float64 // zero if not set
	HybridPolicy string  // ADHOC_BF, BATCHES or empty
	BatchSize    int     // zero if not set
}
