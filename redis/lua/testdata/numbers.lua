return 1, 1.5, 0.1, 1/3, 100, 1e14, 1e15, 1e100, 123456789012345, 12345678901234567890, -0, 0/-1
return 0/0, -(0/0), 1/0, -1/0, math.huge - math.huge, 0 * math.huge, math.huge % 2, 5 % math.huge, -5 % math.huge
local n, p = 0/0, -(0/0); return math.atan2(n, p), math.atan2(p, n), math.atan2(n, 1), math.atan2(1, p)
return tostring(2^53), tostring(2^63), 2^0.5, (-8)^(1/3), 10 .. 20, 1e3 .. "", 1.10 .. ""
return tonumber("2e2"), tonumber("0x10"), tonumber("  12  "), tonumber("1 2"), tonumber(""), tonumber(" "), tonumber("1e"), tonumber("0x"), tonumber("1e+5")
return tonumber("inf"), tonumber("nan"), tonumber("-inf"), tonumber("infinity"), tonumber("0x1p4"), tonumber("0x.8"), tonumber("1_000"), tonumber("0b1"), tonumber("010")
return tonumber("10", 2), tonumber("ff", 16), tonumber("0xff", 16), tonumber("zz", 36), tonumber("8", 8), tonumber("-10", 2), tonumber("1.5", 10), tonumber("7", 37)
return tonumber("ffffffffffffffffff", 16), tonumber("-1", 16), tonumber(" 11 ", 2), tonumber("1\0"), tonumber("")
return 010 + 1, 0x10, 3e2, .5, 5., 0xA, 1e-7, 1e-5, 0.0001, 123e-7
return "10" + 5, "0x10" * 2, "3" - "1", -"2", "10" / "4", "2" ^ "3", "7" % "4", " 5 " + 1
return 5 % 3, -5 % 3, 5 % -3, -5 % -3, 5.5 % 2, 0 % 5, -0 % 5, 1 % 0
return 7 / 2, 2 ^ 10, 2 ^ -1, -2 ^ 2, 2 ^ 3 ^ 2, not nil == true, 1 .. 2 == "12"
return 1 < 2, "a" < "b", "a" < "B", "" < "a", "a\0b" < "a\0c", 1 <= 1, 2 >= 3
return 1 == "1", "1" == 1, nil == false, {} == {}, 0 == -0
return math.floor(-1.5), math.ceil(-1.5), math.floor(2^40), math.abs(-3), math.max(1, 5, 3), math.min(4, 2), math.sqrt(2), math.fmod(7, 3), math.fmod(-7, 3)
return math.modf(3.7), math.modf(-3.7), math.frexp(8), math.ldexp(1, 4), math.exp(1), math.log(10), math.log10(1000), math.pi
return math.floor("3.7"), math.max("5", 3), math.sin(1), math.cos(1), math.tan(1), math.deg(1), math.rad(180), math.pow(2, 8), math.mod(5, 3)
return math.floor(), 1
return math.max()
return math.modf(1/0)
return 0.1 + 0.2, 1e16, 1e21, 2^31, 2^32, 99999999999999, 999999999999999, 3.14159265358979, 1e-10, 123.456
return 9007199254740993, 0.1 + 0.7, 100 * 1.1, 1 - 0.9
return string.format("%d %5d %-5d| %05d %+d %i", 3.7, 42, 42, 42, 42, -1)
return string.format("%x %X %#x %o %u %5.3d", 255, 255, 255, 8, 42, 7)
return string.format("%f %.2f %10.3f %-10.1f| %e %.3E %g %G", 1.5, 2.345, 3.14159, 2.5, 12345.678, 0.00012, 1e20, 1e-10)
return string.format("%5s|%-5s|%.2s|%c%c|%q", "ab", "ab", "abcdef", 65, 66, 'a "q" \n \\ \0 \r')
return string.format("%s %s %s", 1, 2.5, "x"), string.format("%%"), string.format("%5.1f%%", 99.55)
return string.format("%d", "10"), string.format("%s", 1e15), string.format("%.14g", 0.1), string.format("%.17g", 0.1), string.format("%.3s|", "ab")
return string.format("%d", 2^53), string.format("%d", -2^63), string.format("%x", -1), string.format("%u", -1), string.format("%.0f", 0.5), string.format("%.0f", 1.5)
return string.format("%#.3g %#o %+.1f % d %05.1f %+5d", 1, 8, 2, 5, 2.25, 3)
return string.format("%g %g %g %g", 100000, 1000000, 1e15, 0.0001), string.format("%g", 0/0), string.format("%5.1f", 1/0)
return string.format("%y", 1)
return string.format("%", 1)
return string.format("%10")
return string.format("%123d", 1)
return string.format("%0000000d", 1)
return string.format("%d", "x")
return string.format("%d")
return string.format("%s")
return string.format("%s", nil)
return string.format()
return string.format("%s", {}) 
return string.format("%100.99f", 1/3)
return string.format("%s", string.rep("x", 120)), string.format("%5s", "a\0b")
return 0 == -0, 1 / 0, 1 / -0
return 0 == 0, 1 / 0, select(2, 3 - 0, math.abs(2 ^ -0)), (function(...) return ... end)(1 / 0, math.abs(-0))
local a, b = 1 / 0, math.abs(-0); return a, b, 1 / 0
local a = -0; return 1 / 0, 1 / a, (function() return 1 / 0 end)()
local n = 5; return 0 / -0, 1 / 0, n - 0
return 1 / next({[-0] = 1}), 1 / 0
return tonumber("-9223372036854775808|", 36), tonumber("ffffffffffffffffffx", 16), tonumber("ffffffffffffffffff", 16), tonumber("1_0", 16), tonumber("1+", 16)
return 131075^3, 131077^3, 33^11, 1.5^30, 3^33, 3^34, 7^19, (-3)^3, (-2)^-1075, 2^-1074, 2^-1075, 1.5^-1800, 10^-320, 10^308, 10^22, 10^23
