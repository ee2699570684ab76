package repl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// keptIn returns a configuration that records what is written.
func keptIn(written *[]string) Kept {
	return Kept{Write: func(table, name, value string) error {
		*written = append(*written, fmt.Sprintf("%s.%s=%s", table, name, value))
		return nil
	}}
}

func TestFavourites(t *testing.T) {
	var written []string
	s := newSession(t, "ZADD board 1 tom 2 felix 3 rex", "SET a:1 x", "SET 'two words' y")
	o := Options{Target: Target{Session: s}, Kept: keptIn(&written)}
	out, errs := typedInto(t, o, ":save top ZREVRANGE ${1} 0 0\r:run top board\r:run top board WITHSCORES\r:run top\r:run none\r"+
		":save spaced GET 'two words'\r:run spaced\r:save\r:save top\r:save top\r:save p AUTH secret\r:save 'a b' PING\r"+
		":var n board\rZCARD ${n}\r:var k 'two words'\rGET ${k}\rECHO ${unknown}\r:var\r:var n\rEXISTS ${n}\r:save shell GET $1\r:save loop :run loop\r:run loop\r")
	mustShow(t, out, `1) "rex"`, "1) \"rex\"\n2) ", `"y"`, "spaced           GET 'two words'\ntop              ZREVRANGE ${1} 0 0\n",
		"(integer) 3", `"y"`, `"${unknown}"`, "k                two words\nn                board\n", "(integer) 0")
	mustShow(t, errs, "ZREVRANGE board 0 0", "top takes 1 arguments: ZREVRANGE ${1} 0 0", `unknown favourite "none"`, `unknown favourite "top"`, "a command with a password is not stored",
		`invalid name "a b"`, "arguments are written with braces: ${1}", "favourites run each other endlessly")
	want := []string{"favourites.top=ZREVRANGE ${1} 0 0", "favourites.spaced=GET 'two words'", "favourites.top=", "variables.n=board", "variables.k=two words", "variables.n=", "favourites.shell=GET $1", "favourites.loop=:run loop"}
	if !slices.Equal(written, want) {
		t.Errorf("written:\n%q\nwant\n%q", written, want)
	}
}

// TestKeptSettings checks that stored settings apply, and that :set stores valid ones.
func TestKeptSettings(t *testing.T) {
	var written []string
	kept := keptIn(&written)
	kept.Settings = map[string]string{"prompt": "<{target}{db}> ", "hints": "maybe", "danger": "off"}
	out, errs := typedInto(t, Options{Target: Target{Session: newSession(t, "SET k v")}, Kept: kept},
		"FLUSHALL\rSELECT 3\r:set timing on\r:set timing maybe\r:set prompt '{target}$ '\r:set danger on\rFLUSHDB\rn\r:set\r")
	mustShow(t, out, "<db> FLUSHALL", "OK", "<db[3]> :set timing on", "db$ FLUSHDB", "FLUSHDB deletes the 0 keys of database 3. Run it? [y/N] n", "danger        on", "prompt        \"{target}$ \"\n                      the form of the prompt")
	mustShow(t, errs, `config.toml: repl.hints: invalid value "maybe"`, "nothing was run")
	if want := []string{".timing=on", ".prompt={target}$ ", ".danger=on"}; !slices.Equal(written, want) {
		t.Errorf("written: %q", written)
	}
}

// TestDanger lists what asks first, without a profile.
func TestDanger(t *testing.T) {
	many := func() int64 { return 1_000_000 }
	server := &loop{Options: &Options{}}
	for line, want := range map[string]string{
		"FLUSHALL": "all databases", "flushdb async": "deletes the 1,000,000 keys of database 0", "SHUTDOWN NOSAVE": "stops the server",
		"CONFIG SET maxmemory 1": "for all clients: maxmemory 1", "CONFIG GET *": "", "DEL a b": "",
		"DEL 1 2 3 4 5 6 7 8 9 10": "up to 10 keys",
		"KEYS *":                   "reads 1,000,000 keys",
		"KEYS plain":               "",
		"EVAL \"return redis.call('DEL',KEYS[1])\" 1 k":                                       "",
		"EVAL \"for _,k in ipairs(redis.call('KEYS','a*')) do redis.call('UNLINK',k) end\" 0": "deletes keys by a pattern",
		"GET k": "",
	} {
		words, _ := scan(line)
		got := server.dangerOf(parseCommand(line, words[0], false).args(), many)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	server.Target.Keys = manyKeys{}
	if got := server.dangerOf([][]byte{[]byte("KEYS"), []byte("*")}, many); got != "" {
		t.Errorf("on a file: %s", got)
	}
}
