package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/spelling"
)

// colonCommand is one of the prompt's own commands.
type colonCommand struct {
	name    string
	syntax  string
	summary string
	takes   argKind
	hidden  bool                                     // :set does the same, so the help leaves it out
	words   func(o *Options, args []string) []string // for takesWords
	run     func(ctx context.Context, l *loop, c command, out *output) error
}

// argKind classifies the arguments of a command, for completion.
type argKind byte

const (
	takesNothing argKind = iota
	takesCommand
	takesKey
	takesFile
	takesTopic
	takesWords
)

// colonCommands lists the commands in the order of the help.
var colonCommands []colonCommand

func init() {
	colonCommands = []colonCommand{
		{name: "help", syntax: "[COMMAND|@GROUP]", summary: "Describes these commands, or a Redis command", takes: takesTopic, run: runHelp},
		{name: "peek", syntax: "KEY", summary: "Shows a key: type, size, TTL, first elements", takes: takesKey, run: runPeek},
		{name: "explain", syntax: "COMMAND", summary: "Shows the SQL a command runs", takes: takesCommand, run: runExplain},
		{name: "debug", syntax: "FILE [KEYS] [, ARGS]", summary: "Runs a Lua script line by line", takes: takesFile, run: runDebug},
		{name: "watch", syntax: "COMMAND", summary: "Runs a command each second until Ctrl-C", takes: takesCommand, run: runWatch},
		{name: "source", syntax: "FILE", summary: "Runs the commands of a file, up to the first error", takes: takesFile, run: runSource},
		{name: "edit", syntax: "[TEXT]", summary: "Edits a text, or the last one, in $EDITOR"},
		{name: "history", syntax: "[TEXT]", summary: "Lists the history, or the entries with a text", run: runHistory},
		{name: "queue", summary: "Lists the commands that wait for EXEC", run: runQueue},
		{name: "db", syntax: "NUMBER", summary: "Selects another database", run: runDB},
		{name: "use", syntax: "PROFILE", summary: "Connects to the target of a profile", takes: takesWords, words: profiles, run: runUse},
		{name: "connect", syntax: "URL|FILE", summary: "Connects to another target", takes: takesFile, run: runConnect},
		{name: "format", syntax: "[FORMAT]", summary: "Chooses how replies are shown", hidden: true, takes: takesWords, words: formats, run: runSetting("format")},
		{name: "timing", syntax: "on|off", summary: "Shows how long each command takes", hidden: true, takes: takesWords, words: onOff, run: runSetting("timing")},
		{name: "set", syntax: "[SETTING [VALUE]]", summary: "Lists the settings, or changes one", takes: takesWords, words: settingWords, run: runSet},
		{name: "save", syntax: "[NAME [COMMAND]]", summary: "Keeps a favourite, or lists the favourites", takes: takesWords, words: favouriteNames, run: runSave},
		{name: "run", syntax: "NAME [ARG...]", summary: "Runs a favourite; ${1} is its first argument", takes: takesWords, words: favouriteNames},
		{name: "var", syntax: "[NAME [VALUE]]", summary: "Sets a variable, ${NAME} in commands, or lists them", takes: takesWords, words: variableNames, run: runVar},
		{name: "keys", summary: "Lists the keys, as TAB and Ctrl-R", run: runKeys},
		{name: "quit", summary: "Ends"},
	}
}

// aliases are names from Redis and from other prompts.
var aliases = map[string]string{":select": ":db", ":exit": ":quit", ":q": ":quit", ":?": ":help", ":h": ":help"}

// colonNamed returns the command with this name, which includes the colon; nil if it is unknown.
func colonNamed(name string) *colonCommand {
	name = strings.ToLower(name)
	if other, ok := aliases[name]; ok {
		name = other
	}
	i := slices.IndexFunc(colonCommands, func(c colonCommand) bool { return ":"+c.name == name })
	if i < 0 {
		return nil
	}
	return &colonCommands[i]
}

// runColon runs one of the prompt's own commands.
func (l *loop) runColon(ctx context.Context, c command, out *output) bool {
	own := colonNamed(c.words[0].value)
	if own == nil {
		l.printError(fmt.Sprintf("unknown command %q.%s :help lists the commands", c.words[0].value, spelling.Question(spelling.Nearest(c.words[0].value, colonNames()))))
		return false
	}
	if err := own.run(ctx, l, c, out); err != nil && !out.writeFailed {
		l.printError(err.Error())
		return false
	}
	return true
}

// colonNames returns the names of the commands, with their colons.
func colonNames() []string {
	names := make([]string, len(colonCommands))
	for i, c := range colonCommands {
		names[i] = ":" + c.name
	}
	return names
}

// usage returns the error for wrong arguments.
func (c *colonCommand) usage() error { return fmt.Errorf("usage: :%s %s", c.name, c.syntax) }

// singleArg returns the only argument of c.
func singleArg(c command) (string, error) {
	if len(c.words) != 2 {
		return "", colonNamed(c.words[0].value).usage()
	}
	return c.words[1].value, nil
}

func runHelp(_ context.Context, l *loop, c command, out *output) error {
	columns := 0
	if c.op == "" {
		columns = l.columns()
	}
	return out.text(Help(l.Target.table(), values(c.words[1:]), columns))
}

func runKeys(_ context.Context, l *loop, _ command, out *output) error {
	rc := &inputrc{}
	if l.editor != nil {
		rc = &l.editor.in.rc
	}
	return out.text(keysHelp(l.columns(), l.Vi, rc))
}

func runExplain(ctx context.Context, l *loop, c command, out *output) error {
	if l.Target.Explain == nil {
		return errors.New("no SQL to show: this target is not a file")
	}
	if len(c.words) < 2 {
		return colonNamed(":explain").usage()
	}
	return l.Target.Explain(ctx, out, c.args()[1:])
}

// runSource runs the commands of a file. | and > are ordinary characters in it, and a line
// that begins with # is a comment.
func runSource(ctx context.Context, l *loop, c command, _ *output) error {
	name, err := singleArg(c)
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	text, begins := "", 1
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // the byte order mark of some editors
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		ended := err != nil
		if text == "" && strings.HasPrefix(strings.TrimSpace(line), "#") {
			line = ""
		}
		text += line
		if _, continued := scan(text); continued && !ended {
			continue
		}
		before := l.failed
		l.failed = false
		_, err = l.runText(ctx, text, false)
		failed := l.failed
		l.failed = before || failed
		if failed {
			return fmt.Errorf("%s stopped at line %d", name, begins)
		}
		if ended || err != nil {
			return nil
		}
		text, begins = "", n+1
	}
}

func runHistory(_ context.Context, l *loop, c command, out *output) error {
	if l.editor == nil {
		return errors.New("the history needs a terminal")
	}
	wanted := ""
	if len(c.words) > 1 {
		wanted = strings.ToLower(c.words[1].value)
	}
	var b strings.Builder
	for i, entry := range l.editor.history.entries {
		if strings.Contains(strings.ToLower(entry), wanted) {
			fmt.Fprintf(&b, "%5d  %s\n", i+1, strings.ReplaceAll(entry, "\n", "\n       "))
		}
	}
	return out.text(b.String())
}

func runQueue(_ context.Context, l *loop, _ command, out *output) error {
	if !l.multi {
		return errors.New("no open transaction: MULTI begins one")
	}
	var b strings.Builder
	for i, args := range l.queue {
		fmt.Fprintf(&b, "%d) %s\n", i+1, quoteCall(args))
	}
	if len(l.queue) == 0 {
		b.WriteString("(nothing is queued)\n")
	}
	return out.text(b.String())
}

// quoteCall returns a call as it is typed.
func quoteCall(args [][]byte) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = quoteWord(a, false)
	}
	return strings.Join(words, " ")
}

func runDB(ctx context.Context, l *loop, c command, out *output) error {
	number, err := singleArg(c)
	if err != nil {
		return err
	}
	if _, err := strconv.Atoi(number); err != nil {
		return colonNamed(":db").usage()
	}
	v, _, err := l.do(ctx, [][]byte{[]byte("SELECT"), []byte(number)})
	if err == nil && v.IsError() {
		err = errors.New(string(v.Str))
	}
	return err
}

func runConnect(ctx context.Context, l *loop, c command, _ *output) error {
	spec, err := singleArg(c)
	if err != nil {
		return err
	}
	return l.switchTarget(ctx, spec, l.Connect)
}

func runUse(ctx context.Context, l *loop, c command, _ *output) error {
	profile, err := singleArg(c)
	if err != nil {
		return err
	}
	return l.switchTarget(ctx, profile, l.Use)
}

// switchTarget connects to another target. The loop keeps the old one if that fails.
func (l *loop) switchTarget(ctx context.Context, spec string, connect func(context.Context, string) (Target, error)) error {
	if connect == nil {
		return errors.New("cannot connect to other targets here")
	}
	if n := len(l.queue); n > 0 {
		return fmt.Errorf("a transaction is open with %d commands: EXEC or DISCARD it first", n)
	}
	next, err := connect(ctx, spec)
	if err != nil {
		return err
	}
	l.endSubscriptions(func(*subscription) bool { return true })
	l.asker.setTarget(next)
	err = l.closeTarget()
	l.Target, l.connections = next, 0
	l.readState()
	l.receivePushes()
	return err
}

func profiles(o *Options, args []string) []string {
	if o.Profiles == nil || len(args) > 0 {
		return nil
	}
	return o.Profiles()
}

func formats(o *Options, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return o.Formats
}

func onOff(_ *Options, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return []string{"on", "off"}
}
