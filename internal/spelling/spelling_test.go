package spelling_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/spelling"
)

func TestNearest(t *testing.T) {
	words := strings.Fields("GET SET DEL MGET HGETALL LPUSH RPUSH INCR DECR LSET ZRANGEBYSCORE stats status serve export --keep-going --json json :format :watch")
	for _, test := range []struct{ word, want string }{
		{"gte", "GET"}, {"ste", "SET"}, {"hgetal", "HGETALL"}, {"stattus", "status"}, {"zrnagebyscroe", "ZRANGEBYSCORE"},
		{"--keepgoing", "--keep-going"}, {"jsn", "json"}, {":formt", ":format"}, {"incrr", "INCR"}, {"server", "serve"},
		{"apush", "LPUSH or RPUSH"}, {"det", "GET or SET or DEL"}, {"get", "GET"},
		// As far from each of the words as from many others.
		{"start", ""}, {"list", ""}, {"import", ""}, {"q", ""}, {"", ""}, {":q", ""}, {"--x", ""}, {"zzzzzz", ""}, {"insert", ""}, {"warch", ""},
	} {
		if got := strings.Join(spelling.Nearest(test.word, words), " or "); got != test.want {
			t.Errorf("%q: %q, want %q", test.word, got, test.want)
		}
	}
}
