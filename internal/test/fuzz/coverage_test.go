package fuzz

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// enough cases of each group show every command with every option.
const enough = 200

// TestCoverage asks Redis for its commands and their options. Each that meowdis
// has, too, must be made up, or be left out for a reason.
func TestCoverage(t *testing.T) {
	server := newSides(t).version
	drawn := drawnWords(t, server)
	options := redisOptions(t)
	for _, c := range commands.All() {
		known, here := options[c.Name], drawn[c.Name]
		switch {
		case known == nil && excluded[c.Name] != "" && excluded[c.Name] != ofUpstash && !server.Before(oracle.Version(c.Since)):
			t.Errorf("%s is left out, but Redis does not have it", c.Name)
		case known == nil || excluded[c.Name] != "" || !slices.Contains(groups, groupOf(c)):
			continue
		case here == nil:
			t.Errorf("%s is never made up", c.Name)
			continue
		}
		for option := range known {
			if !here[option] && excludedOptions[c.Name+" "+option] == "" {
				t.Errorf("%s is never made up with %s", c.Name, option)
			}
		}
	}
	for _, reasons := range []map[string]string{excluded, excludedOptions} {
		for name := range reasons {
			command, option, _ := strings.Cut(name, " ")
			if c := commands.Lookup(name); c == nil && !options[command][option] {
				t.Errorf("%s has a reason, but no case has it", name)
			}
		}
	}
}

// drawnWords are the words of the calls that are made up, in upper case, by
// command.
func drawnWords(t *testing.T, server oracle.Version) map[string]map[string]bool {
	all, drawn := drawable(t, server), map[string]map[string]bool{}
	for _, group := range groups {
		if len(all[group]) == 0 {
			continue
		}
		for seed := range uint64(enough) {
			for _, step := range newGenerator(all, group, seed).generate(caseLength) {
				if step.age > 0 {
					continue
				}
				name := nameOf(step.args)
				if drawn[name] == nil {
					drawn[name] = map[string]bool{}
				}
				for _, word := range step.args {
					drawn[name][strings.ToUpper(string(word))] = true
				}
			}
		}
	}
	return drawn
}

// redisOptions are the commands that Redis documents, with the words that they
// know.
func redisOptions(t *testing.T) map[string]map[string]bool {
	known := map[string]map[string]bool{}
	var document func(name string, facts resp.Value)
	document = func(name string, facts resp.Value) {
		name = strings.ToUpper(name)
		known[name] = map[string]bool{}
		for label, fact := range entries(facts) {
			switch label {
			case "arguments":
				options(fact, known[name])
			case "subcommands":
				for sub, facts := range entries(fact) {
					document(strings.ReplaceAll(sub, "|", " "), facts)
				}
			}
		}
	}
	for name, facts := range entries(oracle.Start(t).Dial(t).Do(words("COMMAND", "DOCS")...)) {
		document(name, facts)
	}
	if len(slices.Collect(maps.Keys(known))) < 300 {
		t.Fatalf("Redis documents only %d commands", len(known))
	}
	return known
}

// options adds the words of arguments, and of what is inside of them.
func options(arguments resp.Value, to map[string]bool) {
	for _, argument := range arguments.Elems {
		for label, fact := range entries(argument) {
			switch label {
			case "token":
				to[strings.ToUpper(string(fact.Str))] = true
			case "arguments":
				options(fact, to)
			}
		}
	}
}

// entries are those of a flat list of pairs.
func entries(pairs resp.Value) map[string]resp.Value {
	all := map[string]resp.Value{}
	for pair := range slices.Chunk(pairs.Elems, 2) {
		all[string(pair[0].Str)] = pair[1]
	}
	return all
}
