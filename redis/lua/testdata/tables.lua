local t = {a=1,b=2,c=3,d=4,e=5} local s = "" for k, v in pairs(t) do s = s .. k .. v end return s
local t = {} for i = 1, 20 do t["key" .. i] = i end local s = "" for k, v in pairs(t) do s = s .. k .. "," end return s
local t = {} for i = 20, 1, -1 do t[i] = i end local s = "" for k, v in pairs(t) do s = s .. k .. "," end return s, #t
local t = {1, 2, nil, 4} return #t, t[4]
local t = {1, 2, nil, nil, 5} return #t
local t = {nil, nil, 3} return #t
local t = {n = 1, 2, 3} t[4] = 5 return #t
local t = {} t[1] = 1 t[2] = 2 t[4] = 4 return #t
local t = {} for i = 1, 10 do t[i] = i end t[5] = nil t[10] = nil return #t
local t = {10, 20, 30, x = 1, y = 2, [1.5] = "f", [true] = "b", [-1] = "n"} local s = "" for k, v in pairs(t) do s = s .. tostring(k) .. "=" .. tostring(v) .. " " end return s
local t = {} for _, w in ipairs{"foo", "bar", "baz", "qux", "id", "name", "type", "value", "score", "member"} do t[w] = 1 end local s = "" for k in pairs(t) do s = s .. k .. " " end return s
local t = {x=1, y=2, z=3} t.x = nil t.w = 4 t.v = 5 local s = "" for k, v in pairs(t) do s = s .. k .. v end return s
local t = {} for i = 1, 100 do t[i * 1.5] = i end local s = "" for k in pairs(t) do s = s .. k .. "," end return s
local t = {} for i = 1, 50 do t[i * 1000003] = i end local s = "" for k in pairs(t) do s = s .. k .. "," end return s
local t = {[1]="a",[2]="b",[3]="c",[4]="d"} local s = "" for k in pairs(t) do s = s .. k end return s, #t
local t = {1,2,3,[10]=10,[20]=20,foo="bar"} local s = "" for k in pairs(t) do s = s .. k .. " " end return s, #t
local t = {} for i = 1, 8 do t[i] = i end for i = 1, 7 do t[i] = nil end local s = "" for k in pairs(t) do s = s .. k end t.x = 1 return s, #t
local t = {1,2,3} for k in pairs(t) do t[k] = nil end return next(t)
return next({}), next({5}), next({a=1})
return next({}, "x")
return next()
local t = {5, 2, 8, 1} table.sort(t) return table.concat(t, ",")
local t = {5, 2, 8, 1, 9, 3, 7} table.sort(t, function(a, b) return a > b end) return table.concat(t, ",")
local t = {} for i = 1, 50 do t[i] = {k = (i * 7) % 10, n = i} end table.sort(t, function(a, b) return a.k < b.k end) local s = "" for _, e in ipairs(t) do s = s .. e.k .. ":" .. e.n .. " " end return s
local t = {3, "a"} table.sort(t)
local t = {1, 2, nil, 3} t[5] = 1 table.sort(t, function(a, b) return true end)
local t = {} for i = 1, 40 do t[i] = i % 7 end table.sort(t, function(a, b) return true end)
local t = {"banana", "apple", "Cherry"} table.sort(t) return table.concat(t, " ")
local t = {} table.insert(t, "a") table.insert(t, 1, "b") table.insert(t, "c") return table.concat(t, ","), table.remove(t), table.remove(t, 1), #t, table.remove({}), table.remove(t, 5)
table.insert({}, 1, 2, 3)
table.insert({})
table.insert(nil, 1)
table.insert({}, "x", 1)
return table.concat({1, 2, 3}, ", "), table.concat({}, "x"), table.concat({1, 2, 3}, "-", 2), table.concat({1, 2, 3}, "-", 2, 3), table.concat({1, 2.5, "x"})
return table.concat({1, {}, 3})
return table.concat({1, nil, 3}, ",", 1, 3)
return table.maxn({1, 2, [10] = 1}), table.getn({1, 2}), select("#", unpack({1, nil, 3}, 1, 3)), unpack({1, 2, 3}, 2), unpack({1, 2}, 1, 3)
return unpack({}, 1, 1e7)
table.setn({}, 1)
local s = "" table.foreach({1, 2, x = 3}, function(k, v) s = s .. k .. v end) return s
local s = "" table.foreachi({1, 2, x = 3}, function(k, v) s = s .. k .. v end) return s
return #{n = 3}, #{1, 2, 3}, #"", #{nil}, #{nil, 2}
local t = setmetatable({}, {__index = function(t, k) return k .. "!" end}) return t.x, t[1], rawget(t, "x")
local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) t.x = 5 return t.x
local t = setmetatable({}, {__index = {a = 1}, __call = function(self, x) return x + 1 end, __tostring = function() return "T" end, __len = function() return 9 end, __concat = function(a, b) return "cat" end, __unm = function() return "neg" end, __eq = function() return true end, __lt = function() return true end, __le = function() return false end}) return t.a, t(5), tostring(t), #t, t .. "x", "x" .. t, -t, t < t, t <= t
local a, b = setmetatable({}, {__eq = function() return true end}), setmetatable({}, {__eq = function() return true end}) return a == b
local mt = {__eq = function() return true end} local a, b = setmetatable({}, mt), setmetatable({}, mt) return a == b, rawequal(a, b)
local mt = {__add = function(a, b) return "add" end, __mod = function() return "mod" end} local a = setmetatable({}, mt) return a + 1, 1 + a, a % 2
return getmetatable("x").__index == string, getmetatable({}), getmetatable(setmetatable({}, {__metatable = "locked"}))
setmetatable(setmetatable({}, {__metatable = 1}), {})
setmetatable({}, 1)
setmetatable({})
setmetatable(1, {})
local t = {} t[nil] = 1
local t = {} t[0/0] = 1
local t = {} return t[nil], t[0/0]
rawset({}, nil, 1)
local t = {f = function(self, x) return self.v + x end, v = 10} return t:f(5), t.f(t, 6)
local t = {1, 2, 3} local n = 0 for i, v in ipairs(t) do n = n + i * v end return n
for i, v in ipairs() do end
for i in pairs(nil) do end
for i in 5 do end
for i in nil do end
for i = "a", 2 do end
for i = 1, {} do end
for i = 1, 2, "x" do end
local s = 0 for i = 10, 1, -3 do s = s + i end for i = 1, 0 do s = 100 end for i = 1, 2, 0.5 do s = s + i end for i = "1", "3" do s = s + i end return s
local t = {} for i = 1, 3 do t[i] = function() i = i + 1 return i end end return t[1](), t[1](), t[2]()
local t = {1, 2, 3, nil} t[#t + 1] = "x" return #t, t[4]
local t = {(function() return 1, 2, 3 end)()} return #t
local t = {(function() return 1, 2, 3 end)(), 10} return #t
local t = {((function() return 1, 2, 3 end)())} return #t
local function f(...) return {...}, select("#", ...) end local t, n = f(1, nil, 3, nil) return #t, n
local t = {} for i = 1, 17 do t[i] = i end for k, v in pairs({unpack(t)}) do t[k] = v + 1 end return table.concat(t, " ")
local t = {a = 1, [1] = 2, "x"} return t[1]
local t = {} t.x, t.y = 1 return t.x, t.y
local a = {} local i = 1 i, a[i] = i + 1, 20 return i, a[1], a[2]
local x, y = 1, 2 x, y = y, x return x, y
local t = {1, 2, 3, 4, 5, 6, 7, 8, 9} for i = #t, 1, -2 do table.remove(t, i) end return table.concat(t, ",")
local t = {} for i = 1, 30 do t[tostring(i * 37 % 101)] = i end for i = 1, 30, 3 do t[tostring(i * 37 % 101)] = nil end for i = 1, 8 do t["n" .. i] = i end local s = "" for k, v in pairs(t) do s = s .. k .. " " end return s
local t = {"a", [1] = "b"} return t[1]
local t = {"a", [2] = "b", "c", [1] = "d"} return t[1], t[2]
local t = {1, 2} table.insert(t, -1, 9) return t[-1], t[0], t[1], t[2], t[3]
for i = 1/3, -7, -6 do print(string.format("%.17g", i)) end
