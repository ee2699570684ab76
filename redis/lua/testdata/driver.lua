-- Runs each of lines as a chunk and prints what it returns, or its error.
for i, line in ipairs(lines) do
	local f, err = loadstring(line, "=t")
	if not f then
		print(i, "syntax", err)
	else
		local function show(...)
			local out = {}
			for k = 1, select("#", ...) do
				local v = select(k, ...)
				local s = type(v) == "string" and string.format("%q", v) or tostring(v)
				if s:match("^%a+: 0x") or s:match("^function: builtin") then s = type(v) end
				out[#out + 1] = s
			end
			print(i, table.concat(out, " "))
		end
		show(pcall(f))
	end
end
