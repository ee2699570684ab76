package translator_test

import "testing"

// TestHGetExWithoutFields expects the replies of Redis 8.0 since its security fixes of 2026 (8.0.2-3+deb13u3 of
// Debian), which not every 8.0.2 has.
func TestHGetExWithoutFields(t *testing.T) {
	const arity, fields = "-ERR wrong number of arguments for 'hgetex' command", "-ERR Mandatory argument FIELDS is missing or not at the right position"
	newClient(t).expect(
		"HGETEX h EX 10 PERSIST", arity,
		"HGETEX h EX 10 FIELDS", arity,
		"HGETEX h PX 10 x", arity,
		"HGETEX h EX x PERSIST", "-ERR value is not an integer or out of range",
		"HGETEX h EX 10 PX 10", fields,
		"HGETEX h PERSIST EX 10", fields,
	)
}
