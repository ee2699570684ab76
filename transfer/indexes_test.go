package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// wrapped is a session whose calls run through do.
type wrapped struct {
	keyspace.Session
	do func(ctx context.Context, args ...[]byte) (resp.Value, error)
}

func (s wrapped) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	return s.do(ctx, args...)
}

func (s wrapped) Pipeline(ctx context.Context, calls [][][]byte) (replies []resp.Value, err error) {
	for _, args := range calls {
		v, err := s.do(ctx, args...)
		if err != nil {
			return nil, err
		}
		replies = append(replies, v)
	}
	return replies, nil
}

// without returns a session whose server does not know some calls.
func without(s keyspace.Session, refuses func(args [][]byte) bool) keyspace.Session {
	return wrapped{s, func(ctx context.Context, args ...[]byte) (resp.Value, error) {
		if refuses(args) {
			return resp.MakeError(fmt.Sprintf("ERR unknown command '%s', with args beginning with: ", args[0])), nil
		}
		return s.Do(ctx, args...)
	}}
}

// lacking returns a session whose server lacks commands.
func lacking(s keyspace.Session, names ...string) keyspace.Session {
	return without(s, func(args [][]byte) bool { return slices.Contains(names, strings.ToUpper(string(args[0]))) })
}

// sent returns a session whose replies are read as append writes them.
func sent(s keyspace.Session, append func([]byte, resp.Value) []byte) keyspace.Session {
	return wrapped{s, func(ctx context.Context, args ...[]byte) (resp.Value, error) {
		v, err := s.Do(ctx, args...)
		if err != nil {
			return v, err
		}
		return resp.NewReader(bytes.NewReader(append(nil, v))).ReadReply()
	}}
}

func lines(all transfer.Indexes) string {
	var out []string
	for _, command := range all.Commands() {
		out = append(out, strings.Join(asStrings(command), " "))
	}
	return strings.Join(out, "\n")
}

func asStrings(words [][]byte) (out []string) {
	for _, w := range words {
		out = append(out, string(w))
	}
	return out
}

func readIndexes(t *testing.T, s keyspace.Session) (transfer.Indexes, string) {
	t.Helper()
	all, incomplete, err := transfer.ReadIndexes(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return all, incomplete
}

var definitions = []string{
	"FT.CREATE a INDEXALL DISABLE PREFIX 2 a: b: FILTER \"@n > 1\" LANGUAGE french LANGUAGE_FIELD l SCORE 0.5 SCORE_FIELD s PAYLOAD_FIELD p MAXTEXTFIELDS NOOFFSETS NOHL NOFIELDS NOFREQS STOPWORDS 2 der die" +
		" SCHEMA t TEXT NOSTEM WEIGHT 2.5 WITHSUFFIXTRIE INDEXEMPTY INDEXMISSING SORTABLE UNF u AS v TEXT NOINDEX SORTABLE k TAG SEPARATOR ; CASESENSITIVE n NUMERIC SORTABLE g GEO shape GEOSHAPE FLAT sphere GEOSHAPE" +
		" h VECTOR HNSW 10 M 20 TYPE FLOAT32 DIM 2 DISTANCE_METRIC COSINE EF_RUNTIME 10 f VECTOR FLAT 6 TYPE INT8 DIM 3 DISTANCE_METRIC L2 w VECTOR SVS-VAMANA 8 TYPE FLOAT16 DIM 3 DISTANCE_METRIC IP COMPRESSION LVQ8",
	"FT.CREATE b ON JSON STOPWORDS 0 SKIPINITIALSCAN SCHEMA $.a[*] AS a TAG $.b AS b TEXT SORTABLE $.c NUMERIC $.d TAG SEPARATOR ,",
	"FT.SYNUPDATE a group x y", "FT.SYNUPDATE a another x", "FT.ALIASADD z a", "FT.ALIASADD y b",
}

// TestShownIndexes reads definitions from FT.INFO, FT.SYNDUMP and FT.ALIASLIST, as of a Redis server, over both
// protocols.
func TestShownIndexes(t *testing.T) {
	t.Parallel()
	s, _ := openLocal(t)
	run(t, s, definitions...)
	all, incomplete := readIndexes(t, s)
	if want := `FT.CREATE a PREFIX 2 a: b: FILTER @n > 1 LANGUAGE french LANGUAGE_FIELD l SCORE 0.5 SCORE_FIELD s PAYLOAD_FIELD p MAXTEXTFIELDS NOOFFSETS NOHL NOFIELDS NOFREQS STOPWORDS 2 der die` +
		` SCHEMA t TEXT NOSTEM WEIGHT 2.5 WITHSUFFIXTRIE INDEXEMPTY INDEXMISSING SORTABLE UNF u AS v TEXT SORTABLE NOINDEX k TAG SEPARATOR ; CASESENSITIVE n NUMERIC SORTABLE g GEO shape GEOSHAPE FLAT sphere GEOSHAPE` +
		` h VECTOR HNSW 8 TYPE FLOAT32 DIM 2 DISTANCE_METRIC COSINE M 20 f VECTOR FLAT 6 TYPE INT8 DIM 3 DISTANCE_METRIC L2 w VECTOR SVS-VAMANA 8 TYPE FLOAT16 DIM 3 DISTANCE_METRIC IP COMPRESSION LVQ8
FT.SYNUPDATE a another x
FT.SYNUPDATE a group x y
FT.CREATE b ON JSON STOPWORDS 0 SCHEMA $.a[*] AS a TAG $.b AS b TEXT SORTABLE $.c NUMERIC $.d TAG SEPARATOR ,
FT.ALIASADD y b
FT.ALIASADD z a`; lines(all) != want || incomplete != "" {
		t.Errorf("%s\n%s", lines(all), incomplete)
	}
	over := map[string]keyspace.Session{"file": s, "RESP2": sent(s, resp.Append2), "RESP3": sent(s, resp.Append3)}
	for name, s := range over {
		shown, incomplete := readIndexes(t, lacking(s, "FT._DUMP"))
		if lines(shown) != lines(all) || incomplete != "dictionaries" {
			t.Errorf("%s:\n%s\nlacks %s", name, lines(shown), incomplete)
		}
	}
	if _, incomplete := readIndexes(t, lacking(s, "FT._DUMP", "FT.ALIASLIST")); incomplete != "aliases and dictionaries" {
		t.Error(incomplete)
	}
	if none, _ := readIndexes(t, lacking(s, "FT._DUMP", "FT._LIST", "SEARCH.LISTINDEXES")); len(none) > 0 {
		t.Error(none)
	}
}

// TestUpstashIndexes reads definitions of Upstash's search, also as of its server, and replaces one.
func TestUpstashIndexes(t *testing.T) {
	t.Parallel()
	s, _ := openLocal(t)
	run(t, s, "SEARCH.CREATE a SKIPINITIALSCAN ON HASH PREFIX 2 x: y: LANGUAGE french SCHEMA t TEXT NOSTEM FROM u n F64 FAST k KEYWORD", "SEARCH.CREATE b ON STRING PREFIX 1 z: SCHEMA n.m DATE",
		"SEARCH.ALIASADD c a", "SEARCH.ALIASADD d none")
	all, _ := readIndexes(t, s)
	if want := `SEARCH.CREATE a ON HASH PREFIX 2 x: y: LANGUAGE french SCHEMA t TEXT NOSTEM FROM u n F64 FAST k KEYWORD
SEARCH.CREATE b ON STRING PREFIX 1 z: LANGUAGE english SCHEMA n.m DATE
SEARCH.ALIASADD c a
SEARCH.ALIASADD d none`; lines(all) != want {
		t.Error(lines(all))
	}
	shown, incomplete := readIndexes(t, lacking(sent(s, resp.Append2), "FT._DUMP", "FT._LIST"))
	if lines(shown) != lines(all) || incomplete != "" {
		t.Error(lines(shown), incomplete)
	}
	to, _ := openLocal(t)
	run(t, to, "SEARCH.CREATE a ON JSON PREFIX 1 x: SCHEMA t TEXT", "FT.CREATE b SCHEMA t TEXT", "FT.ALIASADD c b")
	refused := func(x *transfer.Index, why string) { t.Error(x, why) }
	if made, err := transfer.WriteIndexes(context.Background(), to, all, transfer.Replace, refused); made != 4 || err != nil {
		t.Error(made, err)
	}
	if now, _ := readIndexes(t, to); lines(now) != lines(all) {
		t.Error(lines(now))
	}
}

// TestRefusedIndexes keeps an existing index, with its aliases, if the server refuses the one that replaces it.
func TestRefusedIndexes(t *testing.T) {
	t.Parallel()
	from, _ := openLocal(t)
	to, _ := openLocal(t)
	run(t, from, "FT.CREATE a SCHEMA new TEXT", "FT.CREATE b SCHEMA x TEXT", "FT.ALIASADD c b", "FT.DICTADD d one two")
	run(t, to, "FT.CREATE a SCHEMA old TEXT", "FT.ALIASADD z a", "FT.DICTADD d two three")
	all, _ := readIndexes(t, from)
	old := "FT.CREATE a SCHEMA old TEXT\nFT.ALIASADD z a\nFT.DICTADD d three two"
	write := func(s keyspace.Session, existing transfer.Existing) (made int, refused []string) {
		made, err := transfer.WriteIndexes(context.Background(), s, all, existing, func(x *transfer.Index, why string) { refused = append(refused, x.String()+": "+why) })
		if err != nil {
			t.Fatal(err)
		}
		return made, refused
	}
	refusing := without(to, func(args [][]byte) bool {
		return strings.Contains(strings.Join(asStrings(args), " "), "SCHEMA new") || len(args) > 1 && string(args[1]) == "b" || string(args[0]) == "FT.DICTADD" && string(args[2]) == "one"
	})
	for existing, want := range map[transfer.Existing]string{
		transfer.Skip:    `index "b": the target has no command FT.CREATE, alias "c": its index was left out`,
		transfer.Refuse:  `index "a": another one of that name exists, index "b": the target has no command FT.CREATE, alias "c": its index was left out, dictionary "d": another one of that name exists`,
		transfer.Replace: `index "a": the target has no command FT.CREATE, index "b": the target has no command FT.CREATE, alias "c": its index was left out, dictionary "d": the target has no command FT.DICTADD`,
	} {
		made, refused := write(refusing, existing)
		if got := strings.Join(refused, ", "); got != want || made != 0 {
			t.Errorf("%v: %d made, %s", existing, made, got)
		}
		if now, _ := readIndexes(t, to); lines(now) != old {
			t.Errorf("%v:\n%s", existing, lines(now))
		}
	}
	if made, refused := write(to, transfer.Replace); made != 4 || refused != nil {
		t.Error(made, refused)
	}
	if now, _ := readIndexes(t, to); lines(now) != lines(all)[:strings.Index(lines(all), "FT.DICTADD")]+"FT.ALIASADD z a\nFT.DICTADD d one two" {
		t.Error(lines(now))
	}
}
