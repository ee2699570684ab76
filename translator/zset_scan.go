package translator

// The twin of a set's page (hashed_scan.go), in the order of the scores. A small
// sorted set without a long member shows whole scores in all their digits, up to
// 2^62: Redis's small encoding keeps them as integers.
const (
	sqlZSetPage = `WITH page(id, type, first, last, compact) AS MATERIALIZED (
		SELECT id, type, -1, ` + beyondHashes + `, (SELECT max(length(member)) <= 64 FROM zsets WHERE key_id = id) FROM keys WHERE ` + live + ` AND count <= 128
		UNION ALL SELECT id, type, ?4, ifnull(
			(SELECT hash FROM zsets WHERE key_id = id AND hash > ?4 ORDER BY hash LIMIT 1 OFFSET CAST(?5 AS INTEGER)), ` + beyondHashes + `), false
		FROM keys WHERE ` + live + ` AND count > 128)
	SELECT p.type, p.last, z.member, iif(p.compact AND ` + wholeScore + `, CAST(CAST(z.score AS INTEGER) AS TEXT), z.score) FROM page p
	LEFT JOIN zsets z ON z.key_id = p.id AND z.hash > p.first AND z.hash <= p.last ORDER BY z.score, z.member`

	wholeScore = `(z.score = CAST(z.score AS INTEGER) AND abs(z.score) <= 4611686018427387904.0)`
)
