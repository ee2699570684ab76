package soak

import (
	"strconv"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// TestKilledBetweenSlices kills a server while it makes a large key in slices: nobody sees what it has made so
// far, doctor has nothing to say, and a sweep deletes it once it has expired.
func TestKilledBetweenSlices(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	p := start(t, path)
	s, err := p.dial(false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		line := "ZADD zset"
		for k := range 1000 {
			n := strconv.Itoa(i*1000 + k)
			line += " " + n + " m" + n
		}
		if err := do(s, words(line)); err != nil {
			t.Fatal(err)
		}
	}
	hour := time.Now().Add(time.Hour).UnixMilli() // when all that is being made has expired
	file, err := local.Open(path, local.Options{SweepEvery: -1, Now: func() int64 { return hour }})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	hidden := func() int64 {
		rows, err := queryOf(file)("SELECT count(*) FROM keys WHERE db < 0")
		if err != nil {
			t.Fatal(err)
		}
		return rows[0][0].Int()
	}
	for tries := 0; hidden() == 0; tries++ { // since it may be done before it is killed
		if tries == 5 {
			t.Fatal("no server was killed in the middle")
		}
		if tries > 0 {
			p = start(t, path)
			if s, err = p.dial(false); err != nil {
				t.Fatal(err)
			}
		}
		if err := do(s, words("DEL to")); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- do(s, words("ZUNIONSTORE to 1 zset WEIGHTS 2")) }()
		for deadline := time.Now().Add(time.Minute); hidden() == 0 && len(ended) == 0 && time.Now().Before(deadline); {
		}
		p.kill()
		<-ended
		s.Close()
	}
	examine(t, file)
	c := storetest.NewClient(t, engine.New(file))
	c.Want("EXISTS to", "(integer) 0")
	c.Want("DBSIZE", "(integer) 1")
	for swept := -1; swept != 0; {
		if swept, err = file.Sweep(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
	}
	examine(t, file)
	rows, err := queryOf(file)("SELECT (SELECT count(*) FROM keys), (SELECT count(*) FROM zsets), (SELECT count(*) FROM pending_deletes)")
	if err != nil || rows[0][0].Int() != 1 || rows[0][1].Int() != 40_000 || rows[0][2].Int() != 0 {
		t.Errorf("keys, elements and pending deletes: %v, %v", rows, err)
	}
	c.Want("ZUNIONSTORE to 1 zset", "(integer) 40000")
}
