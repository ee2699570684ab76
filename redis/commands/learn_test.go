package commands_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

func words(line string) (args [][]byte) {
	for _, w := range strings.Fields(line) {
		args = append(args, []byte(w))
	}
	return args
}

// TestLearn learns the commands of a real server, and compares them with ours.
func TestLearn(t *testing.T) {
	server := oracle.Start(t).Dial(t)
	table := commands.Learn(server.Do(words("COMMAND")...), server.Do(words("COMMAND DOCS")...))
	for _, line := range []string{"GET k", "SET k v GET", "OBJECT ENCODING k", "XREAD STREAMS a b 0 0", "ZUNION 2 a b", "SORT l STORE d", "MIGRATE h 1 k 0 5", "SLOWLOG GET"} {
		c, bad := table.Find(words(line))
		if c == nil {
			t.Errorf("%s: %s", line, bad.Str)
			continue
		}
		own := commands.Called(words(line))
		if own == nil {
			continue
		}
		if c.Flags&(commands.Write|commands.ReadOnly) != own.Flags&(commands.Write|commands.ReadOnly) || c.Arity != own.Arity || c.Group != own.Group {
			t.Errorf("%s: learned %+v, ours is %+v", line, c, own)
		}
		if got, want := positions(c.KeysOf(words(line))), positions(own.KeysOf(words(line))); !slices.Equal(got, want) {
			t.Errorf("%s: keys at %v, want %v", line, got, want)
		}
	}
	if c := table.Lookup("SLOWLOG GET"); c == nil || !strings.Contains(c.Syntax, "[count]") || c.Summary == "" {
		t.Errorf("SLOWLOG GET is %+v", c)
	}
	if table.Lookup("JSON.GET") != nil {
		t.Error("the server has no JSON")
	}
	if c := table.Lookup("SETRANGE"); c == nil || c.Syntax != "key offset value" {
		t.Errorf("SETRANGE is %+v", c)
	}
}

func positions(refs []commands.KeyRef) (all []int) {
	for _, r := range refs {
		all = append(all, r.Pos)
	}
	return all
}

// TestLearnWithoutDocs learns from a server of 6.2: what commands take is ours.
func TestLearnWithoutDocs(t *testing.T) {
	get := resp.MakeArray(resp.MakeString("get"), resp.MakeInt(2), resp.MakeArray(resp.MakeStatus("readonly"), resp.MakeStatus("fast")),
		resp.MakeInt(1), resp.MakeInt(1), resp.MakeInt(1), resp.MakeArray())
	table := commands.Learn(resp.MakeArray(get, resp.Nil), resp.MakeError("ERR unknown subcommand"))
	c := table.Lookup("GET")
	if c == nil || c.Syntax != "key" || c.Summary == "" || c.Flags != commands.ReadOnly|commands.Fast || len(c.KeysOf(words("GET k"))) != 1 {
		t.Errorf("GET is %+v", c)
	}
	if len(table.All()) != 1 {
		t.Errorf("%d commands", len(table.All()))
	}
	if odd := commands.Learn(resp.MakeError("ERR no"), resp.Nil); len(odd.All()) != 0 {
		t.Errorf("%d commands of an error", len(odd.All()))
	}
}
