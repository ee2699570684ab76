package transfer_test

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/transfer"
)

// vectorSets returns commands that create vector sets of every kind.
func vectorSets() []string {
	draw := rand.New(rand.NewPCG(1, 2))
	add := func(key string, i, dim int, prefix, options string) string {
		values := ""
		for range dim {
			values += fmt.Sprintf(" %.4f", draw.NormFloat64()*3)
		}
		return fmt.Sprintf("VADD %s %s VALUES %d%s e%d %s", key, prefix, dim, values, i, options)
	}
	var lines []string
	for i := range 40 {
		lines = append(lines,
			add("v:q8", i, 33, "", "Q8"), add("v:bin", i, 70, "", "BIN"), add("v:reduced", i, 20, "REDUCE 9", "M 8"),
			add("v:f32", i, 3, "", fmt.Sprintf(`NOQUANT SETATTR '{"n":%d}'`, i)))
	}
	for i := range 2500 {
		lines = append(lines, add("v:long", i, 2, "", ""))
	}
	return append(lines, `VADD v:q8 VALUES 33`+strings.Repeat(" 0", 33)+` "zero \xff"`, `VSETATTR v:q8 e3 "\xff"`, "PEXPIREAT v:bin 9999999999999")
}

// vectorText formats a vector set, without the last bits of its floats.
func vectorText(t testing.TB, s keyspace.Session, key []byte) string {
	t.Helper()
	out := ""
	for i, v := range do(t, s, []byte("VINFO"), key).Elems {
		if i%2 == 1 && i < 10 {
			out += fmt.Sprint(v.Int, string(v.Str), " ")
		}
	}
	// Servers before 8.4 have no VRANGE.
	names := map[string]bool{}
	for _, name := range do(t, s, []byte("VRANDMEMBER"), key, []byte("1000000")).Elems {
		names[string(name.Str)] = true
	}
	for _, name := range sortedNames(names) {
		raw := do(t, s, []byte("VEMB"), key, []byte(name), []byte("RAW")).Elems
		out += fmt.Sprintf("%q %q ", name, do(t, s, []byte("VGETATTR"), key, []byte(name)).Str)
		if len(raw[1].Str) > 12 || string(raw[0].Str) != "f32" {
			out += fmt.Sprintf("%x ", raw[1].Str)
		}
		for _, f := range raw[2:] {
			n := f.Float
			if f.Str != nil {
				fmt.Sscan(string(f.Str), &n)
			}
			out += fmt.Sprintf("%.4g ", n)
		}
		for i, f := range do(t, s, []byte("VEMB"), key, []byte(name)).Elems {
			n := f.Float
			if f.Str != nil {
				fmt.Sscan(string(f.Str), &n)
			}
			if i < 5 {
				out += fmt.Sprintf("%.3f ", n)
			}
		}
	}
	return out
}

// TestVectorSets moves vector sets to a server and back. A server without vector sets must
// report them.
func TestVectorSets(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	conn := redis.Dial(t)
	file, _ := openLocal(t)
	run(t, file, vectorSets()...)
	want := contents(t, file, 0)
	server := openRedis(t, redis.Socket)
	written, told, err := move(t, file, server, transfer.WriteOptions{})
	if conn.Version().Before("8.0") {
		if err != nil || written.Failed != 5 || len(told) != 5 || !strings.Contains(told[0], "the target does not support keys of type vectorset") {
			t.Errorf("%+v, %v: %v", written, err, told)
		}
		return
	}
	if err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, server, 0), want)
	back, _ := openLocal(t)
	if _, told, err := move(t, server, back, transfer.WriteOptions{}); err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, back, 0), want)
	if lines := append(differences(t, file, server), differences(t, server, file)...); len(lines) > 0 {
		t.Errorf("%q", lines)
	}
}

// TestDumpedVectorSets reads vector sets from a server's own dump file.
func TestDumpedVectorSets(t *testing.T) {
	race.Skip(t)
	oneGoroutine(t)
	dir := t.TempDir()
	redis := oracle.Start(t, "--dir", dir)
	conn := redis.Dial(t)
	if conn.Version().Before("8.0") {
		return
	}
	server := openRedis(t, redis.Socket)
	run(t, server, vectorSets()...)
	run(t, server, "VREM v:f32 e9", "VSETATTR v:f32 e8 ''", "SAVE")
	f, err := os.Open(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var told problems
	to, _ := openLocal(t)
	source := transfer.FromRDB(bufio.NewReader(f), transfer.RDBOptions{Note: func(_ int64, what string) { told = append(told, what) }})
	err = transfer.Run(t.Context(), source, transfer.NewWriter(to, transfer.WriteOptions{Notify: told.add}), told.add, nil)
	if err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, to, 0), contents(t, server, 0))
	if lines := append(differences(t, server, to), differences(t, to, server)...); len(lines) > 0 {
		t.Errorf("%q", lines)
	}
}

// TestDiffOfVectorSets finds a difference in one element.
func TestDiffOfVectorSets(t *testing.T) {
	race.Skip(t)
	oneGoroutine(t)
	for _, c := range []struct{ change, want string }{
		{"VADD v:q8 VALUES 33" + strings.Repeat(" 1", 33) + " e7", `"v:q8": value: vector of element "e7" | another one`},
		{"VSETATTR v:f32 e9 x", `"v:f32": value: attributes of element "e9": "{\"n\":9}" | "x"`},
		{"VREM v:long e2400", `"v:long": value: length 2500 | 2499`},
	} {
		a, _ := openLocal(t)
		b, _ := openLocal(t)
		run(t, a, vectorSets()...)
		run(t, b, vectorSets()...)
		if lines := differences(t, a, b); len(lines) > 0 {
			t.Errorf("they differ: %q", lines)
		}
		run(t, b, c.change)
		if lines := differences(t, a, b); len(lines) != 1 || lines[0] != c.want {
			t.Errorf("%.40s: %q", c.change, lines)
		}
	}
}

func sortedNames(names map[string]bool) []string {
	return slices.Sorted(maps.Keys(names))
}
