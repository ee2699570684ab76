package corpus_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// The places of COMMAND INFO's facts.
var infoFacts = []string{"name", "arity", "flags", "first key", "last key", "step", "categories", "tips", "key specs"}

// grown are the facts that are not those of Redis 7.0 any more.
var grown = map[string]bool{
	"ZRANK arity": true, "ZREVRANK arity": true, "COMMAND GETKEYS arity": true, "COMMAND GETKEYSANDFLAGS arity": true,
	"BLPOP flags": true, "BRPOP flags": true, "BLMOVE flags": true, "BRPOPLPUSH flags": true, "BZPOPMIN flags": true, "BZPOPMAX flags": true,
	"WAIT flags": true, "WAIT categories": true, "SINTERSTORE key specs": true, "MSETNX tips": true, "SCAN tips": true, "RANDOMKEY tips": true,
	"LATENCY RESET tips": true, "CLUSTER SHARDS flags": true, "CLUSTER SLOTS flags": true,
	"ACL DELUSER tips": true, "ACL SAVE tips": true, "ACL SETUSER tips": true,
	"CLIENT SETNAME tips": true, "CONFIG RESETSTAT tips": true, "CONFIG REWRITE tips": true,
}

// mended are the facts that security fixes of 2026 changed in 8.0. Not every 8.0.2 has them.
var mended = map[string]bool{
	"XREAD key specs": true, "XREADGROUP key specs": true, "GEORADIUS key specs": true, "GEORADIUSBYMEMBER key specs": true,
}

// TestCommandInfo compares what COMMAND INFO says of every command with what
// redis-server says, as far as it knows the command.
func TestCommandInfo(t *testing.T) {
	server := oracle.Start(t).Dial(t)
	version := server.Version()
	ours := memorySession(t)
	isMended := server.Do([]byte("COMMAND"), []byte("GETKEYS"), []byte("XREAD"), []byte("STREAMS"), []byte("a"), []byte("b"), []byte("0")).IsError()
	for _, c := range commands.All() {
		name := strings.ReplaceAll(strings.ToLower(c.Name), " ", "|")
		want := server.Do([]byte("COMMAND"), []byte("INFO"), []byte(name)).Elems[0]
		got := resp.Downgrade(infoOf(t, ours, name))
		if strings.HasPrefix(c.Name, "V") {
			continue // of a module in 8.0, which says nothing of their words
		}
		if want.IsNull() {
			// A module counts its own versions, and Redis's DEBUG is one command.
			if !version.Before(oracle.Version(c.Since)) && c.Flags&commands.Module == 0 && !strings.HasPrefix(c.Name, "DEBUG ") {
				t.Errorf("%s is since %s, but redis-server does not know it", c.Name, c.Since)
			}
			continue
		}
		for i, fact := range infoFacts {
			step := corpus.Step{}
			if fact != "name" {
				step.Notes = []string{"unordered"}
			}
			same, changed := step.Same(got.Elems[i], withoutNotes(want.Elems[i])), version.Before("8.0") && grown[c.Name+" "+fact]
			if mended[c.Name+" "+fact] && !isMended {
				continue
			}
			if changed && !version.Before("7.1") { // somewhere on the way to 8.0
				continue
			}
			if same == changed {
				t.Errorf("%s: %s:\n%s\nredis-server:\n%s", c.Name, fact, corpus.Show(got.Elems[i]), corpus.Show(want.Elems[i]))
			}
		}
	}
}

// TestCommandDocs compares COMMAND DOCS with redis-server's, except the summaries, which are ours, and vector
// sets, which 8.0 does not document. With -update it writes the facts that Docs reads.
func TestCommandDocs(t *testing.T) {
	server := oracle.Start(t).Dial(t)
	if server.Version().Before("8.0") {
		t.Skip("docs are those of Redis 8.0")
	}
	server.Do([]byte("HELLO"), []byte("3"))
	docs := map[string]resp.Value{}
	var facts strings.Builder
	for _, c := range commands.All() {
		name := []byte(c.WireName())
		reply := server.Do([]byte("COMMAND"), []byte("DOCS"), name)
		if len(reply.Elems) < 2 || strings.HasPrefix(c.Name, "V") {
			continue
		}
		docs[c.Name] = reply.Elems[1]
		writeFacts(&facts, string(name), reply.Elems[1])
	}
	if *update {
		if err := os.WriteFile("../../../redis/commands/facts.txt", []byte(facts.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name, want := range docs {
		compared := func(docs resp.Value) string { // a subcommand is compared by itself
			return corpus.Show(dropEntries(docs, "summary", "subcommands"))
		}
		if got, want := compared(commands.Lookup(name).Docs()), compared(want); got != want {
			t.Errorf("%s:\n%s\nredis-server:\n%s", name, got, want)
		}
	}
	if len(docs) < 300 {
		t.Errorf("only %d commands are compared", len(docs))
	}
}

// dropEntries returns a map without the entries of these names.
func dropEntries(v resp.Value, names ...string) resp.Value {
	var kept []resp.Value
	for entry := range slices.Chunk(v.Elems, 2) {
		if !slices.Contains(names, string(entry[0].Str)) {
			kept = append(kept, entry...)
		}
	}
	v.Elems = kept
	return v
}

// writeFacts writes a reply of COMMAND DOCS as commands/facts.txt has it.
func writeFacts(b *strings.Builder, name string, docs resp.Value) {
	fmt.Fprintf(b, "command %s\n", name)
	for entry := range slices.Chunk(docs.Elems, 2) {
		switch field, value := string(entry[0].Str), entry[1]; field {
		case "complexity", "deprecated_since", "replaced_by":
			fmt.Fprintf(b, "%s %s\n", field, value.Str)
		case "doc_flags":
			fmt.Fprintf(b, "%s %s\n", field, joined(value))
		case "history":
			for _, change := range value.Elems {
				fmt.Fprintf(b, "history %s\n", joined(change))
			}
		case "arguments":
			writeArguments(b, value, "")
		}
	}
}

func writeArguments(b *strings.Builder, args resp.Value, indent string) {
	for _, arg := range args.Elems {
		var name, words string
		var inner resp.Value
		for entry := range slices.Chunk(arg.Elems, 2) {
			switch field, value := string(entry[0].Str), entry[1]; field {
			case "name":
				name = string(value.Str)
			case "type":
				words = name + " " + string(value.Str)
			case "display_text":
				if string(value.Str) != name {
					words += " display=" + string(value.Str)
				}
			case "key_spec_index":
				words += fmt.Sprintf(" spec=%d", value.Int)
			case "flags":
				words += " " + joined(value)
			case "arguments":
				inner = value
			default:
				words += " " + field + "=" + string(value.Str)
			}
		}
		fmt.Fprintf(b, "%sarg %s\n", indent, words)
		writeArguments(b, inner, indent+" ")
	}
}

func joined(v resp.Value) string {
	words := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		words[i] = string(e.Str)
	}
	return strings.Join(words, " ")
}

func memorySession(t *testing.T) *engine.Session {
	t.Helper()
	now := int64(start)
	s, err := local.Open(local.Memory, local.Options{Now: func() int64 { return now }, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return newEngine(s, &now).Session()
}

func infoOf(t *testing.T, s *engine.Session, name string) resp.Value {
	t.Helper()
	v, err := s.Do(t.Context(), []byte("COMMAND"), []byte("INFO"), []byte(name))
	if err != nil {
		t.Fatal(err)
	}
	return v.Elems[0]
}

// withoutNotes drops the remarks that Redis adds to some key specs.
func withoutNotes(v resp.Value) resp.Value {
	out := v
	out.Elems = nil
	for i := 0; i < len(v.Elems); i++ {
		if string(v.Elems[i].Str) == "notes" {
			i++
			continue
		}
		out.Elems = append(out.Elems, withoutNotes(v.Elems[i]))
	}
	return out
}

// TestCommandCount checks that COMMAND counts and lists what it describes.
func TestCommandCount(t *testing.T) {
	ours := memorySession(t)
	ask := func(words ...string) resp.Value {
		args := make([][]byte, len(words))
		for i, w := range words {
			args[i] = []byte(w)
		}
		v, err := ours.Do(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	all, count, list := ask("COMMAND"), ask("COMMAND", "COUNT"), ask("COMMAND", "LIST")
	if int64(len(all.Elems)) != count.Int {
		t.Errorf("COMMAND describes %d commands and COUNT says %d", len(all.Elems), count.Int)
	}
	subs := 0
	for _, c := range all.Elems {
		subs += len(c.Elems[9].Elems)
	}
	if len(list.Elems) != len(all.Elems)+subs || len(list.Elems) != len(commands.All()) {
		t.Errorf("COMMAND LIST names %d commands; there are %d and %d subcommands", len(list.Elems), len(all.Elems), subs)
	}
	if docs := ask("COMMAND", "DOCS"); len(docs.Elems) != 2*len(all.Elems) {
		t.Errorf("COMMAND DOCS documents %d commands of %d", len(docs.Elems)/2, len(all.Elems))
	}
}
