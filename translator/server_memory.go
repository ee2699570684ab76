package translator

import (
	"math"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

var memoryTranslations = translations{
	"MEMORY DOCTOR": memoryDoctor,
	"MEMORY HELP":   help,
	"MEMORY PURGE":  func(*Call) Plan { return answer(resp.OK) },
	"MEMORY USAGE":  memoryUsage,
}

func memoryDoctor(*Call) Plan {
	return answer(resp.Value{Kind: resp.Verbatim, Str: []byte("Values are kept in a file and not in memory; there is nothing to diagnose.\n")})
}

// What a row takes beside the bytes of the user, in an estimate: the key's row
// and its indexes, an element's row with its key, hash and position, and the
// second copy of a sorted set's member in the index by score.
const (
	sampleValues = ` FROM (SELECT * FROM `
	ofSample     = ` WHERE key_id = keys.id LIMIT CAST(?4 AS INTEGER))) `

	sqlMemoryUsage = `SELECT CAST(100 + 2 * length(key) + CASE type
		WHEN 'string' THEN 10 + ` + schema.StringLength + `
		WHEN 'list' THEN count * (SELECT avg(16 + length(value))` + sampleValues + `lists` + ofSample + `
		WHEN 'hash' THEN count * (SELECT avg(24 + length(field) + length(value))` + sampleValues + `hashes` + ofSample + `
		WHEN 'set' THEN count * (SELECT avg(22 + length(member))` + sampleValues + `sets` + ofSample + `
		WHEN 'zset' THEN count * (SELECT avg(50 + 2 * length(member))` + sampleValues + `zsets` + ofSample + `
		WHEN 'stream' THEN 50 + ifnull(count * (SELECT avg(30 + length(fields))` + sampleValues + `stream_entries` + ofSample + `, 0)
			+ 80 * (SELECT count(*) FROM stream_pending WHERE key_id = keys.id)
		WHEN 'array' THEN count * (SELECT avg(16 + length(value))` + sampleValues + `arrays` + ofSample + `
		WHEN 'vectorset' THEN count * ((SELECT size FROM vector_sets WHERE key_id = keys.id)
			+ (SELECT avg(30 + 2 * length(element) + ifnull(length(attributes), 0))` + sampleValues + `vectors` + ofSample + `)
		WHEN '` + jsonType + `' THEN (SELECT 10 + length(value) FROM documents WHERE key_id = keys.id)
		ELSE 0 END AS INTEGER) FROM keys WHERE ` + live
)

// memoryUsage estimates what a key takes from as many of its elements as SAMPLES
// says, five unless told otherwise, and from all for 0.
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
	}, c.stmt(sqlMemoryUsage, c.Args[2], store.Digits(samples)))
}
