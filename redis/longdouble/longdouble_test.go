package longdouble

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

// longDoubles are texts that Redis may or may not take for a long double.
var longDoubles = []string{
	"0", "-0", "+0", "1", "-1", "+1", "007", "0.1", "0.2", "0.3", "-0.1", ".5", "5.", "1.5e3", "1E-3", "1e+2", "3.0e3", "1e17", "1e18", "1e-17",
	"1e-18", "5e-18", "4.9e-18", "5.1e-18", "1e-300", "1e300", "1e4932", "1.18e4932", "1.2e4932", "-1.2e4932", "1e5000", "-1e5000",
	"1e-4950", "3.6e-4951", "1.8e-4951", "1.9e-4951", "1e-4952", "1e-5000", "1e99999999999999999999", "0e99999999999999999999",
	"0x10", "0X1F", "0x1.8p3", "0x1.8", "0x.8p-1", "0x1p16383", "0x1p16384", "0x1p-16445", "0x1p-16446", "0x1.8p-16446", "0x", "0x.p1", "-0x10", "0xap", "0x1p+2", "0x1pp2",
	"inf", "-inf", "+Infinity", "INF", "infinit", "nan", "-nan", "nan(1)", "", "-", "+", ".", "e5", "1e", "1e+", "1e-+5", "1_000", "1 ", " 1", "1\x00", "\x001", "--1", "+-1", "1.2.3", "1e5.", "abc",
	"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "18446744073709551617", "36893488147419103233",
	"123456789.123456789", "0.30000000000000004", "3.14159265358979323846264338327950288", "99999999999999999999.5", "1.00000000000000000005", "1.000000000000000000054", "1.00000000000000000005421010862427522170037264004349708557128906250",
	"1.0000000000000000000542101086242752217003726400434970855712890624", "179769313486231570000000000000000000000.5",
	strings.Repeat("1", 255), "0." + strings.Repeat("3", 5117), "0." + strings.Repeat("3", 5118), strings.Repeat("0", 5113) + "1e4932",
	"0." + strings.Repeat("0", 5000) + "1e5000", "0x." + strings.Repeat("0", 5000) + "1p20000", "1" + strings.Repeat("0", 200) + "e-200",
}

// TestLongDoubleParse adds nothing to each text on the real Redis.
func TestLongDoubleParse(t *testing.T) {
	c := oracle.Start(t).Dial(t)
	for _, text := range longDoubles {
		c.Do([]byte("SET"), []byte("k"), []byte("0"))
		v := c.Do([]byte("INCRBYFLOAT"), []byte("k"), []byte(text))
		f, ok := Parse([]byte(text))
		got := resp.MakeError("ERR value is not a valid float")
		switch {
		case ok && f.IsInf():
			got = resp.MakeError("ERR increment would produce NaN or Infinity")
		case ok:
			got = resp.MakeBulk(Format(f))
		}
		if got.Kind != v.Kind || string(got.Str) != string(v.Str) {
			t.Errorf("%q is %s, redis-server says %s", text, got.Str, v.Str)
		}
	}
}

// TestLongDoubleSum adds every number to every other, as the real Redis does.
func TestLongDoubleSum(t *testing.T) {
	c := oracle.Start(t).Dial(t)
	for i, x := range longDoubles {
		a, ok := Parse([]byte(x))
		if !ok {
			continue
		}
		for _, y := range longDoubles[i:] {
			b, ok := Parse([]byte(y))
			if !ok {
				continue
			}
			c.Do([]byte("SET"), []byte("k"), []byte(x))
			v := c.Do([]byte("INCRBYFLOAT"), []byte("k"), []byte(y))
			sum, ok := Add(a, b)
			switch {
			case !ok && !v.IsError():
				t.Errorf("%s + %s is not refused, redis-server says %s", x, y, v.Str)
			case ok && string(Format(sum)) != string(v.Str):
				t.Errorf("%s + %s is %s, redis-server says %s", x, y, Format(sum), v.Str)
			}
		}
	}
}
