package translator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

// TestDistancesAgainstRedis compares distances in every unit. Distances between places far from opposite have the same
// bytes. Between opposite places the last bit is centimetres, and the sines of C libraries are wrong once in 700 times,
// so a few of these may differ.
func TestDistancesAgainstRedis(t *testing.T) {
	c, redis := newClient(t), oracle.Start(t).Dial(t)
	draw := rand.New(rand.NewPCG(5, 6))
	different, opposite := 0, 0
	for i := range 1200 {
		lon, lat := draw.Float64()*360-180, draw.Float64()*170-85
		var lon2, lat2 float64
		far := false
		switch i % 4 {
		case 0:
			lon2, lat2 = draw.Float64()*360-180, draw.Float64()*170-85
		case 1:
			near := math.Pow(10, -7*draw.Float64())
			lon2, lat2 = lon*(1-near), lat*(1-near)
		case 2:
			lat, lon2, lat2 = 85.05, draw.Float64()*360-180, math.Copysign(85.05, draw.Float64()-0.5)
		case 3:
			far = true
			lon2, lat2 = math.Remainder(lon+180, 360), -lat*(1-math.Pow(10, -9*draw.Float64()))
		}
		add := []string{"GEOADD", "k", decimal(lon), decimal(lat), "a", decimal(lon2), decimal(lat2), "b"}
		c.do(add...)
		redis.Do(byteWords(add)...)
		for _, unit := range []string{"m", "km", "ft", "mi"} {
			words := []string{"GEODIST", "k", "a", "b", unit}
			want, got := string(redis.Do(byteWords(words)...).Str), string(c.do(words...).Str)
			if far {
				opposite++
			}
			switch {
			case want == got && want != "":
			case far && math.Abs(number(t, want)-number(t, got)) < 1:
				different++
			default:
				t.Errorf("%v, %s: redis-server %q, meowdis %q", add[2:], unit, want, got)
			}
		}
	}
	if different > opposite/50 {
		t.Errorf("%d of %d distances between opposite places differ", different, opposite)
	}
}

func decimal(f float64) string { return fmt.Sprintf("%.17g", f) }

func number(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Error(err)
	}
	return f
}
