package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/server"
)

// exchanges are bytes that a client sends at once. The server must reply like redis-server, byte for byte, and close
// the connection when it does.
var exchanges = []string{
	"PING\r\n",
	"ping\n",
	"\r\n\r\nPING\r\n",
	"PING\r\nSET x \"a b\"\r\nGET x\r\n",
	"SET x 'it\\'s'\r\nGET x\r\n",
	"SET a \"b\r\n",
	"SET a \"b\"c\r\n",
	"*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n",
	"*0\r\nPING\r\n",
	"*-1\r\nPING\r\n",
	"*1\r\n$0\r\n\r\nPING\r\n",
	"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
	"*x\r\n",
	"*1x\r\n",
	"*2147483648\r\n",
	"*01\r\n$4\r\nPING\r\n",
	"*+1\r\n$4\r\nPING\r\n",
	"*1\r\n$04\r\nPING\r\n",
	"*1\r\n$+4\r\nPING\r\n",
	"*1\r\n!4\r\nPING\r\n",
	"*1\r\n$-1\r\n",
	"*1\r\n$x\r\n",
	"*1\r\n$600000000\r\n",
	"*1\r\n$4\r\nPING\r\n*1\r\n:4\r\n",
	"*1\n",
	"*1\n$4\nPING\n",
	"*1\r\n$4\nPING\r\n",
	"*1\n$4\r\nPING\r\n",
	"*1\rx$4\rxPINGxx",
	"$4\r\nPING\r\n",
	"PING\rPING\n",
	"ECHO " + strings.Repeat("a", 64<<10) + "\r\n",
	"ECHO " + strings.Repeat("a", 70_000) + "\r\nPING\r\n",
	"ECHO " + strings.Repeat("a", 200_000) + "\r\n",
	"POST / HTTP/1.1\r\nPING\r\n",
	"Host: example.com\r\n",

	// leaving
	"QUIT\r\nPING\r\n",
	"QUIT now\r\n",
	"MULTI\r\nQUIT\r\nPING\r\n",

	// the protocol version
	"HELLO\r\n",
	"HELLO 3\r\nHELLO\r\nHELLO 2\r\nHELLO\r\n",
	"HELLO 3 SETNAME bob\r\nCLIENT GETNAME\r\nRESET\r\nCLIENT GETNAME\r\nHELLO\r\n",
	"HELLO 3\r\nGET nothing\r\nPING\r\nSET k v\r\nGET k\r\nSELECT 99\r\n",
	"HELLO 4\r\nHELLO 1\r\nHELLO x\r\nHELLO 3x\r\nHELLO \"\"\r\n",
	"HELLO 2 FOO\r\nHELLO 2 AUTH a\r\nHELLO 2 SETNAME\r\nHELLO 2 SETNAME \"a b\"\r\nHELLO 2 SETNAME x FOO\r\nPING\r\n",
	"HELLO 2 AUTH default whatever SETNAME me\r\nCLIENT GETNAME\r\n",
	"MULTI\r\nHELLO 2\r\nCLIENT SETNAME x\r\nCLIENT GETNAME\r\nSELECT 2\r\nCONFIG GET save\r\nEXEC\r\n",
	"MULTI\r\nRESET\r\nEXEC\r\n",

	// CLIENT
	"CLIENT\r\nCLIENT NOSUCH\r\nCLIENT ID x\r\nCLIENT GETNAME\r\n",
	"CLIENT SETNAME foo\r\nCLIENT GETNAME\r\nCLIENT SETNAME \"a b\"\r\nCLIENT SETNAME \"\"\r\nCLIENT GETNAME\r\nCLIENT SETNAME \"\\x80\"\r\n",
	"CLIENT KILL 1.2.3.4:5\r\nCLIENT KILL ID x\r\nCLIENT KILL ID 0\r\nCLIENT KILL ID 99999\r\nCLIENT KILL TYPE foo\r\nCLIENT KILL USER nope\r\n",
	"CLIENT KILL FOO x\r\nCLIENT KILL SKIPME maybe\r\nCLIENT KILL ID\r\nCLIENT KILL ID 1 ADDR\r\nCLIENT KILL TYPE master\r\nCLIENT KILL USER default SKIPME yes ID 99999\r\n",
	"CLIENT NO-EVICT on\r\nCLIENT NO-EVICT maybe\r\n",
	"CLIENT REPLY on\r\nCLIENT REPLY maybe\r\n",
	"CLIENT REPLY SKIP\r\nPING\r\nPING\r\n",
	"CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\n",
	"CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n",
	"CLIENT REPLY SKIP\r\nCLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\n",
	"CLIENT REPLY SKIP\r\nCLIENT REPLY maybe\r\nPING\r\n",
	"CLIENT REPLY SKIP\r\nRESET\r\nPING\r\n",
	"CLIENT REPLY OFF\r\nRESET\r\nPING\r\n",
	"CLIENT REPLY SKIP\r\nMULTI\r\nPING\r\nEXEC\r\n",
	"CLIENT REPLY OFF\r\nHELLO 3\r\nCLIENT REPLY ON\r\n",
	"CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY SKIP\r\nPING\r\nCLIENT REPLY ON\r\nPING\r\n",
	"CLIENT LIST ID\r\nCLIENT LIST ID x\r\nCLIENT LIST ID 99999\r\nCLIENT LIST TYPE foo\r\nCLIENT LIST TYPE pubsub\r\nCLIENT LIST FOO\r\nCLIENT LIST TYPE\r\n",

	"CLIENT TRACKING OFF\r\nCLIENT TRACKING maybe\r\nCLIENT TRACKINGINFO\r\nCLIENT GETREDIR\r\nCLIENT CACHING yes\r\nHELLO 3\r\nCLIENT TRACKINGINFO\r\n",
	"CLIENT UNBLOCK 99999\r\nCLIENT UNBLOCK x\r\nCLIENT UNBLOCK x maybe\r\nCLIENT UNBLOCK 99999 error\r\nCLIENT UNPAUSE\r\n",

	// DEBUG
	"DEBUG ERROR hi\r\nDEBUG ERROR\r\nDEBUG LOG x\r\nDEBUG POPULATE x\r\nDEBUG POPULATE 2 pre x\r\nDEBUG POPULATE\r\nDEBUG POPULATE 3 pre 10\r\nGET pre:0\r\nSET pre:1 x\r\nDEBUG POPULATE 4 pre\r\n" +
		"GET pre:1\r\nGET pre:3\r\nDEBUG POPULATE 1500\r\nDBSIZE\r\nGET key:1499\r\nDEBUG PAUSE-CRON 1\r\nDEBUG PAUSE-CRON 0\r\nDEBUG JMAP x\r\nDEBUG CHANGE-REPL-ID\r\nDEBUG SET-ACTIVE-EXPIRE 0\r\nDEBUG SET-ACTIVE-EXPIRE 1\r\n",
	"DEBUG DIGEST x\r\nDEBUG DIGEST-VALUE\r\nSET str 1\r\nSET big 1\r\nSETRANGE big 3000000 x\r\nSET dies x EXAT 33333333333\r\nRPUSH l b a 1\r\nSADD ints 3 1 2\r\nSADD set b a 1\r\n" +
		"ZADD z inf a -inf b 1.5 c\r\nHSET h b 2 a 1\r\nXADD st 1-2 a b c d\r\nXGROUP CREATE st g 0\r\n" +
		"DEBUG DIGEST-VALUE str big dies l ints set z h st missing\r\n",
	"DEBUG SLEEP 0\r\nDEBUG SLEEP 0.001\r\nDEBUG SLEEP x\r\nDEBUG SET-ACTIVE-EXPIRE 1\r\nDEBUG RELOAD\r\nDEBUG OBJECT nosuch\r\nDEBUG\r\n",
	"DEBUG PROTOCOL string\r\nDEBUG PROTOCOL integer\r\nDEBUG PROTOCOL double\r\nDEBUG PROTOCOL null\r\nDEBUG PROTOCOL array\r\nDEBUG PROTOCOL set\r\nDEBUG PROTOCOL map\r\n" +
		"DEBUG PROTOCOL verbatim\r\nDEBUG PROTOCOL true\r\nDEBUG PROTOCOL false\r\nDEBUG PROTOCOL bignum\r\nDEBUG PROTOCOL attrib\r\nDEBUG PROTOCOL push\r\nDEBUG PROTOCOL nosuch\r\n",
	"HELLO 3\r\nDEBUG PROTOCOL string\r\nDEBUG PROTOCOL integer\r\nDEBUG PROTOCOL double\r\nDEBUG PROTOCOL null\r\nDEBUG PROTOCOL array\r\nDEBUG PROTOCOL set\r\nDEBUG PROTOCOL map\r\n" +
		"DEBUG PROTOCOL verbatim\r\nDEBUG PROTOCOL true\r\nDEBUG PROTOCOL false\r\nDEBUG PROTOCOL bignum\r\n" +
		verbatim("txt") + verbatim("mkd") + verbatim("m") + verbatim("") + verbatim("markdown"),

	// CONFIG and INFO, a verbatim string in RESP3
	"CONFIG GET save\r\nCONFIG GET MAXMEMORY\r\nCONFIG GET nope\r\nCONFIG GET\r\nCONFIG GET data[a-c]ases d?tabases\r\n",
	"HELLO 3\r\nCONFIG GET appendonly\r\nCONFIG GET nope\r\n",
	"CONFIG SET nope 1\r\nCONFIG SET maxmemory\r\nCONFIG SET databases 17\r\nCONFIG SET save \"\" timeout\r\nCONFIG SET save \"\" save \"\"\r\nCONFIG SET save \"900 1\"\r\nCONFIG GET save\r\nCONFIG SET SAVE \"\"\r\nCONFIG SET appendonly no nope 1\r\n",
	"CONFIG SET save 900\r\nCONFIG SET save \"0 1\"\r\nCONFIG SET save \"1  1\"\r\nCONFIG SET save \"900 1 300 10\"\r\nCONFIG GET save\r\nCONFIG SET save \"\"\r\n",
	"CONFIG SET appendonly maybe\r\nCONFIG SET appendfsync now\r\nCONFIG SET slowlog-max-len x\r\nCONFIG SET slowlog-max-len -1\r\nCONFIG SET zset-max-listpack-value 1x\r\nCONFIG SET appendfsync ALWAYS\r\nCONFIG GET appendfsync\r\nCONFIG SET appendfsync everysec\r\n",
	"CONFIG SET hash-max-ziplist-entries 1\r\nHSET h a 1\r\nOBJECT ENCODING h\r\nHSET h b 1\r\nOBJECT ENCODING h\r\nCONFIG SET hash-max-listpack-entries 512 hash-max-listpack-value 1kb\r\n" +
		"CONFIG GET hash-max-ziplist-value\r\nCONFIG SET hash-max-ziplist-value 64\r\nCONFIG SET set-max-intset-entries 1\r\nSADD s" + numbers(129) + "\r\nOBJECT ENCODING s\r\nCONFIG SET set-max-intset-entries 512\r\n" +
		"CONFIG SET zset-max-ziplist-value 1\r\nZADD z 1 a\r\nZADD y 1 ab\r\nOBJECT ENCODING z\r\nOBJECT ENCODING y\r\nCONFIG SET zset-max-listpack-value 64\r\n",
	"CONFIG SET maxmemory abc\r\nCONFIG SET maxmemory -1\r\nCONFIG SET maxmemory 1x\r\nCONFIG SET maxmemory 0\r\nCONFIG SET timeout abc\r\nCONFIG SET timeout -1\r\nCONFIG SET tcp-keepalive -1\r\n" +
		"CONFIG SET maxclients x\r\nCONFIG SET maxclients 0\r\nCONFIG SET maxmemory-policy foo\r\nCONFIG SET proto-max-bulk-len 1\r\nCONFIG SET proto-max-bulk-len x\r\n" +
		"CONFIG SET notify-keyspace-events Q\r\nCONFIG SET sanitize-dump-payload foo\r\nCONFIG SET maxmemory-clients x\r\nCONFIG SET databases x\r\n",
	"CONFIG RESETSTAT\r\nCONFIG REWRITE\r\n",
	"CLUSTER INFO\r\nCLUSTER\r\nCLUSTER NOSUCH\r\nCLUSTER KEYSLOT\r\nCLUSTER KEYSLOT a\r\nCLUSTER SLOTS\r\nCLUSTER ADDSLOTS 1\r\nREADONLY\r\nREADWRITE\r\nASKING\r\nMULTI\r\nCLUSTER MYID\r\nEXEC\r\n",
	"REPLICAOF no one\r\nSLAVEOF NO ONE\r\nREPLICAOF a b\r\nROLE\r\nFAILOVER\r\nFAILOVER abort\r\nFAILOVER TO 1 2 x\r\nMODULE LOAD x\r\nMODULE LOADEX x\r\nMODULE UNLOAD x\r\nMODULE LOAD\r\nMEMORY NOSUCH\r\n",
	"CONFIG SET notify-keyspace-events KEA\r\nCONFIG GET notify-keyspace-events\r\nCONFIG SET notify-keyspace-events xgE$\r\nCONFIG GET notify-keyspace-events\r\n" +
		"CONFIG SET notify-keyspace-events KnEgx\r\nCONFIG GET notify-keyspace-events\r\nCONFIG SET notify-keyspace-events \"\"\r\nCONFIG GET notify-keyspace-events\r\n",
	"CONFIG SET client-output-buffer-limit \"normal 1 2\"\r\nCONFIG SET client-output-buffer-limit \"foo 1 2 3\"\r\nCONFIG SET client-output-buffer-limit \"master 1 2 3\"\r\n" +
		"CONFIG SET client-output-buffer-limit \"normal x 2 3\"\r\nCONFIG SET client-output-buffer-limit \"\"\r\n" +
		"CONFIG SET client-output-buffer-limit \"pubsub 1mb 1kb 5 replica 0 1 2\"\r\nCONFIG GET client-output-buffer-limit\r\n" +
		"CONFIG SET client-output-buffer-limit \"normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60\"\r\n",
	"CONFIG SET client-query-buffer-limit 1\r\nCONFIG SET client-query-buffer-limit 2mb\r\nCONFIG GET client-query-buffer-limit\r\nCONFIG SET client-query-buffer-limit 1gb\r\n" +
		"CONFIG SET proto-max-bulk-len 1mb\r\nCONFIG GET proto-max-bulk-len\r\nCONFIG SET proto-max-bulk-len 512mb\r\n",
	"CONFIG SET latency-tracking-info-percentiles x\r\nCONFIG SET latency-tracking-info-percentiles \"50 101\"\r\nCONFIG SET latency-tracking-info-percentiles \"50.0 99.90\"\r\n" +
		"CONFIG GET latency-tracking-info-percentiles\r\nCONFIG SET latency-tracking-info-percentiles \"\"\r\nCONFIG GET latency-tracking-info-percentiles\r\n" +
		"CONFIG SET latency-tracking-info-percentiles \"50 99 99.9\"\r\n",
	"CONFIG SET timeout 100 maxclients 0\r\nCONFIG GET timeout\r\nCONFIG SET timeout 100 maxclients 50 tcp-keepalive 60\r\nCONFIG GET timeout\r\nCONFIG GET maxclients\r\nCONFIG GET tcp-keepalive\r\nCONFIG SET timeout 0 maxclients 10000\r\n",
	"INFO nosuch\r\nINFO cluster\r\nHELLO 3\r\nINFO cluster\r\n",

	// transactions
	"MULTI\r\nSET a 1\r\nINCR a\r\nGET a\r\nEXEC\r\nMULTI\r\nMULTI\r\nEXEC\r\nEXEC\r\nDISCARD\r\n",
	"WATCH a\r\nSET a 2\r\nMULTI\r\nGET a\r\nEXEC\r\nHELLO 3\r\nWATCH a\r\nSET a 3\r\nMULTI\r\nGET a\r\nEXEC\r\n",
}

// authExchanges are exchanges with a server whose password is "secret".
var authExchanges = []string{
	"PING\r\nGET a\r\nNOPE\r\nGET\r\nMULTI\r\nCLIENT ID\r\nSELECT 1\r\n",
	"HELLO 2 SETNAME x\r\nHELLO 5\r\n",
	"AUTH default secret\r\nSET k v\r\nMULTI\r\nGET k\r\nRESET\r\nEXEC\r\n",
	"QUIT\r\nPING\r\n",
	"RESET\r\nPING\r\n",
	"*11\r\n",
	"*1\r\n$20000\r\n",
	"AUTH secret\r\n*11\r\n$4\r\nECHO\r\n" + strings.Repeat("$1\r\na\r\n", 10),
}

// clientPlans are exchanges whose parts wait for the reply to the previous part: redis-server 8.0 does not reply to a
// failed AUTH while an earlier reply is being sent.
var clientPlans = [][]string{
	{"AUTH x\r\n", "AUTH default x\r\n", "AUTH bob x\r\n", "AUTH a b c\r\n"},
	{"HELLO 3 AUTH bob x\r\n", "PING\r\n"},
	{"CONFIG SET requirepass secret\r\nPING\r\nCONFIG GET requirepass\r\n", "AUTH wrong\r\n", "PING\r\n", "RESET\r\nPING\r\nHELLO 3\r\n*11\r\n"},
	{"MULTI\r\nCONFIG SET requirepass secret\r\nPING\r\nEXEC\r\nRESET\r\nPING\r\nAUTH secret\r\nCONFIG SET requirepass \"\"\r\nRESET\r\nPING\r\nAUTH secret\r\n"},
}

// authTurns are turns with a server whose password is "secret".
var authTurns = [][]string{
	{"HELLO\r\nHELLO 3\r\n", "HELLO 3 AUTH default wrong\r\n", "HELLO 3 AUTH default secret\r\nGET nothing\r\n"},
	{"AUTH wrong\r\n", "AUTH default wrong\r\n", "AUTH bob secret\r\n", "AUTH a b c\r\nPING\r\nAUTH secret\r\nPING\r\n", "AUTH wrong\r\n", "PING\r\nRESET\r\nPING\r\n"},
}

// verbatim returns a script that replies with a verbatim string, as an inline command.
func verbatim(format string) string {
	return `EVAL "return {verbatim_string={format='` + format + "',string='*x*'}}\" 0\r\n"
}

func TestWire(t *testing.T) {
	compareWire(t, server.Config{}, exchanges, clientPlans)
}

func TestWireWithPassword(t *testing.T) {
	compareWire(t, server.Config{RequirePass: "secret"}, authExchanges, authTurns)
}

func compareWire(t *testing.T, c server.Config, exchanges []string, turns [][]string) {
	for _, sent := range exchanges {
		turns = append(turns, []string{sent})
	}
	redis := oracle.Start(t)
	admin := redis.Dial(t)
	mask := differences(admin.Version())
	for _, sent := range turns {
		name, _, _ := strings.Cut(sent[0], "\r\n")
		t.Run(name[:min(len(name), 80)], func(t *testing.T) {
			admin.Do(words("FLUSHALL")...)
			admin.Do(words("CONFIG", "SET", "requirepass", c.RequirePass)...)
			s := serve(t, c)
			want := mask(exchange(t, "unix", redis.Socket, sent...))
			got := mask(exchange(t, "tcp", s.resp, sent...))
			if got != want {
				t.Errorf("%.200q\nserver:       %q\nredis-server: %q", sent, got, want)
			}
		})
	}
}

// differences masks legitimate differences: in HELLO the client's number, the version and the modules, and errors that
// servers before 8.0 word differently.
func differences(v oracle.Version) func([]byte) string {
	hello := regexp.MustCompile(`(\$7\r\nversion)\r\n\$\d+\r\n[0-9.]+((?s:.*?)\$2\r\nid)\r\n:\d+((?s:.*?)\$7\r\nmodules)\r\n\*\d\r\n(?:[*%]\d\r\n\$4\r\nname\r\n(?s:.*?)args\r\n\*0\r\n)*`)
	return func(b []byte) string {
		text := hello.ReplaceAllString(string(b), "$1$2$3")
		if v.Before("8.0") {
			text = strings.ReplaceAll(text, "the HELLO <proto> AUTH", "the HELLO AUTH")
		}
		return text
	}
}

// exchange sends bytes, closes its sending side and returns all replies. Each part waits for the reply to the previous
// one. "(closed)" at the end means that the peer closed first.
func exchange(t *testing.T, network, addr string, sent ...string) []byte {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// An unknown command gets a reply in every state. Its reply marks the end, unless the peer closes.
	var got []byte
	for _, part := range sent {
		const end = "THE-END"
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		c.Write([]byte(end + "\r\n"))
		c.SetReadDeadline(time.Now().Add(time.Minute))
		from := len(got)
		buf := make([]byte, 64<<10)
		for !bytes.Contains(got[from:], []byte(end)) {
			n, err := c.Read(buf)
			got = append(got, buf[:n]...)
			switch {
			case errors.Is(err, os.ErrDeadlineExceeded):
				t.Fatalf("%.200q: no answer after %q", sent, got)
			case err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset by peer"):
				t.Fatal(err)
			case err != nil:
				return append(got, "(closed)"...)
			}
		}
	}
	return got
}

// numbers returns the words " 1", " 2" and so on. A set of more than 128 is not encoded as a small one.
func numbers(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, " %d", i+1)
	}
	return all.String()
}
