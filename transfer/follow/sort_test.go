package follow

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSortByKey checks that commands of one key keep their order, and that no command passes one of several keys.
func TestSortByKey(t *testing.T) {
	several := []string{"SELECT 1", "FLUSHALL", "MSET a 1 b 2", "RENAME a b", "DEL a b", "SORT a STORE b", "MOVE a 1",
		"TS.ADD a 1 2", "COPY a b", "SINTERSTORE a b", "EVAL x 1 a", "NOSUCH a", "FUNCTION FLUSH", "PUBLISH a b"}
	one := []string{"SET %s 1", "INCR %s", "DEL %s", "LPUSH %s 1 2", "PEXPIREAT %s 1", "JSON.SET %s $ 1", "RESTORE %s 0 x", "XADD %s 1-1 a b"}
	for range 200 {
		var calls [][][]byte
		for range rand.IntN(60) {
			words := several[rand.IntN(len(several))]
			if rand.IntN(8) > 0 {
				words = fmt.Sprintf(one[rand.IntN(len(one))], string('a'+rune(rand.IntN(6))))
			}
			calls = append(calls, call(strings.Fields(words)...))
		}
		was := slices.Clone(calls)
		place := func(of [][]byte) int {
			return slices.IndexFunc(calls, func(c [][]byte) bool { return &c[0] == &of[0] })
		}
		sortByKey(calls)
		for i, a := range was {
			for _, b := range was[i+1:] {
				free := !slices.Contains(several, line(a)) && !slices.Contains(several, line(b)) &&
					string(a[1]) != string(b[1])
				if !free && place(a) > place(b) {
					t.Fatalf("%q passed %q", line(b), line(a))
				}
			}
		}
		for i := range len(calls) - 1 {
			a, okA := onlyKey(calls[i])
			b, okB := onlyKey(calls[i+1])
			if okA && okB && string(a) > string(b) {
				t.Fatalf("%q stands before %q", line(calls[i]), line(calls[i+1]))
			}
		}
	}
}

func line(args [][]byte) string { return string(bytes.Join(args, []byte(" "))) }
