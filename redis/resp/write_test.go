package resp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

var inf = math.Inf(1)

// replies has every kind of value, alone and inside others.
var replies = []resp.Value{
	resp.Nil, resp.NilArray, resp.OK, resp.MakeStatus(""), resp.MakeError("ERR no"), resp.MakeError("ERR two\r\nlines"),
	resp.MakeInt(0), resp.MakeInt(math.MaxInt64), resp.MakeInt(math.MinInt64),
	resp.EmptyBulk, resp.MakeBulk(nil), resp.MakeString("a\r\nb\x00\xff"),
	resp.EmptyArray, resp.EmptyMap, resp.EmptySet,
	resp.MakeDouble(0.1), resp.MakeDouble(inf), resp.MakeDouble(-inf), resp.MakeDouble(-0.5), resp.MakeDouble(1e300),
	{Kind: resp.Bool}, {Kind: resp.Bool, Int: 1},
	resp.MakeVerbatim("txt", []byte("text\n")), resp.MakeVerbatim("m", []byte("*b*")),
	{Kind: resp.BigNumber, Str: []byte("12345678901234567890")},
	resp.MakeArray(resp.One, resp.Nil, resp.MakeArray(resp.MakeString("x"), resp.EmptyArray), resp.MakeError("ERR inside")),
	resp.MakeMap(resp.MakeString("k"), resp.MakeArray(resp.MakeDouble(1.5)), resp.MakeString("l"), resp.EmptyMap),
	{Kind: resp.Set, Elems: []resp.Value{resp.MakeString("a"), resp.MakeString("b")}},
	{Kind: resp.Push, Elems: []resp.Value{resp.MakeString("message"), resp.One}},
	{Kind: resp.Scored, Elems: []resp.Value{resp.MakeString("m"), resp.MakeDouble(3), resp.MakeString("n"), resp.MakeDouble(-inf)}},
	{Kind: resp.Scored},
}

// asRESP3 is v as a RESP3 client sees it: pairs are arrays, both nulls are one,
// and an error has one line.
func asRESP3(v resp.Value) resp.Value {
	switch v.Kind {
	case resp.NullArray:
		return resp.Nil
	case resp.Scored:
		pairs := resp.EmptyArray
		for i := 0; i+1 < len(v.Elems); i += 2 {
			pairs.Elems = append(pairs.Elems, resp.MakeArray(v.Elems[i], v.Elems[i+1]))
		}
		return pairs
	}
	return v
}

// normal has the empty forms that a reader makes, at every depth.
func normal(v resp.Value) resp.Value {
	switch v.Kind {
	case resp.Bulk, resp.Status, resp.Error:
		line := []byte{}
		for _, b := range v.Str {
			if v.Kind == resp.Error && (b == '\r' || b == '\n') {
				b = ' '
			}
			line = append(line, b)
		}
		v.Str = line
	case resp.Array, resp.Map, resp.Set, resp.Push:
		elems := []resp.Value{}
		for _, e := range v.Elems {
			elems = append(elems, normal(e))
		}
		v.Elems = elems
	}
	return v
}

// TestFormatDouble prints doubles of every size as redis-server does: one before 8.0
// can only say that the number is the same.
func TestFormatDouble(t *testing.T) {
	conn := oracle.Start(t).Dial(t)
	old := conn.Version().Before("8.0")
	random := rand.New(rand.NewPCG(1, 2))
	doubles := []float64{0, 1, -1, 0.1, 3, 100000, 1e6, 1e15, 1e16, 123456789012345680, 1e17, 1e18, 1e21, 1e23, 1e-4, 1e-5, 1 << 62, 1<<62 + 1024, 5e-324, math.MaxFloat64, inf, -inf}
	for range 5000 {
		doubles = append(doubles, math.Float64frombits(random.Uint64()), random.Float64()*1000, float64(random.Int64N(1<<60)), random.ExpFloat64(),
			float64(random.Int64N(1<<55))/16, float64(random.Int64N(1_000_000))/1000)
	}
	for batch := range slices.Chunk(slices.DeleteFunc(doubles, math.IsNaN), 500) {
		add, ask := words([]string{"ZADD", "z"}), words([]string{"ZMSCORE", "z"})
		for i, f := range batch {
			add = append(add, words([]string{strconv.FormatFloat(f, 'g', -1, 64), strconv.Itoa(i)})...)
			ask = append(ask, strconv.AppendInt(nil, int64(i), 10))
		}
		conn.Do(add...)
		for i, v := range conn.Do(ask...).Elems {
			got, want := resp.FormatDouble(batch[i]), string(v.Str)
			if old {
				f, _ := strconv.ParseFloat(got, 64)
				theirs, _ := strconv.ParseFloat(want, 64)
				got, want = fmt.Sprint(f), fmt.Sprint(theirs)
			}
			if got != want {
				t.Errorf("%g is printed as %s, redis-server says %s", batch[i], got, want)
			}
		}
	}
}

// TestFormatDoubleForms has the forms that Redis 8.0 prints, whatever server is there.
func TestFormatDoubleForms(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "-0", 0.1: "0.1", -0.5: "-0.5", 1e-6: "0.000001", 1.5e-6: "1.5e-6", 1e-7: "1e-7",
		0.001234567890123456: "0.001234567890123456", 0.0001234567890123456: "1.234567890123456e-4",
		1700000000.123456: "1700000000.123456", 1700000000.1234562: "1.7000000001234562e+9",
		1e17: "100000000000000000", 1 << 62: "4611686018427387904", 4.7e18: "4.7e+18", 12345678901234567000: "12345678901234567000",
		1e23: "99999999999999990000000", -212690.240377094: "-2.1269024037709401e+5", 5e-324: "5e-324",
	} {
		if got := resp.FormatDouble(f); got != want {
			t.Errorf("%g is printed as %s, want %s", f, got, want)
		}
	}
}
