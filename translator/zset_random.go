package translator

// These correspond to the statements for sets and hashes (elements_random.go).
const (
	sqlZMembers    = `SELECT member, score FROM zsets WHERE key_id = ` + liveID
	sqlPickZMember = `WITH place(id, start, steps) AS MATERIALIZED (
			SELECT id, 0, ?5 % max(1, count) FROM keys WHERE ` + live + ` AND count <= 1024
			UNION ALL SELECT id, iif(n > steps, ?4, 0), iif(n > steps, steps, steps - n) FROM (
				SELECT id, ?5 % 128 AS steps,
					(SELECT count(*) FROM (SELECT 1 FROM zsets WHERE key_id = id AND hash >= ?4 LIMIT 128)) AS n
				FROM keys WHERE ` + live + ` AND count > 1024))
		SELECT member, score FROM zsets
		WHERE key_id = (SELECT id FROM place) AND hash >= (SELECT start FROM place)
		ORDER BY hash, member LIMIT 1 OFFSET ifnull((SELECT steps FROM place), 0)`
)

var zsetSampler = sampler{zsetType, sqlZCard, sqlZMembers, sqlPickZMember}

func zrandmember(c *Call) Plan { return zsetSampler.withPairs(c, "WITHSCORES", scored) }
