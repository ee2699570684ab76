package model

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/search/geo"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
)

// Index is what a document's analysis depends on.
type Index struct {
	Schema     query.Fields
	Language   string
	IsStopWord func(term string) bool
	Synonyms   text.Synonyms
}

// Document is an analyzed document.
type Document struct {
	Terms   text.Document
	index   *Index
	fields  map[string]int // of the schema, by name
	present map[string]bool
	tags    map[string][]string
	numbers map[string][]float64
	points  map[string][]geo.Point
	shapes  map[string][]*geo.Shape
	vectors map[string][][]float64
}

// Analyze analyzes a document: the values of its fields by the attributes' names; a field of a JSON document may have
// several. language is the document's own, or empty. A value that does not suit its field is an error, and the index leaves
// the document out.
func (ix *Index) Analyze(values map[string][]string, language string) (*Document, error) {
	if language == "" {
		language = ix.Language
	}
	d := &Document{index: ix, fields: map[string]int{}, present: map[string]bool{}, tags: map[string][]string{},
		numbers: map[string][]float64{}, points: map[string][]geo.Point{}, shapes: map[string][]*geo.Shape{},
		vectors: map[string][][]float64{}}
	for i, f := range ix.Schema {
		d.fields[f.Name] = i
		list, ok := values[f.Name]
		if !ok {
			continue
		}
		d.present[f.Name] = true
		if f.NoIndex {
			continue
		}
		if f.Type == query.Text {
			d.addText(i, f, list, language)
			continue
		}
		for _, value := range list {
			if err := d.add(f, value); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

func (d *Document) addText(i int, f query.Field, list []string, language string) {
	weight := f.Weight
	if weight == 0 {
		weight = 1
	}
	d.Terms.Add(i, weight, list, d.index.IsStopWord,
		text.Analysis{Language: language, NoStem: f.NoStem, Phonetic: f.Phonetic, Synonyms: d.index.Synonyms})
	for _, value := range list {
		if value == "" && f.IndexEmpty {
			d.Terms.AddEmpty(i)
		}
	}
}

// add adds a value of a field that is not TEXT.
func (d *Document) add(f query.Field, value string) error {
	switch f.Type {
	case query.TagField:
		d.tags[f.Name] = append(d.tags[f.Name], text.SplitTags(value, f.Separator, f.CaseSensitive, f.IndexEmpty)...)
	case query.NumericField:
		v, ok := text.ParseNumber(value)
		if !ok {
			return fmt.Errorf("Invalid numeric value: '%s'", value)
		}
		d.numbers[f.Name] = append(d.numbers[f.Name], v)
	case query.GeoField:
		lon, lat, ok := text.ParsePoint(value)
		if !ok {
			return fmt.Errorf("Invalid geo string")
		}
		d.points[f.Name] = append(d.points[f.Name], geo.Point{X: lon, Y: lat})
	case query.GeoShapeField:
		shape, err := geo.Parse(value, f.Spherical)
		if err != nil {
			return err
		}
		d.shapes[f.Name] = append(d.shapes[f.Name], shape)
	case query.Vector:
		if len(value) != f.Dim*f.ElementBytes {
			return fmt.Errorf("Invalid vector length. Expected %d, got %d", f.Dim*f.ElementBytes, len(value))
		}
		d.vectors[f.Name] = append(d.vectors[f.Name], DecodeVector(f.VectorType, value))
	}
	return nil
}

// Nearest returns the least distance of the document's vectors in a field to the bytes of a query's; ok is false if it has
// none.
func (d *Document) Nearest(field, blob string) (least float64, ok bool) {
	f, _ := d.index.Schema.Field(field)
	q := DecodeVector(f.VectorType, blob)
	for _, v := range d.vectors[field] {
		if len(v) != len(q) {
			continue
		}
		if distance := Distance(strings.ToUpper(f.Metric), v, q); !ok || distance < least {
			least, ok = distance, true
		}
	}
	return least, ok
}
