package translator

import (
	"math"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

var memoryTranslations = translations{
	{"MEMORY DOCTOR", memoryDoctor},
	{"MEMORY HELP", help},
	{"MEMORY PURGE", func(*Call) Plan { return answer(resp.OK) }},
	{"MEMORY USAGE", memoryUsage},
}

func memoryDoctor(*Call) Plan {
	return answer(resp.Value{Kind: resp.Verbatim, Str: []byte("Values are kept in a file and not in memory; there is nothing to diagnose.\n")})
}

// sqlMemoryUsage adds the row of the key and its index entries to the size of the value.
var sqlMemoryUsage = sync.OnceValue(func() string {
	return `SELECT CAST(100 + 2 * length(key) + ifnull(` +
		keytype.Case(nil, func(t *keytype.Type) string { return t.Estimate("?4") }) + `, 0) AS INTEGER) FROM keys WHERE ` + live
})

// memoryUsage estimates the size of a key from SAMPLES of its elements: five by default, all for 0.
func memoryUsage(c *Call) Plan {
	samples := int64(5)
	for i := 3; i < len(c.Args); i += 2 {
		if !c.is(i, "SAMPLES") || i+1 == len(c.Args) {
			return fail(errSyntax)
		}
		var ok bool
		if samples, ok = parseInt(c.Args[i+1]); !ok {
			return fail(errNotInteger)
		}
		if samples < 0 {
			return fail(errSyntax)
		}
	}
	if samples == 0 {
		samples = math.MaxInt64
	}
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.Nil
		}
		return integer(r.Rows[0][0][0])
	}, c.stmt(sqlMemoryUsage(), c.Args[2], store.Digits(samples)))
}
