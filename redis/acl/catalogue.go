package acl

import (
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/commands"
)

// known is a command that rules may name. Those that a server of ours does not run are
// among them, so that the rules of other servers hold here.
type known struct {
	name       string // as Redis writes it in rules: "get", "config|get"
	bit        int
	subs       []int // the bits of its subcommands
	ofAnother  bool  // it is a subcommand
	categories []string
}

// catalogue is what rules may name.
type catalogue struct {
	commands []*known // in the order of the tables
	byName   map[string]*known
	bitOf    []int // of each of our commands, by its ID
}

// theCatalogue is made when it is first needed: most processes know no users.
var theCatalogue = sync.OnceValue(func() *catalogue {
	all := &catalogue{byName: map[string]*known{}, bitOf: make([]int, len(commands.All()))}
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

// add adds a command that comes after its container, unless one of its name is there, and
// returns its bit.
func (all *catalogue) add(c *commands.Command) int {
	parent, sub, isSub := strings.Cut(c.Name, " ")
	if parent = strings.ToLower(parent); parent == "debug" && isSub {
		// Redis has DEBUG's subcommands in no table: to rules they are first arguments.
		return all.byName[parent].bit
	}
	name := parent
	if isSub {
		name += "|" + strings.ToLower(sub)
	}
	if k := all.byName[name]; k != nil {
		return k.bit
	}
	k := &known{name: name, bit: len(all.commands), ofAnother: isSub, categories: c.ACLCategories()}
	all.commands, all.byName[name] = append(all.commands, k), k
	if isSub {
		all.byName[parent].subs = append(all.byName[parent].subs, k.bit)
	}
	return k.bit
}

// words are the sets of bits that hold one for each command.
func (all *catalogue) words() int { return (len(all.commands) + 63) / 64 }

// called is one of our commands.
func (all *catalogue) called(cmd *commands.Command) *known { return all.commands[all.bitOf[cmd.ID()]] }

// lookup finds the command of a rule by its name in any case, as "get" or "config|get"; nil
// for an unknown one.
func lookup(name string) *known { return theCatalogue().byName[strings.ToLower(name)] }

// category finds the commands of a category by its name in any case. Of an unknown one ok
// is false.
func category(name string) (members []*known, ok bool) {
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
