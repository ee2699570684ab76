package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/indexes"
)

func TestPrefixes(t *testing.T) {
	s := Summary{Separator: []byte(":"), Depth: 2}
	for _, name := range []string{"a:b:c", "a:b:d", "a:x", "plain", ":", "::", "a:"} {
		s.Add([]keyspace.Key{{Name: []byte(name), Type: "string", TTL: -1, Count: 1, Bytes: 1}})
	}
	groups, all := s.PrefixGroups(10)
	var got []string
	for _, g := range groups {
		got = append(got, fmt.Sprintf("%s=%d", g.Name, g.Keys))
	}
	slices.Sort(got)
	if want := []string{"::=1", ":=1", "=1", "a:=2", "a:b:=2"}; !slices.Equal(got, want) || all != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPrefixesWithoutEnd counts as many prefixes as keys in little memory without losing a key.
func TestPrefixesWithoutEnd(t *testing.T) {
	s := Summary{Separator: []byte(":")}
	for i := range maxPrefixes + 1000 {
		s.Add([]keyspace.Key{{Name: fmt.Appendf(nil, "%d:x", i), Type: "string", TTL: -1, Count: 1, Bytes: 1}})
	}
	groups, all := s.PrefixGroups(1)
	if all != maxPrefixes+1 || groups[0].Name != OtherPrefixes || groups[0].Keys != 1000 {
		t.Errorf("%d prefixes, the largest is %+v", all, groups[0])
	}
}

func TestLifetimes(t *testing.T) {
	for _, test := range []struct {
		ttl  int64
		want string
	}{{-1, "for ever"}, {0, "under a minute"}, {59_999, "under a minute"}, {60_000, "under an hour"}, {30 * 86400_000, "longer"}, {1 << 60, "longer"}} {
		if got := lifetimes[lifetime(test.ttl)].name; got != test.want {
			t.Errorf("%d ms is %s, want %s", test.ttl, got, test.want)
		}
	}
}

func TestRanking(t *testing.T) {
	s := Summary{Top: 3}
	for _, n := range []int64{5, 1, 9, 9, -1, 7, 3} {
		s.Add([]keyspace.Key{{Name: fmt.Appendf(nil, "k%d", n), Type: "string", TTL: -1, Bytes: n}})
	}
	var got []string
	for _, k := range s.Largest {
		got = append(got, string(k.Name))
	}
	if want := []string{"k9", "k7", "k5"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestReportFits checks every line of a report against several terminal widths.
func TestReportFits(t *testing.T) {
	s := Summary{Separator: []byte(":"), Top: 5}
	for i, name := range []string{"short", strings.Repeat("long:", 60), "猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫:x", "bin\x00\xff\x1b[31m:y", "cat:1"} {
		typ := []string{"string", "hash", "ReJSON-RL", "zset", "list"}[i]
		s.Add([]keyspace.Key{{Name: []byte(name), Type: typ, TTL: int64(i)*1e6 - 1, Count: 1 << (10 * i), Bytes: 1 << (11 * i)}})
	}
	many := Summary{Separator: []byte(":"), Top: 5}
	for range 1_200_000 / 1000 {
		many.Add(slices.Repeat([]keyspace.Key{{Name: []byte("a"), Type: "string", TTL: -1, Bytes: 1000}}, 1000))
	}
	searched := []indexes.Index{{Name: strings.Repeat("\x1bgoods", 20), Docs: 1e6, Bytes: 1 << 30}, {Name: "shut", Err: keyspace.Refusal("NOPERM")}}
	for _, width := range []int{40, 60, 80, 200} {
		text := Report{Width: width, Keys: 1_200_000, Indexes: searched}.Stats(&many, 10)
		if width > 40 {
			text += Report{Width: width, Keys: 5}.Stats(&s, 10)
		}
		for _, line := range strings.Split(text, "\n") {
			if w := ansi.StringWidth(line); w > width {
				t.Errorf("%d cells, not %d: %s", w, width, line)
			}
			if strings.ContainsAny(line, "\x1b\x00") {
				t.Errorf("a control character: %q", line)
			}
		}
	}
	if text := (Report{Width: 80, Indexes: searched}).Stats(&Summary{}, 10); !strings.Contains(text, "1,000,000  1.0 GB") || !strings.Contains(text, "shut") {
		t.Errorf("the indexes of an empty database: %s", text)
	}
	if text := (Report{Width: 80, Keys: 5, Colour: true}).Stats(&s, 10); !strings.Contains(text, "\x1b[36m█") {
		t.Errorf("no colour in %s", text)
	}
}
