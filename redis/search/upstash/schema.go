package upstash

import (
	"slices"
	"strconv"
	"strings"
)

// FieldType is the type of a field, as schemas name it.
type FieldType string

// The types of fields.
const (
	Text    FieldType = "TEXT"
	Keyword FieldType = "KEYWORD"
	U64     FieldType = "U64"
	I64     FieldType = "I64"
	F64     FieldType = "F64"
	Date    FieldType = "DATE"
	Bool    FieldType = "BOOL"
	Facet   FieldType = "FACET"
)

// IsNumeric reports whether values are compared as numbers: a date is its Unix time in ms.
func (t FieldType) IsNumeric() bool { return t == U64 || t == I64 || t == F64 || t == Date }

// Field is a field of a schema.
type Field struct {
	Name       string
	Type       FieldType
	NoStem     bool
	NoTokenize bool
	Fast       bool
	From       string // the document's field; empty if it is Name
	Hybrid     bool   // declared as HYBRID: a TEXT with an embedding, which meowdis leaves out
}

// Source returns the name of the document's field.
func (f Field) Source() string {
	if f.From != "" {
		return f.From
	}
	return f.Name
}

// Definition is what SEARCH.CREATE says of an index.
type Definition struct {
	Name            string
	Type            string // JSON, HASH or STRING
	Prefixes        []string
	Language        string // english unless it is set
	SkipInitialScan bool
	ExistsOK        bool
	Fields          []Field
}

// Field returns the field with a name.
func (d *Definition) Field(name string) (f Field, ok bool) {
	i := slices.IndexFunc(d.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return f, false
	}
	return d.Fields[i], true
}

// Words returns the definition as arguments of SEARCH.CREATE, after the name. They do not say whether the index may exist
// and whether its first scan is skipped.
func (d *Definition) Words() []string {
	words := append([]string{"ON", d.Type, "PREFIX", strconv.Itoa(len(d.Prefixes))}, d.Prefixes...)
	words = append(words, "LANGUAGE", d.Language, "SCHEMA")
	for _, f := range d.Fields {
		words = append(append(words, f.Name, f.typeName()), f.options()...)
	}
	return words
}

// hybrid names the type of a TEXT field with an embedding.
const hybrid = "HYBRID"

// typeName returns the type as the schema has it.
func (f Field) typeName() string {
	if f.Hybrid {
		return hybrid
	}
	return string(f.Type)
}

// options returns the options of a field.
func (f Field) options() (words []string) {
	for _, o := range []struct {
		name string
		set  bool
	}{{"NOSTEM", f.NoStem}, {"NOTOKENIZE", f.NoTokenize}, {"FAST", f.Fast}, {"FROM", f.From != ""}} {
		if o.set {
			words = append(words, o.name)
		}
	}
	if f.From != "" {
		words = append(words, f.From)
	}
	return words
}

// Described returns the schema of SEARCH.DESCRIBE: the name, the type and the options of each field.
func (d *Definition) Described() (fields [][]string) {
	for _, f := range d.Fields {
		fields = append(fields, append([]string{f.Name, f.typeName()}, f.options()...))
	}
	return fields
}

// Languages are the languages that SEARCH.CREATE accepts.
var Languages = strings.Fields("arabic danish dutch english finnish french german greek hungarian italian norwegian " +
	"portuguese romanian russian spanish swedish tamil turkish")

// maxFields bounds the fields of a schema.
const maxFields = 1024

// ParseCreate parses the arguments of SEARCH.CREATE after the command's name.
func ParseCreate(args []string) (*Definition, error) {
	if len(args) == 0 {
		return nil, failure("Missing index name")
	}
	d := &Definition{Name: args[0], Language: "english"}
	a := &arguments{args[1:]}
	for {
		switch word := a.keyword(); word {
		case "":
			return nil, failure("Missing SCHEMA")
		case "SCHEMA":
			if err := d.parseFields(a); err != nil {
				return nil, err
			}
			return d, d.check()
		default:
			if err := d.parseClause(word, a); err != nil {
				return nil, err
			}
		}
	}
}

// parseClause parses the clause that begins with word, other than SCHEMA.
func (d *Definition) parseClause(word string, a *arguments) error {
	switch word {
	case "ON":
		return d.parseOn(a)
	case "PREFIX":
		n, err := a.count("PREFIX")
		if err != nil {
			return err
		}
		d.Prefixes, err = a.take("PREFIX", n)
		return err
	case "LANGUAGE":
		language, err := a.take("LANGUAGE", 1)
		if err != nil {
			return err
		}
		if d.Language = strings.ToLower(language[0]); !slices.Contains(Languages, d.Language) {
			return failure("Unknown language: %s", language[0])
		}
	case "SKIPINITIALSCAN":
		d.SkipInitialScan = true
	case "EXISTSOK":
		d.ExistsOK = true
	default:
		return failure("Unknown argument: %s", word)
	}
	return nil
}

func (d *Definition) parseOn(a *arguments) error {
	d.Type = a.keyword()
	switch d.Type {
	case "JSON", "HASH", "STRING":
		return nil
	case "STREAM":
		return failure("Index type STREAM is not supported by meowdis: use HASH, JSON or STRING")
	}
	return failure("Unknown index type: %s", d.Type)
}

// check refuses a definition that lacks a clause or has overlapping prefixes.
func (d *Definition) check() error {
	switch {
	case d.Type == "":
		return failure("Missing ON")
	case len(d.Prefixes) == 0:
		return failure("Missing PREFIX")
	case len(d.Fields) == 0:
		return failure("SCHEMA has no fields")
	}
	for i, p := range d.Prefixes {
		for _, q := range d.Prefixes[:i] {
			if strings.HasPrefix(p, q) || strings.HasPrefix(q, p) {
				return failure("Prefixes overlap: %s and %s", q, p)
			}
		}
	}
	return nil
}

func (d *Definition) parseFields(a *arguments) error {
	names := map[string]bool{}
	for len(a.rest) > 0 {
		f := Field{Name: a.rest[0]}
		a.rest = a.rest[1:]
		f.Type = FieldType(a.keyword())
		switch f.Type {
		case Text, Keyword, U64, I64, F64, Date, Bool, Facet:
		case hybrid:
			f.Type, f.Hybrid = Text, true
		case "":
			return failure("Field %s does not have a type", f.Name)
		default:
			return failure("Unknown field type: %s", f.Type)
		}
		if err := f.parseOptions(a); err != nil {
			return err
		}
		if names[f.Name] {
			return failure("Duplicate field: %s", f.Name)
		}
		if names[f.Name] = true; len(names) > maxFields {
			return failure("SCHEMA has more than %d fields", maxFields)
		}
		d.Fields = append(d.Fields, f)
	}
	return nil
}

// parseOptions parses the options of a field. A word that is not an option is the next field's name; so is an option's
// word with a type after it.
func (f *Field) parseOptions(a *arguments) error {
	for len(a.rest) > 0 {
		word := strings.ToUpper(a.rest[0])
		if len(a.rest) > 1 && word != "FROM" && isType(a.rest[1]) {
			return nil
		}
		switch {
		case word == "NOSTEM" && f.Type == Text:
			f.NoStem = true
		case word == "NOTOKENIZE" && f.Type == Text:
			f.NoTokenize = true
		case word == "FAST" && f.Type != Text && f.Type != Facet:
			f.Fast = true
		case word == "FROM":
			if len(a.rest) < 2 {
				return failure("FROM of field %s needs a field", f.Name)
			}
			f.From = a.rest[1]
			a.rest = a.rest[1:]
		default:
			return nil
		}
		a.rest = a.rest[1:]
	}
	return nil
}

func isType(word string) bool {
	switch FieldType(strings.ToUpper(word)) {
	case Text, Keyword, U64, I64, F64, Date, Bool, Facet, hybrid:
		return true
	}
	return false
}

// arguments holds the rest of a command, which is not parsed yet.
type arguments struct{ rest []string }

// keyword returns the next argument in upper case; empty at the end.
func (a *arguments) keyword() string {
	if len(a.rest) == 0 {
		return ""
	}
	word := strings.ToUpper(a.rest[0])
	a.rest = a.rest[1:]
	return word
}

// take returns the next n arguments.
func (a *arguments) take(option string, n int) ([]string, error) {
	if n > len(a.rest) {
		return nil, failure("%s needs %d arguments", option, n)
	}
	taken := a.rest[:n]
	a.rest = a.rest[n:]
	return taken, nil
}

// count parses the number of arguments that follow.
func (a *arguments) count(option string) (int, error) {
	word, err := a.take(option, 1)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(word[0], 10, 16)
	if err != nil || n == 0 {
		return 0, failure("%s needs a positive number, and not %s", option, word[0])
	}
	return int(n), nil
}
