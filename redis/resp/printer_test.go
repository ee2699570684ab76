package resp_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/hermetic"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

// asks are commands whose replies have every shape that redis-cli prints alike.
var asks = [][]string{
	{"GET", "none"},
	{"PING"},
	{"STRLEN", "s"},
	{"GET", "s"},
	{"GET", "empty"},
	{"LRANGE", "none", "0", "-1"},
	{"LRANGE", "l", "0", "-1"},
	{"LRANGE", "long", "0", "-1"},
	{"HGETALL", "h"},
	{"HGETALL", "none"},
	{"SMEMBERS", "set"},
	{"ZRANGE", "z", "0", "-1", "WITHSCORES"},
	{"ZSCORE", "z", "a"},
	{"EVAL", "return {1,{2,{},{'x',false}},'y'}", "0"},
	{"EVAL", "redis.setresp(3); return {map={a={1,2},b={map={c=3}}}}", "0"},
	{"EVAL", "redis.setresp(3); return {double=0.1}", "0"},
	{"EVAL", "redis.setresp(3); return true", "0"},
}

// unlike are commands whose errors --json prints in a way that is not JSON.
var unlike = [][]string{
	{"NOPE", "a\nb"},
	{"LPUSH", "s", "x"},
	{"EVAL", "return {1,{err='ERR in it'},2}", "0"},
}

var setup = [][]string{
	{"SET", "s", "a \"b\"\\\n\r\t\a\b\f\x01\x7f end"},
	{"SET", "empty", ""},
	{"RPUSH", "l", "a", "b c", "3"},
	{"RPUSH", "long", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"},
	{"HSET", "h", "f", "v", "g", "w\n"},
	{"SADD", "set", "only"},
	{"ZADD", "z", "1.5", "a", "3", "b"},
}

func TestPrinterIsRedisCLI(t *testing.T) {
	server := oracle.Start(t)
	conn := server.Dial(t)
	for _, args := range setup {
		if v := conn.Do(words(args)...); v.IsError() {
			t.Fatalf("%q: %s", args, v.Str)
		}
	}
	for _, proto := range []string{"-2", "-3"} {
		conn.Do([]byte("HELLO"), []byte(proto[1:]))
		for name, p := range map[string]resp.Printer{
			"--no-raw": {Escape: true},
			"--raw":    {Format: resp.Raw},
			"--csv":    {Format: resp.CSV, Escape: true},
			"--json":   {Format: resp.JSON},
		} {
			p.RESP3 = proto == "-3"
			list := asks
			if p.Format != resp.JSON {
				list = append(list[:len(list):len(list)], unlike...)
			}
			for _, args := range list {
				want := redisCLI(t, append([]string{"-s", server.Socket, proto, name}, args...))
				got := p.Append(nil, conn.Do(words(args)...))
				if !bytes.Equal(got, want) {
					t.Errorf("%s %s %q\ngot  %q\nwant %q", proto, name, args, got, want)
				}
			}
		}
	}
}

func words(args []string) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = []byte(a)
	}
	return out
}

func redisCLI(t *testing.T, args []string) []byte {
	t.Helper()
	cmd := exec.Command("redis-cli", args...)
	cmd.Env = hermetic.Environ()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("redis-cli %q: %v", args, err)
	}
	return out
}

func TestJSONIsValid(t *testing.T) {
	for _, c := range []struct {
		v    resp.Value
		want string
	}{
		{resp.MakeError("ERR a \"b\" \xff"), `{"error":"ERR a \"b\" ` + "\ufffd" + `"}`},
		{resp.MakeDouble(math.Inf(1)), `"inf"`},
		{resp.MakeDouble(math.Inf(-1)), `"-inf"`},
		{resp.MakeDouble(math.NaN()), `"nan"`},
		{resp.MakeDouble(1e300), `1e+300`},
		{resp.Value{Kind: resp.Double, Float: 0.5, Str: []byte("0.50")}, `0.50`},
		{resp.Value{Kind: resp.Double, Float: 0.5, Str: []byte(".5")}, `0.5`},
		{resp.MakeString("\xff\x00"), `{"base64":"/wA="}`},
		{resp.MakeString("é<\u2028\x00"), `"é<` + "\u2028" + `\u0000"`},
		{resp.MakeMap(resp.MakeInt(1), resp.Nil, resp.MakeString("\xff"), resp.EmptySet), `{"1":null,"{\"base64\":\"/w==\"}":[]}`},
		{resp.Value{Kind: resp.BigNumber, Str: []byte("-12345678901234567890123")}, `-12345678901234567890123`},
		{resp.Value{Kind: resp.BigNumber, Str: []byte("0x1")}, `"0x1"`},
		{resp.Value{Kind: resp.Scored, Elems: []resp.Value{resp.MakeString("m"), resp.MakeDouble(2)}}, `[["m",2]]`},
		{resp.Value{Kind: resp.Verbatim, Str: []byte("txt")}, `"txt"`},
	} {
		got := resp.AppendJSON(nil, c.v)
		if string(got) != c.want || !json.Valid(got) {
			t.Errorf("got %s, want %s, valid %v", got, c.want, json.Valid(got))
		}
	}
}

// TestJSONKeys gives each name of a field a text of its own, from which it can be had
// again.
func TestJSONKeys(t *testing.T) {
	names := []string{"", "a", "\xff", "\xff\xfe", `{"base64":"/w=="}`, `{"base64":"`, `{"base64":`, `{"base64":"eyJiYXNlNjQiOiIvdz09In0="}`, "\ufffd", `\xff`}
	var m resp.Value
	for _, name := range names {
		m.Elems = append(m.Elems, resp.MakeString(name), resp.MakeString(name))
	}
	m.Kind = resp.Map
	var object map[string]any
	if err := json.Unmarshal(resp.AppendJSON(nil, m), &object); err != nil {
		t.Fatal(err)
	}
	if len(object) != len(names) {
		t.Errorf("%d names are %d: %v", len(names), len(object), object)
	}
	for text := range object {
		name := text
		if strings.HasPrefix(text, `{"base64":"`) {
			var in struct{ Base64 []byte }
			if err := json.Unmarshal([]byte(text), &in); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			name = string(in.Base64)
		}
		if !slices.Contains(names, name) {
			t.Errorf("%s is %q, which no field is called", text, name)
		}
	}
}

func TestTypedShowsUTF8(t *testing.T) {
	v := resp.MakeString("é\xff\u200d\u200c\u00ad\u202e\u0085")
	if got := string(resp.Printer{}.Append(nil, v)); got != "\"é\\xff\u200d\u200c\u00ad\\xe2\\x80\\xae\\xc2\\x85\"\n" {
		t.Errorf("got %s", got)
	}
	if got := string(resp.Printer{Escape: true}.Append(nil, v)); got != "\"\\xc3\\xa9\\xff\\xe2\\x80\\x8d\\xe2\\x80\\x8c\\xc2\\xad\\xe2\\x80\\xae\\xc2\\x85\"\n" {
		t.Errorf("escaped: got %s", got)
	}
}

func TestPrinterOptions(t *testing.T) {
	v := resp.MakeArray(resp.MakeString("a\n\"é\""), resp.MakeInt(1), resp.Nil, resp.OK, resp.MakeError("ERR e"))
	for want, p := range map[string]resp.Printer{
		"\"a\\n\\\"é\\\"\"\n1\n\nOK\nERR e\n\n":                              {Format: resp.Raw, Quoted: true},
		"\"a\\n\\\"\\xc3\\xa9\\\"\"\n1\n\nOK\nERR e\n\n":                     {Format: resp.Raw, Quoted: true, Escape: true},
		"\"a\n\"\"é\"\"\",1,NULL,\"OK\",\"{\"\"error\"\":\"\"ERR e\"\"}\"\n": {Format: resp.CSV},
		"\"a\\n\\\"\\xc3\\xa9\\\"\",1,NULL,\"OK\",ERROR,\"ERR e\"\n":         {Format: resp.CSV, Escape: true},
		"\x1b[2m1)\x1b[0m \"a\\n\\\"é\\\"\"\n\x1b[2m2)\x1b[0m \x1b[2m(integer)\x1b[0m 1\n\x1b[2m3)\x1b[0m \x1b[2m(nil)\x1b[0m\n" +
			"\x1b[2m4)\x1b[0m OK\n\x1b[2m5)\x1b[0m \x1b[31m(error) ERR e\x1b[0m\n": {Colour: true},
	} {
		if got := string(p.Append(nil, v)); got != want {
			t.Errorf("%+v\ngot  %q\nwant %q", p, got, want)
		}
	}
}

// TestCSVCells says what elements of an array take: a cell each.
func TestCSVCells(t *testing.T) {
	v := resp.MakeArray(resp.MakeArray(resp.One, resp.Nil), resp.MakeMap(resp.MakeString("f"), resp.MakeString("v")), resp.EmptySet, resp.MakeString("x"))
	for want, escape := range map[string]bool{`"[1,null]","{""f"":""v""}","[]","x"`: false, `1,NULL,"f","v",,"x"`: true} {
		if got := string(resp.AppendCSV(nil, v, escape)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
