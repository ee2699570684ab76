package repl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// inputrc holds the supported settings and key bindings of a readline init file, which bash and
// other programs also read. Unknown lines are ignored, since they are for other programs.
type inputrc struct {
	vi       bool // set editing-mode vi
	hideMode bool // set show-mode-in-prompt off
	silent   bool // set bell-style none or visible
	timeout  time.Duration
	insert   string // shown before the prompt in vi's insert mode
	command  string // shown before the prompt in vi's command mode
	bindings [viArgumentKeys][]binding
	unknown  []string // unknown functions
	keymap   keymap   // the keymap to bind keys in
	terminal string   // $TERM
	home     string
	opened   int
}

// keymap names a set of key bindings.
type keymap byte

const (
	emacsKeys keymap = iota
	viInsertKeys
	viCommandKeys
	viArgumentKeys // the rest of a command: no key is bound
)

// binding maps a sequence of bytes to an action.
type binding struct {
	sequence string
	keyAction
}

// keyAction holds a key of the editor, or text to type.
type keyAction struct {
	key   string
	macro bool
}

// Limits of an init file, far above the usual sizes.
const (
	maxFileBytes  = 256 << 10 // bytes of a file
	maxFiles      = 20        // files
	maxBindings   = 1000
	maxMacroBytes = 1000 // bytes
)

// readInputrc reads the file and the files it includes. It ignores files that cannot be read.
func readInputrc(file string, getenv func(string) string) inputrc {
	rc := inputrc{timeout: 500 * time.Millisecond, insert: "(ins)", command: "(cmd)"}
	if getenv != nil {
		rc.terminal, rc.home = getenv("TERM"), getenv("HOME")
	}
	if file != "" {
		rc.read(file)
	}
	return rc
}

func (rc *inputrc) read(file string) {
	if rc.opened++; rc.opened > maxFiles {
		return
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(rc.home, rest)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() { // a pipe would block
		return
	}
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return
	}
	rc.parse(string(text))
}

func (rc *inputrc) parse(text string) {
	var skips []bool // whether each enclosing $if skips its lines
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		skipped := slices.Contains(skips, true)
		if directive, ok := strings.CutPrefix(line, "$"); ok {
			word, rest, _ := strings.Cut(directive, " ")
			switch rest = strings.TrimSpace(rest); {
			case word == "if":
				skips = append(skips, !rc.conditionHolds(rest))
			case word == "else" && len(skips) > 0:
				skips[len(skips)-1] = !skips[len(skips)-1]
			case word == "endif" && len(skips) > 0:
				skips = skips[:len(skips)-1]
			case word == "include" && !skipped:
				rc.read(rest)
			}
			continue
		}
		if line == "" || line[0] == '#' || skipped {
			continue
		}
		if setting, ok := strings.CutPrefix(line, "set "); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(setting), " ")
			rc.set(strings.ToLower(name), strings.TrimSpace(value))
			continue
		}
		rc.bind(line)
	}
}

// conditionHolds evaluates the condition of an $if: mode=, term=, a program name, or a
// readline version.
func (rc *inputrc) conditionHolds(condition string) bool {
	name, value, assigned := strings.Cut(strings.ToLower(condition), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(strings.TrimPrefix(value, "="))
	mode := "emacs"
	if rc.vi {
		mode = "vi"
	}
	switch {
	case !assigned:
		return name == "meowdis" || name == "redis"
	case name == "mode" || name == "editing-mode":
		return value == mode
	case name == "term":
		short, _, _ := strings.Cut(rc.terminal, "-")
		return value == strings.ToLower(rc.terminal) || value == strings.ToLower(short)
	}
	return strings.HasPrefix(name, "version") && strings.HasSuffix(name, ">")
}

func (rc *inputrc) set(name, value string) {
	switch name {
	case "editing-mode":
		rc.vi = value == "vi"
		rc.keymap = emacsKeys
		if rc.vi {
			rc.keymap = viInsertKeys
		}
	case "keymap":
		switch value {
		case "vi-insert":
			rc.keymap = viInsertKeys
		case "vi", "vi-command", "vi-move":
			rc.keymap = viCommandKeys
		case "emacs", "emacs-standard":
			rc.keymap = emacsKeys
		default:
			rc.keymap = viArgumentKeys
		}
	case "keyseq-timeout":
		if ms, err := strconv.Atoi(value); err == nil && ms >= 0 {
			rc.timeout = time.Duration(min(ms, 5000)) * time.Millisecond
		}
	case "show-mode-in-prompt":
		rc.hideMode = value != "on" && value != "1"
	case "bell-style":
		rc.silent = value == "none" || value == "visible"
	case "vi-ins-mode-string":
		rc.insert = modeString(value)
	case "vi-cmd-mode-string":
		rc.command = modeString(value)
	}
}

// modeString returns text for the prompt without \1 and \2, which enclose invisible parts.
func modeString(value string) string {
	value, _, _ = unescaped(strings.Trim(value, `"`), 0)
	return strings.NewReplacer("\x01", "", "\x02", "", "\r", "", "\n", "").Replace(value)
}

// bind parses KEY: FUNCTION or KEY: "TEXT".
func (rc *inputrc) bind(line string) {
	var sequence, rest string
	if line[0] == '"' {
		var end int
		var ok bool
		sequence, end, ok = unescaped(line[1:], '"')
		if !ok {
			return
		}
		rest = line[1+end:]
	} else {
		name, after, _ := strings.Cut(line, ":")
		sequence, rest = namedKey(name), ":"+after
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(rest), ":")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" || sequence == "" || sequence == "\x03" || rc.keymap >= viArgumentKeys || len(rc.bindings[rc.keymap]) >= maxBindings {
		return
	}
	b := binding{sequence: sequence}
	if quote := rest[0]; quote == '"' || quote == '\'' {
		text, _, ok := unescaped(rest[1:], quote)
		if !ok || len(text) > maxMacroBytes {
			return
		}
		b.keyAction = keyAction{text, true}
	} else {
		function, _, _ := strings.Cut(rest, " ")
		key := functionKey(strings.ToLower(function))
		if key == "" || key >= " " && key < "\x7f" && rc.keymap != viCommandKeys {
			if !slices.Contains(rc.unknown, function) && len(rc.unknown) < maxBindings {
				rc.unknown = append(rc.unknown, function)
			}
			return
		}
		b.keyAction = keyAction{key, false}
	}
	bound := &rc.bindings[rc.keymap]
	*bound = slices.DeleteFunc(*bound, func(other binding) bool { return other.sequence == sequence })
	*bound = append(*bound, b)
}

// binding returns the action of the longest sequence that keys begin with, and its length; 0 for none.
func (rc *inputrc) binding(k keymap, keys []byte) (b keyAction, n int) {
	if k >= viArgumentKeys {
		return b, 0
	}
	for _, one := range rc.bindings[k] {
		if len(one.sequence) > n && bytes.HasPrefix(keys, []byte(one.sequence)) {
			b, n = one.keyAction, len(one.sequence)
		}
	}
	return b, n
}

// isPrefix reports whether keys are the start of a longer sequence.
func (rc *inputrc) isPrefix(k keymap, keys []byte) bool {
	return k < viArgumentKeys && slices.ContainsFunc(rc.bindings[k], func(b binding) bool {
		return len(b.sequence) > len(keys) && strings.HasPrefix(b.sequence, string(keys))
	})
}

// summary says which bindings were read, for people who miss their keys.
func (rc *inputrc) summary() string {
	known := 0
	for _, b := range rc.bindings {
		known += len(b)
	}
	if known == 0 && len(rc.unknown) == 0 {
		return ""
	}
	text := fmt.Sprintf("Keys bound by the inputrc file: %d.", known)
	if len(rc.unknown) > 0 {
		text += " Not known here: " + strings.Join(rc.unknown[:min(len(rc.unknown), 20)], ", ") + "."
	}
	return text
}

var errNoEscape = errors.New("no escape")

// unescaped decodes a sequence or a text up to the quote, or to the end for 0. end is the
// number of bytes it takes including the quote; ok is false if the quote is missing.
func unescaped(text string, quote byte) (value string, end int, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == quote && quote != 0:
			return b.String(), i + 1, true
		case c == '\\':
			s, n, err := escapedKey(text[i:])
			if err != nil {
				return "", 0, false
			}
			b.WriteString(s)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), len(text), quote == 0
}

// escapedKey decodes an escape sequence, and returns the number of bytes it takes.
func escapedKey(text string) (string, int, error) {
	if len(text) < 2 {
		return "", 0, errNoEscape
	}
	if i := strings.IndexByte("abdefnrtv", text[1]); i >= 0 {
		return string("\a\b\x7f\x1b\f\n\r\t\v"[i]), 2, nil
	}
	switch c := text[1]; {
	case (c == 'C' || c == 'M') && len(text) > 3 && text[2] == '-':
		key, n := text[3:4], 1
		if text[3] == '\\' {
			var err error
			if key, n, err = escapedKey(text[3:]); err != nil {
				return "", 0, err
			}
		}
		if c == 'M' {
			return "\x1b" + key, 3 + n, nil
		}
		return control(key), 3 + n, nil
	case c >= '0' && c <= '7':
		return digits(text, 1, 3, 8)
	case c == 'x' && len(text) > 2:
		return digits(text, 2, 2, 16)
	}
	return text[1:2], 2, nil
}

// digits decodes a byte from up to most digits at from.
func digits(text string, from, most, base int) (string, int, error) {
	to := from
	for to < len(text) && to < from+most {
		if _, err := strconv.ParseUint(text[to:to+1], base, 8); err != nil {
			break
		}
		to++
	}
	n, err := strconv.ParseUint(text[from:to], base, 8)
	return string([]byte{byte(n)}), to, err
}

// control returns a key with Ctrl.
func control(key string) string {
	if c := key[len(key)-1]; c == '?' {
		key = key[:len(key)-1] + "\x7f"
	} else {
		key = key[:len(key)-1] + string(rune(c&0x1f))
	}
	return key
}

// namedKey decodes a key name such as Control-Meta-x or Rubout.
func namedKey(name string) string {
	name = strings.TrimSpace(name)
	var ctrl, meta bool
	for {
		before, rest, ok := strings.Cut(name, "-")
		if !ok || rest == "" {
			break
		}
		switch strings.ToLower(before) {
		case "control", "ctrl", "c":
			ctrl = true
		case "meta", "m":
			meta = true
		default:
			return ""
		}
		name = rest
	}
	switch strings.ToLower(name) {
	case "del", "rubout":
		name = "\x7f"
	case "esc", "escape":
		name = "\x1b"
	case "lfd", "newline":
		name = "\n"
	case "ret", "return":
		name = "\r"
	case "spc", "space":
		name = " "
	case "tab":
		name = "\t"
	}
	if len(name) != 1 {
		return ""
	}
	if ctrl {
		name = control(name)
	}
	if meta {
		name = "\x1b" + name
	}
	return name
}
