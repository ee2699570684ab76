package otherformats

import "slices"

// Kind is a format of foreign files.
type Kind struct {
	ID string
	// Name names a file of the kind, as in "a Redka file".
	Name string

	recognise func(File) bool
	tables    func(File) []Table
}

// Tables returns our tables as read from f, which must be of this kind.
func (k *Kind) Tables(f File) []Table { return k.tables(f) }

// File maps the tables of a file to their columns.
type File map[string][]string

// has reports whether the file has the table with all of the columns.
func (f File) has(table string, columns ...string) bool {
	have, ok := f[table]
	for _, c := range columns {
		ok = ok && slices.Contains(have, c)
	}
	return ok
}

// column returns expr if the table has the column, and instead for older files without it.
func (f File) column(table, column, expr, instead string) string {
	if f.has(table, column) {
		return expr
	}
	return instead
}

// table returns our table with the given name, read from the file's table source; from is its FROM clause. The
// table is empty if the file has no such source.
func (f File) table(name, source, from, row string, given ...Column) Table {
	if !f.has(source) {
		return table(name, emptySource, "0")
	}
	return table(name, from, row, given...)
}

// IDs of the kinds. A Redlite file as documented differs from the files that the program writes.
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

// Detect returns the kind of a file, or nil if it is unknown.
func Detect(f File) *Kind {
	for _, k := range kinds {
		if k.recognise(f) {
			return k
		}
	}
	return nil
}
