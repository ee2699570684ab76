package transfer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator/inverted"
)

var errNoDefinition = errors.New("FT.INFO does not show its definition")

// shownDefinition returns the definition in a reply of FT.INFO.
func shownDefinition(info resp.Value) ([][]byte, error) {
	of := func(v resp.Value, name string) string {
		e, _ := fieldOf(v, name)
		return string(text(e))
	}
	definition, has := fieldOf(info, "index_definition")
	attributes, hasFields := fieldOf(info, "attributes")
	if !has || !hasFields {
		return nil, errNoDefinition
	}
	s := &inverted.Schema{
		JSON: of(definition, "key_type") == "JSON", Filter: of(definition, "filter"), IndexAll: of(definition, "indexes_all") == "true",
		DocumentOptions: inverted.DocumentOptions{Language: "english", Score: 1, LanguageField: of(definition, "language_field"),
			ScoreField: of(definition, "score_field"), PayloadField: of(definition, "payload_field")},
	}
	s.HasPayload = s.PayloadField != ""
	if language := of(definition, "default_language"); language != "" {
		s.Language = strings.ToLower(language)
	}
	if f, err := strconv.ParseFloat(of(definition, "default_score"), 64); err == nil {
		s.Score = f
	}
	prefixes, _ := fieldOf(definition, "prefixes")
	if s.Prefixes = texts(prefixes.Elems); len(s.Prefixes) == 0 {
		s.Prefixes = [][]byte{{}}
	}
	options, _ := fieldOf(info, "index_options")
	for _, o := range texts(options.Elems) {
		flag := map[string]*bool{"NOFREQS": &s.NoFreqs, "NOFIELDS": &s.NoFields, "NOOFFSETS": &s.NoOffsets, "NOHL": &s.NoHighlight, "MAXTEXTFIELDS": &s.MaxTextFields}[string(o)]
		if flag != nil {
			*flag = true
		}
	}
	if stopWords, set := fieldOf(info, "stopwords_list"); set {
		s.HasStopWords, s.StopWords = true, texts(stopWords.Elems)
	}
	for _, a := range attributes.Elems {
		f, err := shownField(s, a)
		if err != nil {
			return nil, err
		}
		s.Add(f)
	}
	return s.Words(), nil
}

// shownField returns an attribute in a reply of FT.INFO: pairs, and then flags, which RESP3 has in a list.
func shownField(s *inverted.Schema, attribute resp.Value) (*inverted.Field, error) {
	f := &inverted.Field{TextOptions: inverted.TextOptions{Weight: 1}}
	flags := map[string]*bool{"CASESENSITIVE": &f.CaseSensitive, "SORTABLE": &f.Sortable, "UNF": &f.Unnormalized, "NOSTEM": &f.NoStem, "NOINDEX": &f.NoIndex,
		"WITHSUFFIXTRIE": &f.Suffixes, "INDEXEMPTY": &f.IndexEmpty, "INDEXMISSING": &f.IndexMissing}
	pairs := attribute.Elems
	typ := ""
	for i := 0; i < len(pairs); i++ {
		name := string(text(pairs[i]))
		if flag := flags[name]; flag != nil {
			*flag = true
			continue
		}
		if i++; i == len(pairs) {
			return nil, errNoDefinition
		}
		value := string(text(pairs[i]))
		switch strings.ToLower(name) {
		case "identifier":
			f.Path = value
		case "attribute":
			f.Name = value
		case "type":
			typ = value
		case "weight":
			f.Weight, _ = strconv.ParseFloat(value, 64)
		case "separator":
			if value != "" {
				f.Separator = value[0]
			}
		case "coord_system":
			f.Flat = value == "FLAT"
		case "flags":
			for _, e := range texts(pairs[i].Elems) {
				if flag := flags[string(e)]; flag != nil {
					*flag = true
				}
			}
		default:
			shownVectorOption(&f.Vector, strings.ToUpper(name), value)
		}
	}
	for t := inverted.Text; t <= inverted.Vector; t++ {
		if t.String() == typ {
			f.Type = t
			return f, nil
		}
	}
	return nil, fmt.Errorf("the field %q has the unknown type %q", f.Name, typ)
}

func shownVectorOption(v *inverted.VectorOptions, name, value string) {
	switch name {
	case "ALGORITHM":
		v.Algorithm = value
	case "DATA_TYPE":
		v.DataType = value
	case "DISTANCE_METRIC":
		v.Metric = value
	case "DIM":
		v.Dim, _ = strconv.Atoi(value)
	case "M", "EF_CONSTRUCTION", "EF_RUNTIME", "GRAPH_MAX_DEGREE", "CONSTRUCTION_WINDOW_SIZE", "COMPRESSION":
		v.Options = append(v.Options, [2]string{name, value})
	}
}
