package otherformats

import "slices"

// Kind is a kind of foreign file.
type Kind struct {
	ID string
	// Name is what a file of the kind is, as in "a Redka file".
	Name string

	recognise func(File) bool
	tables    func(File) []Table
}

// Tables are our tables as the file has them, which must be of this kind.
func (k *Kind) Tables(f File) []Table { return k.tables(f) }

// File is the tables of a file and the columns of each.
type File map[string][]string

// has reports whether the file has the table with all of the columns.
func (f File) has(table string, columns ...string) bool {
	have, ok := f[table]
	for _, c := range columns {
		ok = ok && slices.Contains(have, c)
	}
	return ok
}

// column is expr when the table has the column, or else what files have instead
// that were made before there was one.
func (f File) column(table, column, expr, instead string) string {
	if f.has(table, column) {
		return expr
	}
	return instead
}

// table is our table of that name, read from the file's table source, which stands
// in from; it is empty when the file has none.
func (f File) table(name, source, from, row string, given ...Column) Table {
	if !f.has(source) {
		return table(name, nothing, "0")
	}
	return table(name, from, row, given...)
}

// The IDs of the kinds. A Redlite file as its documentation has it is another one
// than those that its program makes.
const (
	Redka      = "redka"
	Redlite    = "redlite"
	Documented = "redlite-documented"
	Original   = "original"
)

var kinds = []*Kind{
	{ID: Redka, Name: "a Redka file", recognise: isRedka, tables: redka},
	{ID: Redlite, Name: "a Redlite file", recognise: isRedlite, tables: redlite},
	{ID: Documented, Name: "a Redlite file", recognise: isDocumented, tables: documented},
	{ID: Original, Name: "a file of the first meowdis", recognise: isOriginal, tables: original},
}

// Detect is the kind of a file, nil when it is none of them.
func Detect(f File) *Kind {
	for _, k := range kinds {
		if k.recognise(f) {
			return k
		}
	}
	return nil
}
