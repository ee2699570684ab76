package repl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// endOfDebugging ends the lines of a session.
const endOfDebugging = "<endsession>"

// runDebug runs a Lua file in the debugger: :debug FILE [KEYS] [, ARGS].
func runDebug(ctx context.Context, l *loop, c command, out *output) error {
	if len(c.words) < 2 {
		return colonNamed(":debug").usage()
	}
	source, err := os.ReadFile(c.words[1].value)
	if err != nil {
		return err
	}
	keys := c.args()[2:]
	var args [][]byte
	if i := slices.IndexFunc(keys, func(w []byte) bool { return string(w) == "," }); i >= 0 {
		keys, args = keys[:i], keys[i+1:]
	}
	call := slices.Concat([][]byte{[]byte("EVAL"), bytes.TrimSuffix(source, []byte("\n")), strconv.AppendInt(nil, int64(len(keys)), 10)}, keys, args)
	return l.debug(ctx, call, out, false)
}

// setDebug runs SCRIPT DEBUG, which the prompt keeps for the next EVAL. It returns false for other
// commands.
func (l *loop) setDebug(args [][]byte, out *output) bool {
	if l.Target.Debug == nil || len(args) != 3 || !commands.Is(args[0], "SCRIPT") || !commands.Is(args[1], "DEBUG") {
		return false
	}
	mode := strings.ToUpper(string(args[2]))
	switch mode {
	case "YES", "SYNC":
		l.debugMode = mode
		l.note("the next EVAL runs in the debugger")
	case "NO":
		l.debugMode = ""
	default:
		out.reply(args, resp.MakeError("ERR Use SCRIPT DEBUG YES/SYNC/NO"))
		return true
	}
	out.reply(args, resp.OK)
	return true
}

// debugs runs an EVAL in the debugger after SCRIPT DEBUG. It returns false for other commands.
func (l *loop) debugs(ctx context.Context, args [][]byte, out *output) bool {
	if l.debugMode == "" || !commands.Is(args[0], "EVAL") {
		return false
	}
	keep := l.debugMode == "SYNC"
	l.debugMode = ""
	if err := l.debug(ctx, args, out, keep); err != nil {
		l.printError(err.Error())
	}
	return true
}

// debugOnce runs the EVAL of the options in the debugger. in has the debugger's commands; nil: the terminal has them.
func (l *loop) debugOnce(ctx context.Context, in *bufio.Reader) (failed bool, err error) {
	l.input = in
	err = l.debug(ctx, l.Options.Debug, &output{Writer: l.Out, format: l.Format}, l.DebugSync)
	return l.failed, err
}

// debug runs an EVAL in the debugger, and shows its reply.
func (l *loop) debug(ctx context.Context, args [][]byte, out *output, keep bool) error {
	if l.Target.Debug == nil {
		return errors.New("this target cannot run a script step by step")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	l.asker.mu.Lock()
	defer l.asker.mu.Unlock()
	p := debugPrompt{l, []string{"step"}}
	v, err := l.Target.Debug(ctx, args, keep, p.ask)
	if err != nil {
		return err
	}
	l.readState()
	if !keep && l.Target.Connections != nil {
		l.connections = l.Target.Connections() + 1 // the server ends the connection with the debugger
	}
	if !keep && !v.IsError() {
		keeps := "SCRIPT DEBUG SYNC"
		if l.Options.Debug != nil {
			keeps = "--ldb-sync-mode"
		}
		l.note("the script's changes were discarded; " + keeps + " keeps them")
	}
	l.failed = l.failed || v.HasError()
	return out.reply(args, v)
}

// debugPrompt asks for commands of the debugger.
type debugPrompt struct {
	*loop
	last []string // the command that an empty line repeats, as in other debuggers
}

// ask shows a log, and reads the next command unless the script has ended. ok is false at the end of the input.
func (p *debugPrompt) ask(lines []string) (words []string, ok bool) {
	ended := len(lines) > 0 && lines[len(lines)-1] == endOfDebugging
	if ended {
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines {
		fmt.Fprintln(p.Out, p.debugLine(line))
	}
	if ended {
		return nil, true
	}
	text, err := p.readAnswer("lua> ")
	if err != nil {
		return nil, false
	}
	typed, err := resp.SplitLine(text)
	if err != nil {
		return strings.Fields(text), true
	}
	if len(typed) == 0 {
		return p.last, true
	}
	p.last = make([]string, len(typed))
	for i, w := range typed {
		p.last[i] = string(w)
	}
	return p.last, true
}

// debugLine colours a line of the debugger.
func (l *loop) debugLine(line string) string {
	text := visible(line)
	switch {
	case strings.HasPrefix(line, "->"):
		return l.coloured("1", text)
	case strings.HasPrefix(line, "<error>"):
		return l.coloured("31", text)
	case strings.HasPrefix(line, "<"), strings.HasPrefix(line, "*"):
		return l.coloured("36", text)
	}
	return text
}

// readAnswer reads a line that is not a command of the prompt.
func (l *loop) readAnswer(prompt string) (string, error) {
	if l.editor != nil {
		return l.editor.ask(prompt)
	}
	line, err := l.input.ReadString('\n')
	if line == "" && err != nil {
		return "", err
	}
	return line, nil
}
