package commands_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestModuleCategories compares with the "ACL categories" of redis.io/docs/latest/commands/json.get and others.
func TestModuleCategories(t *testing.T) {
	for name, want := range map[string]string{
		"JSON.GET": "read slow json", "JSON.SET": "write slow json", "FT.SEARCH": "read search", "TS.ADD": "write timeseries",
		"BF.RESERVE": "write fast bloom", "CF.ADD": "write cuckoo", "CMS.INFO": "read fast cms", "TOPK.LIST": "read topk", "TDIGEST.MIN": "read fast tdigest",
	} {
		cmd := commands.Lookup(name)
		if got := strings.Join(cmd.ACLCategories(), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
