package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/meowdis/meowdis/keyspace/display"
)

// setting describes an option of :set.
type setting struct {
	name, about string
	values      func(o *Options, args []string) []string
	get         func(l *loop) string
	set         func(l *loop, value string) error
}

var settings = []setting{
	{"danger", "ask before FLUSHALL, CONFIG SET, deleting many keys, …", onOff,
		func(l *loop) string { return onOrOff(!l.NoQuestions) },
		func(l *loop, value string) error { return setSwitch(&l.NoQuestions, value, "off") }},
	{"editing-mode", "emacs or vi keys; also in ~/.inputrc", editingModes, (*loop).editingMode, (*loop).setEditingMode},
	{"format", "the form of replies", formats, func(l *loop) string { return l.FormatName }, (*loop).setFormat},
	{"hints", "show the next arguments after the cursor", onOff,
		func(l *loop) string { return onOrOff(!l.NoHints) },
		func(l *loop, value string) error { return setSwitch(&l.NoHints, value, "off") }},
	{"pager", "show replies longer than the screen in $PAGER, or less", onOff,
		func(l *loop) string { return onOrOff(l.Paging) },
		func(l *loop, value string) error { return setSwitch(&l.Paging, value, "on") }},
	{"prompt", "the form of the prompt: {target} {db} {tx} {sub} {time}", noWords,
		func(l *loop) string { return strconv.Quote(cmp.Or(l.Prompt, DefaultPrompt)) },
		func(l *loop, value string) error { l.Prompt = value; return nil }},
	{"pushes", "show messages that a server sends without a request", onOff,
		func(l *loop) string { return onOrOff(!l.NoPushes) },
		func(l *loop, value string) error { return setSwitch(&l.NoPushes, value, "off") }},
	{"suggestions", "show the newest matching history entry after the cursor; Right takes it", onOff,
		func(l *loop) string { return onOrOff(!l.NoSuggestions) },
		func(l *loop, value string) error { return setSwitch(&l.NoSuggestions, value, "off") }},
	{"timing", "show the time of each reply", onOff,
		func(l *loop) string { return onOrOff(l.Timing) },
		func(l *loop, value string) error { return setSwitch(&l.Timing, value, "on") }},
}

func noWords(*Options, []string) []string { return nil }

func editingModes(_ *Options, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return []string{"emacs", "vi"}
}

func (l *loop) editingMode() string {
	if l.Vi {
		return "vi"
	}
	return "emacs"
}

func (l *loop) setEditingMode(value string) error {
	if value != "vi" && value != "emacs" {
		return fmt.Errorf("invalid mode %q: use emacs or vi", value)
	}
	l.Vi = value == "vi"
	return nil
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func setSwitch(to *bool, value, word string) error {
	if value != "on" && value != "off" {
		return fmt.Errorf("invalid value %q: use on or off", value)
	}
	*to = value == word
	return nil
}

func (l *loop) setFormat(name string) error {
	if l.FormatNamed == nil {
		return errors.New("the format cannot be changed here")
	}
	f, err := l.FormatNamed(name)
	if err != nil {
		return err
	}
	l.Format, l.FormatName = f, name
	return nil
}

// settingWords completes an argument of :set.
func settingWords(o *Options, args []string) []string {
	var words []string
	for _, s := range settings {
		if len(args) == 0 {
			words = append(words, s.name)
		} else if s.name == args[0] {
			words = s.values(o, args[1:])
		}
	}
	return words
}

func runSet(_ context.Context, l *loop, c command, out *output) error {
	if len(c.words) > 3 {
		return colonNamed(":set").usage()
	}
	var b strings.Builder
	known := false
	for _, s := range settings {
		if len(c.words) > 1 && s.name != c.words[1].value {
			continue
		}
		if known = true; len(c.words) == 3 {
			value := c.words[2].value
			if err := s.set(l, value); err != nil {
				return err
			}
			return l.keep("", s.name, value)
		}
		const at = 22
		value := fmt.Sprintf("%-7s ", s.get(l))
		if ansi.StringWidth(value) > at-14 {
			value = strings.TrimRight(value, " ") + "\n" + display.Spaces(at)
		}
		fmt.Fprintf(&b, "%-13s %s%s\n", s.name, value, folded(s.about, at, at, l.columns()))
	}
	if !known {
		return fmt.Errorf("unknown setting %q: :set lists the settings", c.words[1].value)
	}
	return out.text(b.String())
}

// runSetting returns runSet for a command that is named after its setting.
func runSetting(name string) func(context.Context, *loop, command, *output) error {
	return func(ctx context.Context, l *loop, c command, out *output) error {
		words := append([]word{{value: ":set"}, {value: name}}, c.words[1:]...)
		return runSet(ctx, l, command{words: words}, out)
	}
}
