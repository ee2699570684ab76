package translator_test

import (
	"strings"
	"testing"
)

// TestDumpKeepsReleasedEntries expects entries that XNACK released to be pending after DUMP and RESTORE, whose format
// stores pending entries only with a consumer.
func TestDumpKeepsReleasedEntries(t *testing.T) {
	c := newClient(t)
	for _, line := range []string{
		"XADD s 1-1 a b", "XADD s 2-1 a b", "XADD s 3-1 a b", "XGROUP CREATE s g 0", "XREADGROUP GROUP g me STREAMS s >",
		"XNACK s g FATAL IDS 2 1-1 3-1",
	} {
		if v := c.do(strings.Fields(line)...); v.IsError() {
			t.Fatalf("%s: %s", line, v.Str)
		}
	}
	c.do("RESTORE", "restored", "0", string(c.do("DUMP", "s").Str))
	c.expect("XPENDING restored g", "*4 :3 $3 1-1 $3 3-1 *2 *2 $0  $1 2 *2 $2 me $1 1",
		"XCLAIM restored g you 1000000 1-1 3-1 JUSTID", "*2 $3 1-1 $3 3-1",
		"XPENDING restored g 3-1 3-1 1", "*1 *4 $3 3-1 $3 you :0 :9223372036854775807")
}
