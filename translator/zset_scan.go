package translator

// The twin of a set's page (hashed_scan.go), in the order of the scores.
const sqlZSetPage = `WITH page(id, type, first, last) AS MATERIALIZED (
		SELECT id, type, 0, ` + beyondHashes + ` FROM keys WHERE ` + live + ` AND count <= 128
		UNION ALL SELECT id, type, ?4, ifnull(
			(SELECT hash FROM zsets WHERE key_id = id AND hash > ?4 ORDER BY hash LIMIT 1 OFFSET CAST(?5 AS INTEGER)), ` + beyondHashes + `)
		FROM keys WHERE ` + live + ` AND count > 128)
	SELECT p.type, p.last, z.member, z.score FROM page p
	LEFT JOIN zsets z ON z.key_id = p.id AND z.hash > p.first AND z.hash <= p.last ORDER BY z.score, z.member`
