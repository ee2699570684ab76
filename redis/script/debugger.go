package script

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
)

// Debugger runs a script line by line, with the commands and the texts of Redis's Lua debugger (SCRIPT DEBUG).
type Debugger struct {
	// Ask shows lines and returns the next command; ok is false to abort the script.
	Ask func(lines []string) (words []string, ok bool)

	machine *Machine
	source  []string
	breaks  []int
	step    bool
	called  bool // redis.breakpoint() was called
	stopped bool // a command is being run
	maxLen  int
	log     []string
	logged  int // bytes of log
	line    int // the last point
	depth   int
}

// maxReplyLen limits the length of a logged reply until the command maxlen.
const maxReplyLen = 256

// start prepares a run of source, which stops at its first line.
func (d *Debugger) start(m *Machine, source string) {
	d.machine, d.source, d.step, d.maxLen = m, strings.Split(source, "\n"), true, maxReplyLen
	d.line, d.depth, d.called, d.breaks, d.log, d.logged = -1, 0, false, nil, nil, 0
}

// Lines returns the lines that were logged after the last Ask, and forgets them.
func (d *Debugger) Lines() []string {
	lines := d.log
	d.log, d.logged = nil, 0
	return lines
}

func (d *Debugger) print(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if d.logged += len(line) + 16; d.logged > maxLog { // a script of one line logs on and on
		d.log, d.logged = nil, 0
		d.machine.state.ThrowValue(lua.String(lua.ErrMemory.Error()))
	}
	d.log = append(d.log, line)
}

// describe returns a value for printLong.
func (d *Debugger) describe(v lua.Value) string {
	most := maxDescription
	if d.maxLen > 0 {
		most = d.maxLen
	}
	return d.machine.describe(v, most)
}

// printLong prints a line of at most maxLen bytes.
func (d *Debugger) printLong(line string) {
	if d.maxLen > 0 && len(line) > d.maxLen {
		d.print("%s ...", line[:d.maxLen])
		d.print("<hint> The above reply was trimmed. Use 'maxlen 0' to disable trimming.")
		return
	}
	d.print("%s", line)
}

// onLine stops the script if it should, and runs commands until it continues.
func (d *Debugger) onLine(p lua.Point) {
	s := d.machine.state
	if p.Line == d.line && s.Depth() == d.depth {
		return
	}
	d.line, d.depth = p.Line, s.Depth()
	reason := ""
	switch {
	case d.called:
		reason = "redis.breakpoint() called"
	case d.isBreak(p.Line):
		reason = "break point"
	case d.step:
		reason = "step over"
	default:
		return
	}
	d.step, d.called = false, false
	d.print("* Stopped at %d, stop reason = %s", p.Line, reason)
	d.print("%s", d.sourceLine(p.Line))
	d.stopped = true
	for !d.run(p) {
	}
	d.stopped = false
}

// run asks for one command and runs it. It returns true if the script continues.
func (d *Debugger) run(p lua.Point) (goes bool) {
	words, ok := d.Ask(d.Lines())
	if !ok {
		words = []string{"abort"}
	}
	if len(words) == 0 {
		return false
	}
	arg := strings.Join(words[1:], " ")
	switch words[0] {
	case "s", "step", "n", "next":
		d.step = true
		return true
	case "c", "continue":
		return true
	case "a", "abort":
		d.machine.state.ThrowValue(lua.String("script aborted for user request"))
	case "h", "help":
		d.log = append(d.log, debuggerHelp...)
	case "p", "print":
		d.printVariables(p, words[1:])
	case "b", "break":
		d.setBreaks(words[1:])
	case "l", "list":
		d.list(words[1:])
	case "w", "whole":
		d.listFrom(1, len(d.source))
	case "t", "trace":
		d.trace()
	case "e", "eval":
		d.eval(arg)
	case "r", "redis":
		d.call(words[1:])
	case "m", "maxlen":
		d.setMaxLen(words[1:])
	default:
		d.print("<error> Unknown Redis Lua debugger command or wrong number of arguments.")
	}
	return false
}

func (d *Debugger) isBreak(line int) bool {
	for _, b := range d.breaks {
		if b == line {
			return true
		}
	}
	return false
}

func (d *Debugger) sourceLine(n int) string {
	text, prefix := "<out of range source code line>", "   "
	if n >= 1 && n <= len(d.source) {
		text = d.source[n-1]
	}
	switch current, stops := n == d.line, d.isBreak(n); {
	case current && stops:
		prefix = "->#"
	case current:
		prefix = "-> "
	case stops:
		prefix = "  #"
	}
	return fmt.Sprintf("%s%-3d %s", prefix, n, text)
}

func (d *Debugger) list(args []string) {
	around, context := d.line, 5
	if len(args) > 0 {
		if around, _ = strconv.Atoi(args[0]); around <= 0 {
			around = d.line
		}
	}
	if len(args) > 1 {
		context, _ = strconv.Atoi(args[1])
	}
	d.listFrom(max(around-context, 1), min(around+context, len(d.source)))
}

func (d *Debugger) listFrom(from, to int) {
	for n := from; n <= to; n++ {
		d.print("%s", d.sourceLine(n))
	}
}

func (d *Debugger) printVariables(p lua.Point, names []string) {
	if len(names) > 0 {
		if v, ok := p.Lookup(names[0]); ok {
			d.printLong("<value> " + d.describe(v))
		} else if v := d.machine.state.Globals.Field(names[0]); !v.IsNil() && (names[0] == "KEYS" || names[0] == "ARGV") {
			d.printLong("<value> " + d.describe(v))
		} else {
			d.print("No such variable.")
		}
		return
	}
	locals := p.Locals()
	for _, l := range locals {
		d.printLong("<value> " + l.Name + " = " + d.describe(l.Value))
	}
	if len(locals) == 0 {
		d.print("No local variables in the current context.")
	}
}

func (d *Debugger) setBreaks(args []string) {
	if len(args) == 0 {
		d.listBreaks()
	}
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		switch {
		case err != nil:
			d.print("Invalid argument:'%s'", arg)
		case n == 0:
			d.breaks = nil
			d.print("All breakpoints removed.")
		case n > 0 && n <= len(d.source):
			if d.isBreak(n) {
				d.print("Breakpoint already set at line %d.", n)
				continue
			}
			d.breaks = append(d.breaks, n)
			d.listFrom(max(n-1, 1), min(n+1, len(d.source)))
		case n < 0:
			d.removeBreak(-n)
		default:
			d.print("Wrong line number.")
		}
	}
}

func (d *Debugger) listBreaks() {
	if len(d.breaks) == 0 {
		d.print("No breakpoints set. Use 'b <line>' to add one.")
		return
	}
	d.print("%d breakpoints set:", len(d.breaks))
	for _, b := range d.breaks {
		d.print("%s", d.sourceLine(b))
	}
}

func (d *Debugger) removeBreak(line int) {
	i := slices.Index(d.breaks, line)
	if i < 0 {
		d.print("No breakpoint in the specified line.")
		return
	}
	d.breaks = slices.Delete(d.breaks, i, i+1)
	d.print("Breakpoint removed.")
}

func (d *Debugger) trace() {
	calls := d.machine.state.Calls()
	for i, c := range calls {
		where := "From"
		if i == 0 {
			where = "In"
		}
		d.print("%s %s:", where, cmp.Or(c.Name, "top level"))
		d.print("%s", d.sourceLine(c.Line))
	}
}

// eval runs Lua code, without access to the script's locals.
func (d *Debugger) eval(code string) {
	s := d.machine.state
	program, err := lua.Compile("return "+code, "@ldb_eval", s.Grow)
	if err != nil {
		if program, err = lua.Compile(code, "@ldb_eval", s.Grow); err != nil {
			d.print("<error> %s", oneLine(err.Error()))
			return
		}
	}
	on := s.OnLine
	s.OnLine = nil
	defer func() { s.OnLine = on }()
	results, failed := s.Protected(lua.Of(s.Bind(program, s.Globals)), nil)
	if failed != nil {
		d.print("<error> %s", oneLine(d.machine.state.ToString(failed.Value)))
		return
	}
	v := lua.Nil
	if len(results) > 0 {
		v = results[0]
	}
	d.printLong("<retval> " + d.describe(v))
}

// call runs a Redis command.
func (d *Debugger) call(words []string) {
	if len(words) == 0 {
		d.print("<error> Unknown Redis Lua debugger command or wrong number of arguments.")
		return
	}
	args := make([]lua.Value, len(words))
	for i, w := range words {
		args[i] = lua.String(w)
	}
	d.machine.redisCall(d.machine.state, args, false)
}

// breakpoint is redis.breakpoint, which stops a debugged script at its next line.
func (m *Machine) breakpoint(s *lua.State, _ []lua.Value) []lua.Value {
	if m.run == nil || m.run.Debugger == nil {
		return s.One(lua.False)
	}
	m.run.Debugger.called = true
	return s.One(lua.True)
}

// debug is redis.debug, which logs values while a script is debugged.
func (m *Machine) debug(_ *lua.State, args []lua.Value) []lua.Value {
	if m.run != nil && m.run.Debugger != nil {
		texts := make([]string, len(args))
		for i, v := range args {
			texts[i] = m.describe(v, maxDescription)
		}
		m.run.Debugger.print("<debug> line %d: %s", m.run.Debugger.line, strings.Join(texts, ", "))
	}
	return nil
}

// onCall logs a command that runs during a step, or in the debugger, and onReply its reply.
func (d *Debugger) onCall(words [][]byte) {
	if !d.step && !d.stopped {
		return
	}
	const most = 10
	line := "<redis>"
	for i, w := range words {
		if i == most {
			line += fmt.Sprintf(" ... (%d more)", len(words)-i-1)
			break
		}
		line += " " + string(w)
	}
	d.print("%s", line)
}

func (d *Debugger) onReply(v resp.Value) {
	if d.step || d.stopped {
		if v.IsError() {
			d.print("<error> -%s", v.Str)
		}
		d.printLong("<reply> " + describeReply(resp.Downgrade(v)))
	}
}

func (d *Debugger) setMaxLen(args []string) {
	if len(args) > 0 {
		n, _ := strconv.Atoi(args[0])
		if n != 0 && n <= 60 {
			n = 60
		}
		d.maxLen = n
	}
	if d.maxLen > 0 {
		d.print("<value> replies are truncated at %d bytes.", d.maxLen)
	} else {
		d.print("<value> replies are unlimited.")
	}
}

func describeReply(v resp.Value) string {
	switch v.Kind {
	case resp.Status:
		return quote("+" + string(v.Str))
	case resp.Error:
		return quote("-" + string(v.Str))
	case resp.Int:
		return strconv.FormatInt(v.Int, 10)
	case resp.Bulk:
		return quote(string(v.Str))
	}
	if v.IsNull() {
		return "NULL"
	}
	parts := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		parts[i] = describeReply(e)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func quote(s string) string { return string(resp.AppendQuoted(nil, []byte(s), false)) }

// maxDescribed limits the depth of a described table.
const maxDescribed = 10

// maxDescription limits the bytes of a description, and maxLog the bytes that wait for the next Ask.
const (
	maxDescription = 16 << 20
	maxLog         = 64 << 20
)

// describe returns a value as the debugger prints it, cut after about most bytes.
func (m *Machine) describe(v lua.Value, most int) string {
	return string(m.appendDescription(nil, v, 0, most))
}

func (m *Machine) appendDescription(out []byte, v lua.Value, depth, most int) []byte {
	if m.state.Check(); len(out) > most {
		return out
	}
	if text, ok := v.AsString(); ok {
		return append(out, quote(text[:min(len(text), most)])...)
	}
	t := v.AsTable()
	switch {
	case v.Type() == "number":
		n, _ := v.ToNumber()
		return strconv.AppendFloat(out, n, 'g', 17, 64)
	case t == nil && v.Type() != "nil" && v.Type() != "boolean":
		return append(out, quote(m.state.ToString(v))...)
	case t == nil:
		return append(out, m.state.ToString(v)...)
	case depth == maxDescribed:
		return append(out, "<max recursion level reached! Nested table?>"...)
	}
	isList, n := true, 0
	for k, _, _ := t.Next(lua.Nil); !k.IsNil() && isList; k, _, _ = t.Next(k) {
		n++
		at, ok := k.ToNumber()
		isList = ok && k.Type() == "number" && at == float64(n)
	}
	out = append(out, '{')
	began := len(out)
	for k, item, _ := t.Next(lua.Nil); !k.IsNil() && len(out) <= most; k, item, _ = t.Next(k) {
		if len(out) > began {
			out = append(out, "; "...)
		}
		if !isList {
			out = append(m.appendDescription(append(out, '['), k, depth+1, most), "]="...)
		}
		out = m.appendDescription(out, item, depth+1, most)
	}
	return append(out, '}')
}

var debuggerHelp = []string{
	"step, s, next, n     run one line",
	"continue, c          run to the next breakpoint, or to the end",
	"list, l [line [n]]   show the source around a line",
	"whole, w             show the whole source",
	"print, p [name]      show a variable, or all locals",
	"break, b [line...]   list the breakpoints, or add some; -line removes one, 0 all",
	"trace, t             show the running functions",
	"eval, e code         run Lua code",
	"redis, r command     run a command",
	"maxlen, m [n]        trim replies to n bytes; 0 does not trim",
	"abort, a             end the script with an error",
}
