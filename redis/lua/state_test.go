package lua_test

import (
	"errors"
	"testing"

	"github.com/meowdis/meowdis/redis/lua"
)

// What never ends, also between pcalls and in patterns, ends when Interrupt says so.
func TestInterrupt(t *testing.T) {
	stop := errors.New("stop")
	for _, source := range []string{
		`while true do end`,
		`repeat until false`,
		`for i = 1, math.huge do end`,
		`local function f() return f() end f()`,
		`while true do pcall(error, "x") end`,
		`local function f() while true do pcall(f) end end f()`,
		`coroutine.wrap(function() while true do end end)()`,
		`string.rep("a", 60):find(string.rep("a*", 30) .. "b")`,
		`table.sort({3, 2, 1, 5, 4}, function() while true do end end)`,
		`local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() return t[1] end) end`,
	} {
		t.Run(source, func(t *testing.T) {
			s := lua.NewState()
			s.OpenLibraries()
			defer s.Close()
			asked := 0
			s.Interrupt = func() error {
				if asked++; asked > 20 {
					return stop
				}
				return nil
			}
			fn, err := s.Load(source, "=t")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Call(fn); !errors.Is(err, stop) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// What holds more than the limit fails; what only makes garbage does not.
func TestMemory(t *testing.T) {
	for source, fails := range map[string]bool{
		`local s = "x" while true do s = s .. s end`:                                              true,
		`local t = {} while true do t[#t + 1] = {} end`:                                           true,
		`local t = {} for i = 1, math.huge do t["k" .. i] = i end`:                                true,
		`string.rep("x", 2^31 - 1)`:                                                               true,
		`string.rep("x", 2^20):gsub(".", ("y"):rep(1000))`:                                        true,
		`local t = {} for i = 1, 1e6 do t[i] = function() return t end end`:                       true,
		`local t = {} for i = 1, 1e6 do t[i] = coroutine.create(function() end) end`:              true,
		`table.concat({("x"):rep(2^22), ("x"):rep(2^22), ("x"):rep(2^22)}, ("y"):rep(2^22))`:      true,
		`local s for i = 1, 300 do s = ("x"):rep(2^20) end`:                                       false,
		`for i = 1, 1e5 do local t = {i, {i}} end`:                                                false,
		`local t = {} for i = 1, 1e5 do t[i % 10] = "v" .. i end`:                                 false,
		`local n = 0 for i = 1, 50 do if not pcall(string.rep, "x", 2^30) then n = n + 1 end end`: false,
	} {
		t.Run(source, func(t *testing.T) {
			s := lua.NewState()
			s.OpenLibraries()
			defer s.Close()
			s.SetMemoryLimit(16 << 20)
			fn, err := s.Load(source, "=t")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Call(fn)
			if (err != nil) != fails || fails && err.Error() != lua.ErrMemory.Error() {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func BenchmarkLoop(b *testing.B) {
	s := lua.NewState()
	s.OpenLibraries()
	fn, err := s.Load(`local n, t = 0, {} for i = 1, 1000 do n = n + i % 7 t[i] = n end return n`, "=t")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Call(fn); err != nil {
			b.Fatal(err)
		}
	}
}
