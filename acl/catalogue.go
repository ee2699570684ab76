package acl

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/commands"
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

// The catalogue of commands: in the order of the tables, by the name in lower case, and the
// bit of each of our commands by its ID.
var (
	catalogue []*known
	byName    = map[string]*known{}
	bitOf     []int
)

// words are the sets of bits that hold one for each command.
var words int

func init() {
	bitOf = make([]int, len(commands.All()))
	for _, table := range []*commands.Table{commands.Ours, commands.Elsewhere} {
		for _, c := range table.All() {
			parent, sub, isSub := strings.Cut(c.Name, " ")
			if parent = strings.ToLower(parent); parent == "debug" && isSub {
				// Redis has DEBUG's subcommands in no table: to rules they are first arguments.
				bitOf[c.ID()] = byName[parent].bit
				continue
			}
			name := parent
			if isSub {
				name += "|" + strings.ToLower(sub)
			}
			k := byName[name]
			if k == nil {
				k = &known{name: name, bit: len(catalogue), ofAnother: isSub, categories: c.ACLCategories()}
				catalogue, byName[name] = append(catalogue, k), k
				if isSub {
					byName[parent].subs = append(byName[parent].subs, k.bit)
				}
			}
			if table == commands.Ours {
				bitOf[c.ID()] = k.bit
			}
		}
	}
	words = (len(catalogue) + 63) / 64
}

// lookup finds the command of a rule by its name in any case, as "get" or "config|get"; nil
// for an unknown one.
func lookup(name string) *known { return byName[strings.ToLower(name)] }

// category finds the commands of a category by its name in any case. Of an unknown one ok
// is false.
func category(name string) (members []*known, ok bool) {
	name = strings.ToLower(name)
	if !slices.Contains(commands.Categories(), name) {
		return nil, false
	}
	for _, k := range catalogue {
		if slices.Contains(k.categories, name) {
			members = append(members, k)
		}
	}
	return members, true
}
