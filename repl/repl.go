package repl

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Target is a command target. Features whose field is nil are not available.
type Target struct {
	keyspace.Session
	Name string // shown in the prompt
	// Commands is the table for completion, hints and HELP; nil for ours.
	Commands *commands.Table
	// Strict means that the target has exactly these commands.
	Strict bool
	// Listen sends a command that opens a stream, such as SUBSCRIBE, and calls each with the
	// messages until it fails or ctx ends; nil if the target has no such commands.
	Listen func(ctx context.Context, args [][]byte, each func(resp.Value) error) error
	// Node returns the node of a cluster that replied last; nil for other targets.
	Node func() string
	// Keys finds keys by name; nil if the target has no index of its keys.
	Keys KeyIndex
	// Connections returns how often a connection was made; nil if none can be lost.
	Connections func() int
	// OnPush sets the receiver of messages that the server sends without a request; nil if it
	// sends none.
	OnPush func(receive func(resp.Value))
	// Confirm returns the question to ask before a command runs on a terminal, and a function
	// that checks the answer. Most commands have no question.
	Confirm func(args [][]byte) (question string, accepts func(answer string) bool)
	// Aborts reports whether EXEC would run nothing, for example because a watched key has
	// changed; nil if only the replies so far can tell.
	Aborts func(ctx context.Context) (bool, error)
	// PollEvery sets the interval of a repeated command with BLOCK, for targets without
	// blocking; 0 if the target supports it.
	PollEvery time.Duration
	// LookupTime limits how long a server is scanned for a completion, and how long it is asked whether EXEC would
	// run nothing; 0 for 0.15 seconds.
	LookupTime time.Duration
	// Bytes looks up the sizes of keys; nil uses MEMORY USAGE.
	Bytes func(ctx context.Context, keys []keyspace.Key) error
	// Explain prints the SQL of a command.
	Explain func(ctx context.Context, out io.Writer, args [][]byte) error
	// Debug runs an EVAL step by step, and keeps its changes if keep is set. ask shows lines and
	// returns the next command of the debugger; ok is false to abort.
	Debug func(ctx context.Context, args [][]byte, keep bool, ask func(lines []string) (words []string, ok bool)) (resp.Value, error)
	// Close ends the session; nil if the caller ends it.
	Close func() error
}

func (t Target) lookupTime() time.Duration { return cmp.Or(t.LookupTime, lookupTime) }

func (t Target) table() *commands.Table { return cmp.Or(t.Commands, commands.Ours) }

// Format appends the reply to args, with its line end.
type Format func(out []byte, args [][]byte, v resp.Value) []byte

// Options holds the configuration of a loop. Features whose field is nil are not available.
type Options struct {
	Target Target
	Format Format
	// FormatName names Format, one of Formats. FormatNamed looks up formats.
	FormatName  string
	Formats     []string
	FormatNamed func(name string) (Format, error)
	// Suggest prints a likely correction after an error reply.
	Suggest func(args [][]byte, v resp.Value)
	// Connect opens a URL or a file, Use a profile; Profiles lists the profiles.
	Connect  func(ctx context.Context, spec string) (Target, error)
	Use      func(ctx context.Context, profile string) (Target, error)
	Profiles func() []string
	// Page shows a reply that is longer than the screen, and returns false if it did not. It
	// is called only if Paging is set.
	Page   func(reply []byte) bool
	Paging bool

	In       io.Reader
	Out, Err io.Writer
	// Terminal means that lines are edited on the process's terminal; otherwise they are read
	// from In, without a prompt.
	Terminal bool
	// Prompts shows the prompt even if lines are not edited, since a person types them.
	Prompts       bool
	History       string // file of typed lines; "" for none
	Editor        string // the command that edits a file, as in $EDITOR
	Colour        bool
	NoHints       bool // do not show the next arguments
	NoSuggestions bool // do not show suggestions from the history
	Timing        bool // show the time of each reply
	// Inputrc is a readline init file; "" for none. Its conditions read variables through
	// Getenv.
	Inputrc string
	Getenv  func(string) string
	Vi      bool // use vi's keys

	Prompt      string // the form of the prompt; "" means DefaultPrompt
	NoQuestions bool   // do not ask before dangerous commands
	NoPushes    bool   // do not show messages that the server sends without a request
	// Debug is an EVAL to run in the debugger, instead of reading lines. DebugSync keeps its changes.
	Debug     [][]byte
	DebugSync bool
	Kept      Kept
}

// DefaultPrompt shows the target, the database unless it is 0, and the state of the transaction
// and of subscriptions.
const DefaultPrompt = "{target}{db}{tx}{sub}> "

type loop struct {
	*Options
	asker  *asker
	editor *editor // nil without a terminal
	failed bool

	// The session's state after the last command. While the user types, a completion may be
	// using the session.
	db          int
	multi       bool
	queue       []queued
	willAbort   bool // a command could not be queued: EXEC will run nothing
	connections int  // last value of Target.Connections

	running       int           // depth of favourites
	debugMode     string        // of SCRIPT DEBUG: "YES", "SYNC" or ""
	input         *bufio.Reader // without a terminal
	subscriptions []*subscription
	pushes        pushes
}

// queued holds a command that waits for EXEC.
type queued [][]byte

// Run reads and runs lines until the end of the input or "quit". failed reports whether a
// line failed that did not come from a terminal.
func Run(ctx context.Context, o Options) (failed bool, err error) {
	l := &loop{Options: &o, asker: &asker{target: o.Target}}
	l.readState()
	l.receivePushes()
	defer func() {
		l.endSubscriptions(func(*subscription) bool { return true })
		l.asker.setTarget(Target{})
		err = errors.Join(err, l.closeTarget())
	}()
	if !o.Terminal && o.Debug != nil {
		return l.debugOnce(ctx, bufio.NewReader(l.In))
	}
	if !o.Terminal {
		return l.piped(ctx)
	}
	if l.editor, err = newEditor(ctx, &o, l.asker); err != nil {
		return false, err
	}
	defer l.editor.Close()
	l.applySettings()
	if o.Debug != nil {
		return l.debugOnce(ctx, nil)
	}
	return false, l.interactive(ctx)
}

// interactive reads lines from the terminal.
func (l *loop) interactive(ctx context.Context) error {
	begin := ""
	for {
		text, err := l.editor.read(l.prompt(ctx), begin)
		begin = ""
		switch {
		case errors.Is(err, errInterrupted):
			if len(l.editor.text) == 0 {
				l.endSubscriptions(func(*subscription) bool { return true })
			}
			continue
		case errors.Is(err, errEdit):
			if begin, err = l.runEditor(text); err != nil {
				l.printError(err.Error())
				begin = text
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		l.editor.history.add(text)
		begin, err = l.runText(ctx, text, true)
		if errors.Is(err, errQuit) {
			return nil
		}
	}
}

func (l *loop) piped(ctx context.Context) (failed bool, err error) {
	in := bufio.NewReader(l.In)
	l.input = in
	for {
		if l.Prompts {
			io.WriteString(l.Out, l.prompt(ctx))
		}
		line, err := in.ReadString('\n')
		if line == "" && errors.Is(err, io.EOF) {
			if l.Prompts {
				fmt.Fprintln(l.Out)
			}
			return l.failed, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return true, fmt.Errorf("reading commands: %w", err)
		}
		if _, err := l.runText(ctx, line, false); errors.Is(err, errQuit) {
			return l.failed, nil
		}
	}
}

// prompt returns the prompt in its form.
func (l *loop) prompt(ctx context.Context) string {
	db, tx, sub := "", "", ""
	if l.db != 0 {
		db = "[" + strconv.Itoa(l.db) + "]"
	}
	if n := len(l.listening()); n > 0 {
		sub = l.coloured("32", fmt.Sprintf("(SUB %d)", n))
	}
	if l.multi {
		state, style := "TX", "33"
		if n := len(l.queue); n > 0 {
			state = fmt.Sprintf("TX %d", n)
		}
		if l.willAbort || l.aborts(ctx) {
			state, style = state+", will abort", "31"
		}
		tx = l.coloured(style, "("+state+")")
	}
	name := l.Target.Name
	if l.Target.Node != nil {
		name += "(" + l.Target.Node() + ")"
	}
	return strings.NewReplacer("{target}", name, "{db}", db, "{tx}", tx, "{sub}", sub, "{time}", time.Now().Format(time.TimeOnly)).
		Replace(cmp.Or(l.Prompt, DefaultPrompt))
}

// receivePushes collects the messages that the target sends without a request.
func (l *loop) receivePushes() {
	if l.Target.OnPush != nil {
		l.Target.OnPush(l.pushes.add)
	}
}

func (l *loop) coloured(style, s string) string {
	if !l.Colour {
		return s
	}
	return sgr(s, style)
}

// errQuit ends the loop.
var errQuit = errors.New("quit")

// runText runs the commands of a text. With shell set, | and > redirect. next is the start
// of the next line.
func (l *loop) runText(ctx context.Context, text string, shell bool) (next string, err error) {
	commands, _ := scan(text)
	for _, words := range commands {
		c := parseCommand(text, words, shell)
		if shell && !l.askPipe(text, &c) {
			return "", nil
		}
		if wrong := c.check(); wrong != "" {
			l.printError(wrong)
			return "", nil
		}
		next, err = l.runCommand(ctx, c)
		if err != nil {
			return next, err
		}
	}
	return next, nil
}

// runCommand runs one command, with its repetition and its redirection.
func (l *loop) runCommand(ctx context.Context, c command) (next string, err error) {
	switch strings.ToLower(c.words[0].value) {
	case "quit", "exit", ":quit", ":exit", ":q":
		return "", errQuit
	case "clear":
		io.WriteString(l.Out, "\x1b[H\x1b[2J")
		return "", nil
	case ":edit":
		return l.editCommand(c)
	case ":run":
		return l.runFavourite(ctx, c)
	}
	c = l.withVariables(c)
	if !c.isColon() && !l.confirmed(ctx, c.args()) {
		return "", nil
	}
	out, err := l.output(c)
	if err != nil {
		l.printError(err.Error())
		return "", nil
	}
	for range c.times {
		if !l.runOnce(ctx, c, out) {
			break
		}
	}
	if err := out.Close(); err != nil {
		l.printError(err.Error())
	}
	return "", nil
}

// runOnce runs a command once. It returns false if repeating it makes no sense.
func (l *loop) runOnce(ctx context.Context, c command, out *output) bool {
	if c.isColon() {
		return l.runColon(ctx, c, out)
	}
	if c.asksHelp() {
		return runHelp(ctx, l, c, out) == nil
	}
	args := c.args()
	switch {
	case l.unsubscribe(args), l.setDebug(args, out), l.debugs(ctx, args, out):
		return true
	case l.Target.Listen == nil || !opensStream(args):
	case l.editor != nil && c.op == "" && !strings.EqualFold(string(args[0]), "MONITOR"):
		l.subscribe(ctx, args)
		return true
	default:
		return l.listen(ctx, args, out)
	}
	return l.call(ctx, args, out)
}

func (l *loop) printError(text string) {
	l.failed = true
	fmt.Fprintln(l.Err, l.coloured("31", l.folded(visible(text))))
}

// visible escapes the control characters of a text that may come from a target.
func visible(text string) string { return string(resp.AppendVisible(nil, []byte(text))) }

// folded wraps text at the width of the terminal.
func (l *loop) folded(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = folded(line, 0, 0, l.columns())
	}
	return strings.Join(lines, "\n")
}

// columns returns the width of the terminal, 0 without one.
func (l *loop) columns() int {
	if !l.Terminal {
		return 0
	}
	columns, _ := terminalSize()
	return columns
}

// note prints a message that is not a reply.
func (l *loop) note(text string) { fmt.Fprintln(l.Err, l.coloured(dim, l.folded(visible(text)))) }

// closeTarget closes the target's session.
func (l *loop) closeTarget() error {
	if l.Target.Close == nil {
		return nil
	}
	return l.Target.Close()
}
