package translator_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestArrayPages searches and adds up more values than one page holds.
func TestArrayPages(t *testing.T) {
	c := newClient(t)
	const n = 2500
	args := []string{"ARMSET", "a"}
	sum := 0
	for i := range n {
		args = append(args, strconv.Itoa(i*i), strconv.Itoa(i))
		sum += i
	}
	c.do(args...)
	c.expect(
		"AROP a 0 18446744073709551614 SUM", fmt.Sprintf("$%d %d", len(strconv.Itoa(sum)), sum),
		"AROP a 0 18446744073709551614 MAX", "$4 2499",
		"AROP a 1000000 998001 MIN", "$3 999",
		"AROP a 0 999999 USED", ":1000",
		"ARGREP a - + EXACT 999 EXACT 1000 EXACT 1999 EXACT 2000 EXACT 2499", "*5 :998001 :1000000 :3996001 :4000000 :6245001",
		"ARGREP a + - EXACT 0 EXACT 499 EXACT 500 EXACT 1500", "*4 :2250000 :250000 :249001 :0",
		"ARGREP a + - GLOB 1* LIMIT 1", "*1 :3996001",
	)
	if found := c.do("ARGREP", "a", "-", "+", "RE", "."); len(found.Elems) != n {
		t.Errorf("ARGREP finds %d values of %d", len(found.Elems), n)
	}
	// A page ends at the end of the range.
	c.expect("AROP a 0 998001 MAX", "$3 999", "ARGREP a 998001 0 EXACT 0", "*1 :0")
}

// TestBigIndexes expects the number kinds of RESP3.
func TestBigIndexes(t *testing.T) {
	newClient(t).expect(
		"ARSET a 18446744073709551613 x y", ":2",
		"ARLEN a", "(18446744073709551615",
		"ARGREP a + - MATCH x WITHVALUES", "*1 *2 (18446744073709551613 $1 x",
		"ARSEEK a 9223372036854775807", ":1",
		"ARNEXT a", ":9223372036854775807",
		"ARINSERT a v w", "(9223372036854775808",
		"ARNEXT a", "(9223372036854775809",
		"ARSEEK a 18446744073709551615", ":1",
		"ARNEXT a", "_",
	)
}

func TestGrepLimits(t *testing.T) {
	c := newClient(t)
	call := append([]string{"ARGREP", "a", "-", "+"}, strings.Fields(strings.Repeat("MATCH x ", 250))...)
	if v := c.do(call...); v.IsError() {
		t.Errorf("250 predicates: %s", v.Str)
	}
	if v := c.do(append(call, "MATCH", "x")...); string(v.Str) != "ERR too many predicates, maximum is 250" {
		t.Errorf("251 predicates: %s", v.Str)
	}
	if v := c.do("ARGREP", "a", "-", "+", "RE", strings.Repeat("x", 2048)); v.IsError() {
		t.Errorf("a long regular expression: %s", v.Str)
	}
	if v := c.do("ARGREP", "a", "-", "+", "RE", strings.Repeat("x", 2049)); string(v.Str) != "ERR regular expression is too long, maximum is 2048 bytes" {
		t.Errorf("too long a regular expression: %s", v.Str)
	}
}

// TestArrayView reads the readable view of arrays.
func TestArrayView(t *testing.T) {
	c := newClient(t)
	c.do("ARMSET", "a", "0", "x", "9223372036854775808", "y", "18446744073709551614", "z")
	var got []string
	for _, row := range c.exec(`SELECT key, "index", value FROM v_arrays`) {
		got = append(got, fmt.Sprintf("%s %s %s", row[0].Bytes(), row[1].Bytes(), row[2].Bytes()))
	}
	if want := "a 0 x,a 9223372036854775808 y,a 18446744073709551614 z"; strings.Join(got, ",") != want {
		t.Errorf("%q", got)
	}
}
