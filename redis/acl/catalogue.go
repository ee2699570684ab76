package acl

import (
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/commands"
)

// catalogueEntry is a command that rules may name. Commands that only other servers run are included,
// so their rules work here too.
type catalogueEntry struct {
	name         string // in Redis's form for rules: "get", "config|get"
	bit          int
	subs         []int // the bits of its subcommands
	isSubcommand bool  // a subcommand
	categories   []string
}

// catalogue holds the commands that rules may name.
type catalogue struct {
	commands []*catalogueEntry // in the order of the tables
	byName   map[string]*catalogueEntry
	bitOf    []int // bit of each command in commands, by command ID
}

// theCatalogue is built on first use: most processes have no ACL users.
var theCatalogue = sync.OnceValue(func() *catalogue {
	all := &catalogue{byName: map[string]*catalogueEntry{}, bitOf: make([]int, len(commands.All()))}
	for _, table := range []*commands.Table{commands.Ours, commands.Unsupported} {
		for _, c := range table.All() {
			bit := all.add(c)
			if table == commands.Ours {
				all.bitOf[c.ID()] = bit
			}
		}
	}
	return all
})

// add returns c's bit, and appends c first if its name is new. A container comes before its
// subcommands.
func (all *catalogue) add(c *commands.Command) int {
	parent, sub, isSub := strings.Cut(c.Name, " ")
	if parent = strings.ToLower(parent); parent == "debug" && isSub {
		// Redis has no table entries for DEBUG's subcommands: rules treat them as first arguments.
		return all.byName[parent].bit
	}
	name := parent
	if isSub {
		name += "|" + strings.ToLower(sub)
	}
	if k := all.byName[name]; k != nil {
		return k.bit
	}
	k := &catalogueEntry{name: name, bit: len(all.commands), isSubcommand: isSub, categories: c.ACLCategories()}
	all.commands, all.byName[name] = append(all.commands, k), k
	if isSub {
		all.byName[parent].subs = append(all.byName[parent].subs, k.bit)
	}
	return k.bit
}

// words returns the length of a bit set with one bit per command.
func (all *catalogue) words() int { return (len(all.commands) + 63) / 64 }

// entryOf returns the catalogue entry of cmd.
func (all *catalogue) entryOf(cmd *commands.Command) *catalogueEntry {
	return all.commands[all.bitOf[cmd.ID()]]
}

// lookup finds a command by the name in a rule ("get", "config|get"), in any case. It returns
// nil if the name is unknown.
func lookup(name string) *catalogueEntry { return theCatalogue().byName[strings.ToLower(name)] }

// category returns the commands of a category, named in any case. ok is false if the category
// is unknown.
func category(name string) (members []*catalogueEntry, ok bool) {
	name = strings.ToLower(name)
	if !slices.Contains(commands.Categories(), name) {
		return nil, false
	}
	for _, k := range theCatalogue().commands {
		if slices.Contains(k.categories, name) {
			members = append(members, k)
		}
	}
	return members, true
}
