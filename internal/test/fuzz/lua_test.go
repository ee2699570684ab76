package fuzz

import (
	"flag"
	"testing"
	"time"
)

var luaPrograms = flag.Int("programs", 1000, "how many Lua programs TestLua compares")

// TestLua runs random Lua programs on meowdis and on redis-server, half of them over RESP3.
func TestLua(t *testing.T) {
	const batch = 100
	sides := [2]*luaSides{newLuaSides(t, false), newLuaSides(t, true)}
	if sides[0].theirs.Version().Before("8.0") {
		t.Skip("scripts are compared with Redis 8.0")
	}
	began, found := time.Now(), 0
	for first := 0; first < *luaPrograms && found < mostFound; first += batch {
		programs := make([]*luaProgram, batch)
		for i := range programs {
			programs[i] = newLuaProgram(*firstSeed + uint64(first+i))
		}
		s := sides[first/batch%2]
		for _, d := range s.play(programs) {
			if found++; found > mostFound {
				break
			}
			t.Errorf("a program differs:\n%s", s.minimise(d))
		}
		if ran := first + batch; ran%10_000 == 0 {
			t.Logf("%d programs, %d differ", ran, found)
		}
	}
	t.Logf("%d programs in %v, of which %d crash redis-server and %d do not end",
		*luaPrograms, time.Since(began).Round(time.Millisecond), sides[0].crashes+sides[1].crashes, sides[0].endless+sides[1].endless)
}
