package corpus

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// parseShown reads a RESP2 reply back from the form that Show prints.
func parseShown(text string) (resp.Value, error) {
	p := shown{lines: strings.Split(text, "\n")}
	return p.value(p.lines[0], 0)
}

type shown struct {
	lines []string
	at    int // the line that is being read
}

// value reads the value that begins with head, the rest of the current line;
// its further lines are indented by indent.
func (p *shown) value(head string, indent int) (resp.Value, error) {
	switch {
	case head == "(nil)":
		return resp.Nil, nil
	case head == "(empty array)":
		return resp.EmptyArray, nil
	case strings.HasPrefix(head, "(integer) "):
		n, err := strconv.ParseInt(head[len("(integer) "):], 10, 64)
		return resp.MakeInt(n), err
	case strings.HasPrefix(head, "(error) "):
		return resp.MakeError(head[len("(error) "):]), nil
	case strings.HasPrefix(head, `"`):
		words, err := resp.SplitLine(head)
		if err != nil || len(words) != 1 {
			return resp.Value{}, fmt.Errorf("not a quoted string: %s", head)
		}
		return resp.MakeBulk(words[0]), nil
	}
	if n := itemHead(head); n > 0 {
		return p.array(head, indent)
	}
	return resp.MakeStatus(head), nil
}

// itemHead returns the length of the "12) " at the start of s, or 0.
func itemHead(s string) int {
	digits := strings.TrimLeft(s, " ")
	index, _, ok := strings.Cut(digits, ") ")
	if _, err := strconv.Atoi(index); !ok || err != nil {
		return 0
	}
	return len(s) - len(digits) + len(index) + 2
}

func (p *shown) array(head string, indent int) (resp.Value, error) {
	v := resp.EmptyArray
	n := itemHead(head)
	for {
		e, err := p.value(head[n:], indent+n)
		if err != nil {
			return v, err
		}
		v.Elems = append(v.Elems, e)
		if p.at+1 == len(p.lines) {
			return v, nil
		}
		next := p.lines[p.at+1]
		if len(next) < indent || strings.TrimLeft(next[:indent], " ") != "" || itemHead(next[indent:]) != n {
			return v, nil
		}
		p.at++
		head = next[indent:]
	}
}
