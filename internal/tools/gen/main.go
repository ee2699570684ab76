// Command gen writes the pages that are generated from the code: docs/commands.md from the command table, and
// docs/packages.md from the packages' doc comments.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"

	"github.com/meowdis/meowdis/internal/tools/repo"
	"github.com/meowdis/meowdis/redis/commands"
)

func main() {
	repo.Enter()
	packages, err := packagesPage()
	if err == nil {
		err = os.WriteFile("docs/packages.md", packages, 0o644)
	}
	if err == nil {
		err = os.WriteFile("docs/commands.md", commandsPage(commands.All()), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// packagesPage returns a table of the packages with the first sentence of their documentation.
func packagesPage() ([]byte, error) {
	const module = "github.com/meowdis/meowdis/"
	var lines []string
	for _, dir := range []string{".", "internal/tools"} {
		list := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...")
		list.Dir, list.Env = dir, append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the packages of %s: %w", dir, err)
		}
		lines = slices.AppendSeq(lines, strings.Lines(string(out)))
	}
	slices.Sort(lines)
	var b bytes.Buffer
	b.WriteString("# Packages\n\n```sh\ngo doc ./translator      # what a package exports\n```\n\nGenerated from the doc comments by `make generate`. [The design](design.md) shows how they fit together, and\n" +
		"`imports.txt` which package may import which.\n\n| Package | |\n|---|---|\n")
	for _, line := range lines {
		path, doc, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name, inside := strings.CutPrefix(path, module); inside && doc != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(doc, "|", `\|`))
		}
	}
	return b.Bytes(), nil
}

// groups lists the groups in the order of the page, with their headings.
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
	fmt.Fprintf(&b, "# Commands\n\n```sh\nmeowdis help ZADD              # options, history, related commands\nmeowdis exec COMMAND DOCS zadd\n```\n\nGenerated from the command table by `make generate`: %d commands and subcommands.\n"+
		"Commands marked *compared* return the same bytes as redis-server 8.0; commands marked *documented* follow\n"+
		"their documentation. [compatibility.md](compatibility.md) lists the differences.\n", len(table))
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

// status returns the evidence for a command: compared with redis-server, or documented.
func status(c *commands.Command) string {
	if c.Since < "8.1" && c.Flags&commands.Module == 0 {
		return "compared"
	}
	return "documented"
}
