// Command gen writes the files that are made from the code: docs/commands.md from
// the command table.
package main

import (
	"bytes"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
)

func main() {
	if err := os.WriteFile("docs/commands.md", commandsPage(commands.All()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// groups is the order of the page, and what its headings say.
var groups = []struct{ name, title string }{
	{"string", "Strings"}, {"hash", "Hashes"}, {"list", "Lists"}, {"set", "Sets"}, {"sorted-set", "Sorted sets"},
	{"stream", "Streams"}, {"geo", "Geo"}, {"bitmap", "Bitmaps"}, {"hyperloglog", "HyperLogLog"}, {"array", "Arrays"},
	{"module", "Vector sets, JSON and rate limiting"},
	{"generic", "Keys"}, {"transactions", "Transactions"}, {"scripting", "Scripting"}, {"pubsub", "Messages"}, {"connection", "Connection"}, {"server", "Server"}, {"cluster", "Cluster"},
}

func commandsPage(table []*commands.Command) []byte {
	byGroup := map[string][]*commands.Command{}
	for _, c := range table {
		byGroup[c.Group] = append(byGroup[c.Group], c)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Commands\n\nGenerated from the command table by `make generate`: %d commands and subcommands.\n"+
		"Those marked *compared* answer byte for byte as redis-server 8.0, those marked *documented* as their\n"+
		"documentation says. What differs stands in [compatibility.md](compatibility.md).\n", len(table))
	for _, g := range groups {
		if len(byGroup[g.name]) > 0 {
			section(&b, g.title, byGroup[g.name])
			delete(byGroup, g.name)
		}
	}
	if len(byGroup) > 0 {
		panic(fmt.Sprintf("gen: groups without a heading: %v", byGroup))
	}
	return b.Bytes()
}

func section(b *bytes.Buffer, title string, group []*commands.Command) {
	sort.Slice(group, func(i, j int) bool { return group[i].Name < group[j].Name })
	fmt.Fprintf(b, "\n## %s\n\n| Command | Since | Status | |\n|---|---|---|---|\n", title)
	for _, c := range group {
		usage := strings.TrimSpace(c.Name + " " + c.Syntax)
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", strings.ReplaceAll(usage, "|", `\|`), c.Since, status(c), strings.ReplaceAll(c.Summary, "|", `\|`))
	}
}

// status says what the command was compared with.
func status(c *commands.Command) string {
	if c.Since < "8.1" && c.Flags&commands.Module == 0 {
		return "compared"
	}
	return "documented"
}
