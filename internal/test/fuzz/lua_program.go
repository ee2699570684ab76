package fuzz

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// piece is a part of a Lua program: text and nested pieces.
type piece struct {
	kind  byte  // of luaTemplates; body for a list of statements
	parts []any // string and *piece
}

const (
	body      = 'B' // a list of removable statements
	statement = 'S'
)

func (p *piece) write(b *strings.Builder) {
	for _, part := range p.parts {
		switch part := part.(type) {
		case string:
			b.WriteString(part)
		case *piece:
			part.write(b)
		}
	}
}

// luaProgram is a script with its keys and arguments.
type luaProgram struct {
	root   *piece
	hidden string // stands before the program
}

// source returns the script.
func (p *luaProgram) source() string {
	var b strings.Builder
	p.root.write(&b)
	return luaRep.ReplaceAllString(b.String(), "rep")
}

// luaRep matches the function that the prelude replaces: with a large number it takes all the memory of the machine.
var luaRep = regexp.MustCompile(`string\.rep\b`)

// call returns the command that runs the script.
func (p *luaProgram) call() [][]byte {
	return words("EVAL", p.hidden+p.source(), "2", "str", "list", "7", "x y")
}

// luaGenerator makes programs.
type luaGenerator struct {
	*rand.Rand
	vars    []luaVariable
	depth   int
	named   int
	yields  bool // the present function is a coroutine's
	varargs bool // the present function has "..."
	loops   int
}

type luaVariable struct {
	name string
	kind byte
}

// newLuaProgram returns the program of a seed.
func newLuaProgram(seed uint64) *luaProgram {
	g := &luaGenerator{Rand: rand.New(rand.NewPCG(seed, 1)), varargs: true}
	g.vars = []luaVariable{{"KEYS", 't'}, {"ARGV", 't'}}
	main := g.block(3 + g.IntN(8))
	returned := g.expr('R')
	text := (&piece{parts: []any{main, returned}}).text()
	root, before := &piece{}, ""
	for _, p := range luaPreparations {
		if strings.Contains(text, p.word) {
			before += p.code
		}
	}
	switch g.IntN(4) {
	case 0: // an error ends the script
		root.parts = []any{before + luaPrelude, main, "\nreturn ", returned}
	case 1: // the reply is a value of the script's
		root.parts = []any{before + luaPrelude, "pcall(function(...) ", main, " end)\nreturn ", returned}
	default:
		root.parts = []any{before + luaPrelude, "emit(pcall(function(...)\n", main, " end, 1, 'v', nil))\nreturn table.concat(out, '\\n')"}
	}
	return &luaProgram{root: root}
}

func (p *piece) text() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

// luaPrelude has show, which writes a value exactly, emit, which adds values to the output, and
// tick, which ends a program that runs too long.
const luaPrelude = `local out, fuel = {}, 0
local function rep(s, n) if (tonumber(n) or 0) > 1e6 then error('rep') end return string['rep'](s, n) end
local function tick() fuel = fuel + 1 if fuel > 300 then error('fuel', 0) end end
local function show(v, depth)
  local kind = type(v)
  if kind == 'number' then return string.format('%.17g', v) end
  if kind == 'string' then return string.format('%q', v) end
  if kind == 'table' then
    if depth > 3 then return '{...}' end
    local parts = {}
    for k, e in next, v do parts[#parts + 1] = '[' .. show(k, depth + 1) .. ']=' .. show(e, depth + 1) end
    return '{' .. table.concat(parts, ',') .. '}'
  end
  if kind == 'boolean' or kind == 'nil' then return tostring(v) end
  return kind
end
local function emit(...)
  local parts = {}
  for i = 1, select('#', ...) do parts[i] = show((select(i, ...)), 0) end
  if #out < 60 then out[#out + 1] = table.concat(parts, ' ') end
end
`

// luaPreparations run first in programs that contain a word, so that a program cannot see
// state left by an earlier one.
var luaPreparations = []struct{ word, code string }{
	{"cjson", "cjson.encode_sparse_array(false, 2, 10) cjson.encode_max_depth(1000) cjson.decode_max_depth(1000) " +
		"cjson.encode_number_precision(14) cjson.encode_keep_buffer(true) cjson.encode_invalid_numbers(false) cjson.decode_invalid_numbers(true)\n"},
	{"math.random", "math.randomseed(42)\n"},
	{"redis.", "redis.call('DEL','str','num','list','hash','set','zset','stream','float','other') redis.call('SET','str','value') redis.call('SET','num','12') " +
		"redis.call('RPUSH','list','a','b','3') redis.call('HSET','hash','f','1','g','x') redis.call('SADD','set','m') redis.call('ZADD','zset','1.5','a','3','b','inf','c') " +
		"redis.call('XADD','stream','1-1','f','v') redis.call('SET','float','3.25')\n"},
}

func (g *luaGenerator) one(of []string) string { return of[g.IntN(len(of))] }

func (g *luaGenerator) fresh(kind byte) string {
	g.named++
	return fmt.Sprintf("%c%d", kind, g.named)
}

// variable returns a variable of a kind, or "".
func (g *luaGenerator) variable(kind byte) string {
	var names []string
	for _, v := range g.vars {
		if v.kind == kind || v.kind == 'a' && g.IntN(8) == 0 {
			names = append(names, v.name)
		}
	}
	if names == nil {
		return ""
	}
	return g.one(names)
}

// scoped runs f and ends the locals that it declared.
func (g *luaGenerator) scoped(f func()) {
	n := len(g.vars)
	f()
	g.vars = g.vars[:n]
}

// block makes n statements.
func (g *luaGenerator) block(n int) *piece {
	b := &piece{kind: body}
	g.depth++
	g.scoped(func() {
		for range n {
			b.parts = append(b.parts, g.statement())
		}
	})
	g.depth--
	return b
}

func (g *luaGenerator) small() *piece { return g.block(1 + g.IntN(max(4-g.depth, 1))) }

func (g *luaGenerator) statement() *piece {
	s := &piece{kind: statement}
	add := func(parts ...any) { s.parts = append(s.parts, parts...) }
	n := g.IntN(24)
	if g.depth > 4 {
		n = g.IntN(9)
	}
	switch n {
	default:
		return g.template(statement, g.one(luaStatements))
	case 0, 1, 2:
		kind := g.one([]string{"n", "s", "t", "t", "f", "a", "b"})[0]
		value := g.expr(kind)
		name := g.fresh(kind)
		add("local ", name, " = ", value)
		g.vars = append(g.vars, luaVariable{name, kind})
	case 3, 4, 5:
		add("emit(", g.expr('L'), ")")
	case 9:
		first, second := g.fresh('a'), g.fresh('a')
		add("local ", first, ", ", second, " = ", g.expr('L'))
		g.vars = append(g.vars, luaVariable{first, 'a'}, luaVariable{second, 'a'})
	case 10, 11:
		add("if ", g.expr('c'), " then ", g.small())
		if g.IntN(2) == 0 {
			add(" elseif ", g.expr('c'), " then ", g.small())
		}
		if g.IntN(2) == 0 {
			add(" else ", g.small())
		}
		add(" end")
	case 12, 13:
		g.loop(func() {
			i, steps := g.fresh('n'), g.fresh('c')
			add("local ", steps, " = 0 for ", i, " = ", g.expr('n'), ", ", g.expr('n'))
			if g.IntN(2) == 0 {
				add(", ", g.expr('n'))
			}
			g.vars = append(g.vars, luaVariable{i, 'n'})
			add(" do ", steps, " = ", steps, " + 1 if ", steps, " > 4 then break end emit(", i, ") ", g.small(), " end")
		})
	case 14, 15:
		g.loop(func() {
			k, v, steps := g.fresh('a'), g.fresh('a'), g.fresh('c')
			add("local ", steps, " = 0 for ", k, ", ", v, " in ", g.expr('I'))
			g.vars = append(g.vars, luaVariable{k, 'a'}, luaVariable{v, 'a'})
			add(" do ", steps, " = ", steps, " + 1 if ", steps, " > 6 then break end emit(", k, ", ", v, ") ", g.small(), " end")
		})
	case 16:
		g.loop(func() {
			i := g.fresh('n')
			g.vars = append(g.vars, luaVariable{i, 'n'})
			add("local ", i, " = 0 while ", i, " < 3 and (", g.expr('c'), ") do ", i, " = ", i, " + 1 ", g.small(), " end")
		})
	case 17:
		g.loop(func() {
			i := g.fresh('c')
			add("local ", i, " = 0 repeat ", i, " = ", i, " + 1 ", g.small(), " until ", i, " > 2 or ", g.expr('c'))
		})
	case 18:
		add("do ", g.small(), " end")
	case 19:
		name := g.fresh('f')
		add(g.function("local function "+name, false))
		g.vars = append(g.vars, luaVariable{name, 'f'})
	case 20, 21:
		add("emit(pcall(", g.function("function", g.yields), ", ", g.expr('L'), "))")
	case 22:
		add("emit(xpcall(", g.function("function", false), ", ", g.one(luaHandlers), "))")
	case 23:
		co := g.fresh('a')
		add("local ", co, " = coroutine.create(", g.function("function", true), ")")
		g.vars = append(g.vars, luaVariable{co, 'a'})
		for range 1 + g.IntN(4) {
			add(" emit(coroutine.resume(", co, ", ", g.expr('L'), "), coroutine.status(", co, "))")
		}
	}
	add("\n")
	return s
}

func (g *luaGenerator) loop(f func()) {
	g.loops++
	g.scoped(f)
	g.loops--
}

// function makes a function's parameters and body. Of one that yields, the body is a coroutine's.
func (g *luaGenerator) function(head string, yields bool) *piece {
	outerYields, outerVarargs, loops := g.yields, g.varargs, g.loops
	g.yields, g.varargs, g.loops = yields, g.IntN(3) == 0, 0
	p := &piece{kind: 'f'}
	g.scoped(func() {
		var params []string
		for range g.IntN(3) {
			name := g.fresh('a')
			params = append(params, name)
			g.vars = append(g.vars, luaVariable{name, 'a'})
		}
		if g.varargs {
			params = append(params, "...")
		}
		p.parts = []any{head, "(", strings.Join(params, ", "), ") tick() ", g.small()}
		if g.IntN(3) > 0 {
			p.parts = append(p.parts, " return ", g.expr('L'))
		}
		p.parts = append(p.parts, " end")
	})
	g.yields, g.varargs, g.loops = outerYields, outerVarargs, loops
	return p
}

// expr makes an expression of a kind; now and then it has another type.
func (g *luaGenerator) expr(kind byte) *piece {
	switch kind {
	case 'n', 's', 't', 'b':
		if g.IntN(40) == 0 {
			return &piece{kind: kind, parts: []any{g.one(luaSurprises)}}
		}
	case 'a':
		kind = "nnsssttbaf"[g.IntN(10)]
		if kind == 'a' {
			return &piece{kind: 'a', parts: []any{g.one(luaSurprises)}}
		}
	}
	if strings.IndexByte("nstbf", kind) >= 0 && g.IntN(3) == 0 {
		if name := g.variable(kind); name != "" {
			return &piece{kind: kind, parts: []any{name}}
		}
	}
	if kind == 'f' && g.IntN(3) == 0 && g.depth < 5 {
		g.depth++
		defer func() { g.depth-- }()
		return g.function("function", false)
	}
	templates := luaTemplates[kind]
	if leaves := luaLeaves[kind]; leaves != nil && (g.depth > 6 || g.IntN(3) == 0) {
		templates = leaves
	}
	if templates == nil {
		panic(fmt.Sprintf("no template of %q", kind))
	}
	g.depth++
	defer func() { g.depth-- }()
	return g.template(kind, g.one(templates))
}

// template fills a template: $k is an expression of the kind k, and $. is "..." where a function has it.
func (g *luaGenerator) template(kind byte, text string) *piece {
	p := &piece{kind: kind}
	for {
		before, after, ok := strings.Cut(text, "$")
		if before != "" {
			p.parts = append(p.parts, before)
		}
		if !ok {
			break
		}
		switch k := after[0]; {
		case k == '\'':
			p.parts = append(p.parts, "$'")
		case k == '.' && !g.varargs:
			p.parts = append(p.parts, "nil")
		case k == '.':
			p.parts = append(p.parts, "...")
		default:
			p.parts = append(p.parts, g.expr(k))
		}
		text = after[1:]
	}
	if kind == statement {
		p.parts = append(p.parts, "\n")
	} else if len(p.parts) > 1 && strings.IndexByte("nsb", kind) >= 0 && g.IntN(2) == 0 {
		p.parts = append(append([]any{"("}, p.parts...), ")")
	}
	return p
}
