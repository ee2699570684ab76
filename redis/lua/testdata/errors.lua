local x; return x.y
local x; x.y = 1
return pcall(ipairs({}))
return pcall((ipairs({})))
local x; return x.y.z
local x = {}; return x.y.z
local x = {}; x.y.z = 1
local x = {}; return x[1].z
local x = {}; return x[1][2]
return undefinedglobal.x
undefinedfunction()
local t = {} t.x()
local t = {} t:method()
local t = {} t.a.b()
local f = 5 f()
return (5)()
return ("x")()
return 1 + nil
local a; return a + 1
local a; return 1 + a
local t = {} return t.x + 1
return undefinedglobal + 1
return "abc" + 1
return 1 + "abc"
local s = "abc" return s + 1
return {} + 1
return -{}
return -"x"
return #nil
return #5
local n return #n
return "a" .. nil
local n return "a" .. n
local t = {} return "a" .. t.x .. "b"
return "a" .. {} .. "b"
return nil .. "a"
return 1 < "2"
return {} < {}
return nil < 1
return "a" <= 1
return true > false
local up; local function f() return up.x end return f()
local up; local function f() return up() end return f()
local up; local function f() return up + 1 end return f()
error("msg")
error("msg", 0)
error("msg", 2)
error({code = 1})
error()
error(nil)
error(42)
local function f() error("in f", 2) end f()
local function f() error("in f") end f()
local function f() return error("tail") end f()
assert(false)
assert(nil, "custom")
assert(false, {})
assert(1, 2)
return assert(1, 2, 3)
assert()
return pcall(error, "x")
return pcall(error, "x", 2)
return pcall(nil)
return pcall()
return pcall(function() local x = nil; x() end)
return select(2, pcall(error, {1}))[1]
return xpcall(function() error("a") end, function(m) return "handled: " .. m end)
return xpcall(function() return 1, 2 end, print)
return select("#"), select("#", 1, nil), select(2, 1, 2, 3), select(-1, 1, 2)
return select(0)
return select(-5, 1)
return select("x")
return tostring(1, 2), type(nil)
return type()
return rawget(1, 2)
return rawequal(1)
return unpack()
return tonumber()
return tonumber({})
return tonumber({}, 16)
return loadstring("return 1 +")
return loadstring("x =", "=name")
return loadstring("x = = 2", "@file")
return loadstring("return 5")()
return load(function() return nil end)
local n = 0 return load(function() n = n + 1 return ({"return ", "7", nil})[n] end)()
return loadstring("a\nb\nc d")
return loadstring(string.rep("x", 100) .. " =")
return pcall(string.rep)
return pcall(string.rep, "x", -1)
local r = string.rep r()
local t = {r = string.rep} t.r()
("x"):rep()
string.rep("x")
string.rep(nil, 2)
math.floor("x")
math.floor({})
return math.floor("10")
ipairs(nil)
setmetatable({}, {__index = function(t, k) error("no " .. k) end}).foo()
return setmetatable({}, {__index = function(t, k) error("no " .. k, 2) end}).foo
local t = setmetatable({}, {__call = 5}) t()
local function f(n) return n == 0 and "done" or f(n - 1) end return f(100000)
local function f(n) return 1 + f(n + 1) end return select(2, pcall(f, 1))
local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()
local s = 0 for i = 1, 10 do if i == 5 then break end s = s + i end return s
local i = 0 repeat local j = i i = i + 1 until j >= 3 return i
local i = 0 while true do i = i + 1 if i > 5 then break end end return i
do local x = 1 end return x
local function f(a, b, ...) return a, b, ... end return f(1), f(1, 2, 3, 4), (f(1, 2))
local function f(...) local a, b = ... return b, a end return f(1, 2)
local function f(...) return arg.n, arg[1] end return f(5, 6)
local function f() return end return f(), (f())
return (function(...) return select("#", ...) end)(nil, nil)
local a <const> = 1
goto x
x = 
x
return return
if x then
for i = 1 do end
for i, do end
local function end
x = }
x = {1, 2
x = "unfinished
x = 'unfinished
x = [[unfinished
--[[ unfinished
x = 3x
x = 0x
x = 1..2
x = "\300"
f(
f(x
a.b:c = 1
a:b
(a) = 1
(a)
a, b
f() = 1
local 1
return ...
local function f() return ... end
break
while true do break x = 1 end
x = @
x = $y
x = a ! b
x = ~
x = ~=
local x = function
local x = function( end
local x = function(a,) end
local x = function(..., a) end
x = a.1
x = a.
x = a:
x = a:b
x = [=x
x = "a\
return 1,
repeat until
until x
else
end
local t = {f = function() return 1 end, ["x y"] = 2; 3} return t.f(), t["x y"], t[1]
return not not nil, nil and 1, false or "x", 1 and 2, nil or false, 1 or error("no")
local a = {} a.b = {} function a.b.c(x) return x end function a.b:d() return self == a.b end return a.b.c(1), a.b:d()
return 2 > 1 and "yes" or "no", 1 == 1.0, "x" ~= "y", 5 - 3 - 1, 2 * 3 + 4, (2 + 3) * 4, "a" .. "b" == "ab" and true
local co = coroutine.create(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return coroutine.resume(co, 1), select(2, coroutine.resume(co, 5)), coroutine.status(co), coroutine.resume(co)
local f = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) return f(), f(), f()
local f = coroutine.wrap(function() error("oops") end) f()
local f = coroutine.wrap(function() error({}) end) f()
local co = coroutine.create(function() error("x") end) return coroutine.resume(co)
coroutine.yield(1)
coroutine.create(1)
coroutine.resume(1)
local co co = coroutine.create(function() return coroutine.status(co), coroutine.running() == co, coroutine.resume(co) end) return coroutine.resume(co)
local co = coroutine.create(function() return pcall(coroutine.yield, 1) end) return coroutine.resume(co)
local co = coroutine.wrap(function() return table.sort({1, 2, 3}, function() coroutine.yield() end) end) return pcall(co)
return coroutine.running(), coroutine.status(coroutine.create(function() end))
return collectgarbage("count") > 0, collectgarbage(), collectgarbage("step") ~= nil
collectgarbage("x")
return string.dump
return _VERSION, _G._G == _G, _G.string == string
local t = {} for i = 1, 300 do t[i] = i end return #t, t[300], select("#", unpack(t))
return 1 --[[ comment ]] + 2 -- rest
return "\065\66\6700"
local a; a.b.c = 1
local a = 1; a.b = 2
local a = "x"; a.b = 2
local a = "x"; return a.b, a.len, ("x").y
return xpcall(error, function(e) error(1) end)
return xpcall(error, nil)
local n = 0; return xpcall(error, function(e) n = n + 1 if n < 3 then error(1) end return n end)
return math.fmod({})
return string.gsub("a", "b", nil, {})
for i in string.len do end
return coroutine.create(function() end) < "a"
return string.find("a\0b", "[\0]")
return collectgarbage("x\0y")
return pcall(loadstring("for i = {},\n2 do end", "=t"))
return pcall(loadstring("for i = 1,\nprint\ndo end", "=t"))
