package repl

import (
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/commands"
)

func TestRest(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"GET", "key"},
		{"GET k", ""},
		{"SETEX k", "seconds value"},
		{"SET k v px 5", "[NX|XX|IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest] [GET]"},
		{"SET k v get nx", "[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]"},
		{"SET k v EX", "seconds [NX|XX|IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest] [GET]"},
		{"MSET a", "value [key value ...]"},
		{"MSET a 1", "[key value ...]"},
		{"MSET a 1 b", "value [key value ...]"},
		{"DEL a b", "[key ...]"},
		{"OBJECT encoding", "key"},
		{"LINSERT k before", "pivot element"},
		{"LMPOP 2", "key key <LEFT|RIGHT> [COUNT count]"},
		{"LMPOP 2 a", "key <LEFT|RIGHT> [COUNT count]"},
		{"LMPOP 2 a b right", "[COUNT count]"},
		{"ZADD k", "[NX|XX] [GT|LT] [CH] [INCR] score member [score member ...]"},
		{"ZADD k nx ch", "[GT|LT] [INCR] score member [score member ...]"},
		{"ZADD k 1", "member [score member ...]"},
		{"ZADD k 1 a", "[score member ...]"},
		{"ZRANDMEMBER k", "[count [WITHSCORES]]"},
		{"ZRANDMEMBER k 3", "[WITHSCORES]"},
		{"XADD s maxlen", "[=|~] threshold [NOMKSTREAM] [KEEPREF|DELREF|ACKED] [IDMPAUTO pid|IDMP pid iid] [LIMIT count] <*|id> field value [field value ...]"},
		{"XADD s maxlen ~ 5 *", "field value [field value ...]"},
		{"SORT k GET a", "[BY pattern] [LIMIT offset count] [GET pattern ...] [ASC|DESC] [ALPHA] [STORE destination]"},
		{"ZUNION 2 a b weights 1", "[weight ...] [AGGREGATE <SUM|MIN|MAX|COUNT>] [WITHSCORES]"},
		{"GEOSEARCH k", "<FROMMEMBER member|FROMLONLAT longitude latitude> <BYRADIUS radius <M|KM|FT|MI>|BYBOX width height <M|KM|FT|MI>> [ASC|DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]"},
		{"JSON.MGET a", "[key ...] path"},
		{"HPEXPIRE h 5 FIELDS 2 a", "field"},
		{"VADD k VALUES 3 0.5", "component component element [CAS] [NOQUANT|BIN|Q8] [EF build-exploration-factor] [SETATTR attributes] [M numlinks]"},
		{"VADD k VALUES 1536 0.5", "component [component ...] element [CAS] [NOQUANT|BIN|Q8] [EF build-exploration-factor] [SETATTR attributes] [M numlinks]"},
		{"VADD k VALUES 20" + strings.Repeat(" -1", 20) + " e SETATTR x", "[CAS] [NOQUANT|BIN|Q8] [EF build-exploration-factor] [M numlinks]"},
		{"VADD k FP32 blob", "element [CAS] [NOQUANT|BIN|Q8] [EF build-exploration-factor] [SETATTR attributes] [M numlinks]"},
	} {
		if got := syntaxText(fit(commands.Ours, strings.Fields(c.typed), false).rest); got != c.want {
			t.Errorf("%q: got %q, want %q", c.typed, got, c.want)
		}
	}
}

// The syntax of every command can be written down from its structure.
func TestSyntaxIsWrittenBack(t *testing.T) {
	for _, cmd := range commands.All() {
		if strings.HasPrefix(cmd.Name, "BITFIELD") || cmd.Name == "ARGREP" {
			continue // two ways of writing the same repetition
		}
		got := syntaxText(fit(commands.Ours, strings.Fields(cmd.Name), false).rest)
		switch cmd.Name {
		case "QUIT":
			got = strings.Replace(got, "ignored [ignored ...]", "ignored ...", 1)
		case "CF.COMPACT":
			got = strings.Replace(got, "key [key ...]", "key ...", 1)
		}
		if got != cmd.Syntax && got != "<"+cmd.Syntax+">" {
			t.Errorf("%s: got\n%q, want\n%q", cmd.Name, got, cmd.Syntax)
		}
	}
}

func TestWrong(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"GET k x ", "too many arguments"},
		{"SETEX k abc ", "seconds: not an integer"},
		{"SETEX k abc", "seconds: not an integer"},
		{"SETEX k -", ""},
		{"SET k v EY ", "not one of its options, maybe EX"},
		{"SET k v E", ""},
		{"SET k v E ", "not one of its options"},
		{"LINSERT k bef", ""},
		{"LINSERT k foo ", "expects BEFORE, AFTER"},
		{"OBJECT nope ", "unknown subcommand"},
		{"OBJECT enc", ""},
		{"ZADD z x m ", "score: not a number"},
		{"ZADD z inf m ", ""},
		{"GETX ", ""},
		{"ZUNION 1 a weights x", ""},
		{"BLPOP l 0.5 ", ""},
		{"LMPOP 1 a RIHGT ", "expects LEFT, RIGHT"},
		{"SET k v EX 5 PX 6 ", "not with EX"},
		{"SET k v EX 5 PX", "not with EX"},
		{"SET k v keepttl ex 6 ", "not with KEEPTTL"},
		{"SET k v XX NX ", "not with XX"},
		{"SET EX v PX 6 ", ""}, // a key
		{"ZADD k NX XX 1 m ", "not with NX"},
		{"ZADD k NX GT 1 m ", "not with NX"},
		{"ZADD k LT NX 1 m ", "not with LT"},
		{"ZADD k XX GT CH 1 m ", ""},
		{"EXPIRE k 5 XX GT ", ""},
		{"EXPIRE k 5 GT LT ", "not with GT"},
		{"SORT k ASC DESC ", ""}, // Redis takes the last one
		{"DEBUG SLEEP 0 ", ""},
		{"DEBUG UNDOCUMENTED 0 ", ""},
	} {
		typing := !strings.HasSuffix(c.typed, " ")
		if got := fit(commands.Ours, strings.Fields(c.typed), typing).wrong; got != c.want {
			t.Errorf("%q: got %q, want %q", c.typed, got, c.want)
		}
	}
}

// TestExcludedOptions checks that Redis refuses each pair of options that the prompt reports.
func TestExcludedOptions(t *testing.T) {
	server := oracle.Start(t).Dial(t)
	pairs := 0
	for _, cmd := range commands.All() {
		eachPair(cmd.SyntaxTree(), func(pair [2]commands.Argument, oneOf string) {
			words := append(strings.Fields(cmd.Name), sampleWords(cmd.SyntaxTree(), pair, oneOf)...)
			c := fit(commands.Ours, words, false)
			if !strings.HasPrefix(c.wrong, "not with ") {
				return
			}
			args := make([][]byte, len(words))
			for i, w := range words {
				args[i] = []byte(w)
			}
			switch v := server.Do(args...); {
			case !v.IsError():
				t.Errorf("Redis accepts %q", words)
			case !strings.Contains(string(v.Str), "unknown command"):
				pairs++
			}
		})
	}
	if pairs < 30 {
		t.Errorf("only %d pairs", pairs)
	}
}

// eachPair calls each with the pairs of options of every optional choice.
func eachPair(args []commands.Argument, each func(pair [2]commands.Argument, oneOf string)) {
	for _, a := range args {
		eachPair(a.Arguments, each)
		if a.Type != "oneof" || !a.Optional {
			continue
		}
		for i, x := range a.Arguments {
			for j, y := range a.Arguments {
				if i != j && x.Token != "" && y.Token != "" {
					each([2]commands.Argument{x, y}, a.Name)
				}
			}
		}
	}
}

// sampleWords returns valid arguments for a syntax, with a pair of options for a choice.
func sampleWords(args []commands.Argument, pair [2]commands.Argument, oneOf string) (words []string) {
	for _, a := range args {
		switch {
		case a.Type == "oneof" && a.Name == oneOf:
			words = append(words, sampleWords(pair[:], pair, "")...)
			continue
		case a.Optional:
			continue
		case a.Token != "":
			words = append(words, a.Token)
		}
		switch a.Type {
		case "pure-token":
		case "oneof":
			words = append(words, sampleWords(a.Arguments[:1], pair, oneOf)...)
		case "block":
			words = append(words, sampleWords(a.Arguments, pair, oneOf)...)
		case "key":
			words = append(words, "k")
		case "unix-time":
			words = append(words, "4102444800")
		default:
			words = append(words, "1")
		}
	}
	return words
}

// isMissing reports whether the corpus uses this name for missing keys: Redis does not check the
// arguments after such a key.
func isMissing(arg []byte) bool {
	return slices.Contains([]string{"missing", "none", "nope", "nokey"}, string(arg))
}

// sloppy are invalid calls that Redis accepts, or only queues.
var sloppy = []string{
	"BITCOUNT a -2 -100 x", "LOLWUT nonsense", "XPENDING a g - + 10 bob extra", "SET k v EX x EX 100", "SELECT x", "PING a b", "FCALL get x",
	"BF.RESERVE loose 0.9 10 what ever", "TOPK.LIST top withc",
	"TS.RANGE v - + AGGREGATION avg 10 COUNT 1 EMPTY x",
}

// No call that works is complained about: the whole corpus, as it is typed.
func TestNothingIsWrongWithWhatWorks(t *testing.T) {
	transcripts, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, tr := range transcripts {
		for _, step := range tr.Steps {
			if strings.Contains(step.Want, "(error)") || len(step.Args) == 0 {
				continue
			}
			if cmd, _ := commands.Find(step.Args); cmd == nil || slices.ContainsFunc(step.Args, isMissing) {
				continue
			}
			words := make([]string, len(step.Args))
			for i, a := range step.Args {
				words[i] = string(a)
			}
			if slices.Contains(sloppy, strings.Join(words, " ")) {
				continue
			}
			calls++
			for _, typing := range []bool{true, false} {
				if c := fit(commands.Ours, words, typing); c.wrong != "" {
					t.Errorf("%s:%d: %q: word %d: %s", tr.Name, step.Line, words, c.at, c.wrong)
				}
			}
		}
	}
	if calls < 1000 {
		t.Errorf("only %d calls", calls)
	}
}
