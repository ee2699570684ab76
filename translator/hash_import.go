package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var hashImportTranslations = translations{
	{"HIMPORT SET", himportSet},
}

// Fieldset parses the fields of HIMPORT PREPARE, which must differ.
func Fieldset(args [][]byte) (name string, fields [][]byte, bad resp.Value) {
	seen := map[string]bool{}
	for _, f := range args[3:] {
		if seen[string(f)] {
			return "", nil, resp.MakeError("ERR duplicate field name in fieldset")
		}
		seen[string(f)] = true
		fields = append(fields, bytes.Clone(f))
	}
	return string(args[2]), fields, bad
}

var (
	noSuchFieldset = resp.MakeError("ERR no such fieldset")
	valuesMismatch = resp.MakeError("ERR value count does not match fieldset field count")
)

// himportSet replaces a whole hash, including its expiry. It refuses a key of another type.
func himportSet(c *Call) Plan {
	key, values := c.Args[2], c.Args[4:]
	fields, ok := c.Env.Fieldsets[string(c.Args[3])]
	switch {
	case !ok:
		return c.failTyped(key, hashType, noSuchFieldset, noSuchFieldset)
	case len(values) != len(fields):
		return c.failTyped(key, hashType, valuesMismatch, valuesMismatch)
	}
	pairs := make([][]byte, 0, 2*len(fields))
	for i, f := range fields {
		pairs = append(pairs, f, values[i])
	}
	stmts := []store.Stmt{c.guardType(key, hashType), c.drop(key), c.ensure(key, hashType)}
	return write(decodeOK, append(stmts, c.addFields(key, pairs)...)...)
}
