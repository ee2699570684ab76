package geo

import (
	"math"
	"strings"
	"testing"
)

// Redis documentation, Query syntax, Geospatial and GEOSHAPE fields of FT.CREATE.
func TestRelations(t *testing.T) {
	const square = "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))"
	for _, c := range []struct {
		a, b               string
		spherical          bool
		within, intersects bool
	}{
		{"POINT(5 5)", square, false, true, true},
		{"POINT(10 5)", square, false, false, true},
		{"POINT(11 5)", square, false, false, false},
		{"POINT(1 1)", "POINT(1 1)", false, true, true},
		{"POLYGON((1 1, 1 2, 2 2, 2 1, 1 1))", square, false, true, true},
		{square, square, false, true, true},
		{square, "POINT(5 5)", false, false, true},
		{"POLYGON((8 8, 12 8, 12 12, 8 12, 8 8))", square, false, false, true},
		{"POLYGON((20 20, 21 20, 21 21, 20 20))", square, false, false, false},
		{"POLYGON((-5 4, 15 4, 15 6, -5 6, -5 4))", square, false, false, true},
		{"POLYGON((4 4, 6 4, 6 6, 4 6, 4 4))", "POLYGON((0 0,10 0,10 10,0 10,0 0),(3 3,7 3,7 7,3 7,3 3))", false, false, false},
		{"POLYGON((2 2, 8 2, 8 8, 2 8, 2 2))", "POLYGON((0 0,10 0,10 10,0 10,0 0),(3 3,7 3,7 7,3 7,3 3))", false, false, true},
		{"POLYGON((1 1, 9 1, 9 9, 1 9, 1 1))", "POLYGON((0 0,6 0,6 4,4 4,4 6,10 6,10 10,0 10,0 0))", false, false, true},
		{"POINT(34.8 32.05)", "POLYGON((34.5 31.5, 35.5 31.5, 35.5 32.5, 34.5 32.5, 34.5 31.5))", true, true, true},
		{"POINT(0 70)", "POLYGON((-60 50, 60 50, 60 60, -60 60, -60 50))", true, true, true}, // the arc bulges north
		{"POINT(0 70)", "POLYGON((-60 50, 60 50, 60 60, -60 60, -60 50))", false, false, false},
		{"POINT(180 1)", "POLYGON((179 0, -179 0, -179 2, 179 2, 179 0))", true, true, true}, // across the date line
		{"POINT(0 1)", "POLYGON((179 0, -179 0, -179 2, 179 2, 179 0))", true, false, false},
		{"POINT(10 89)", "POLYGON((0 80, 90 80, 180 80, -90 80, 0 80))", true, true, true}, // around the pole
	} {
		a, err := Parse(c.a, c.spherical)
		if err != nil {
			t.Fatal(c.a, err)
		}
		b, err := Parse(c.b, c.spherical)
		if err != nil {
			t.Fatal(c.b, err)
		}
		if w, i := a.Within(b, c.spherical), a.Intersects(b, c.spherical); w != c.within || i != c.intersects ||
			i != b.Intersects(a, c.spherical) {
			t.Errorf("%s, %s, %v: within %v, intersects %v", c.a, c.b, c.spherical, w, i)
		}
	}
}

func TestParse(t *testing.T) {
	for _, wkt := range []string{"", "POINT", "POINT(1)", "POINT(1 2", "POINT(1 2) x", "POINT(1 2, 3 4)", "POLYGON((0 0, 1 1, 0 0))",
		"POLYGON((0 0, 1 1, 1 0, 0 1))", "LINE(0 0, 1 1)", "POINT(a b)", "POLYGON()",
		"POLYGON((" + strings.Repeat("0 0,", 5000) + "0 0))"} {
		if _, err := Parse(wkt, false); err == nil {
			t.Errorf("%.60s: no error", wkt)
		}
	}
	if _, err := Parse(" point ( 1e1 -2.5 ) ", true); err != nil {
		t.Error(err)
	}
	if _, err := Parse("POINT(181 0)", true); err == nil {
		t.Error("longitude 181")
	}
}

// The distance of Palermo and Catania is the example of Redis's GEODIST.
func TestHaversine(t *testing.T) {
	if d := Haversine(13.361389, 38.115556, 15.087269, 37.502669); math.Abs(d-166274.15) > 1 {
		t.Error(d)
	}
}

func FuzzShapes(f *testing.F) {
	f.Add("POINT(1 2)", "POLYGON((0 0,1 0,1 1,0 0))", true)
	f.Fuzz(func(t *testing.T, x, y string, spherical bool) {
		a, err := Parse(x, spherical)
		b, err2 := Parse(y, spherical)
		if err != nil || err2 != nil {
			return
		}
		a.Within(b, spherical)
		a.Intersects(b, spherical)
	})
}
