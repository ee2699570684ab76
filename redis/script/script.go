package script

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
)

// Flags are the flags that a script declares in its first line.
type Flags uint8

const (
	NoWrites Flags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys

	// AllowKeyLocking is a flag of Upstash: the script may use keys that it does not declare.
	AllowKeyLocking
)

var flagNames = []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys", "allow-key-locking"}

// Names returns the names of the flags that are set, as FUNCTION LIST shows them.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func parseFlag(name string, upstash bool) (Flags, bool) {
	for i, have := range flagNames {
		if have == name && (upstash || 1<<i != AllowKeyLocking) {
			return 1 << i, true
		}
	}
	return 0, false
}

// Script is a compiled script.
type Script struct {
	SHA      string // SHA1 of the source, in hexadecimal
	Bytes    int    // approximate memory
	Declares bool   // the first line begins with "#!"
	Flags    Flags
	Hint     *WriteHint
	program  *lua.Program
}

// WriteHint guesses whether a script or a library writes.
type WriteHint struct{ writes atomic.Bool }

// NewWriteHint returns a guess from the words of the source.
func NewWriteHint(source []byte) *WriteHint {
	h := &WriteHint{}
	words := bytes.FieldsFunc(source, func(c rune) bool { return c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	h.writes.Store(slices.ContainsFunc(words, func(word []byte) bool {
		cmd := commands.Called([][]byte{word})
		return cmd != nil && cmd.Flags&commands.Write != 0
	}))
	return h
}

// Writes returns the guess.
func (h *WriteHint) Writes() bool { return h.writes.Load() }

// Wrote corrects the guess after a write.
func (h *WriteHint) Wrote() { h.writes.Store(true) }

// SHA1 returns the name of a script: the hash of its source, in hexadecimal.
func SHA1(source []byte) string {
	sum := sha1.Sum(source)
	return hex.EncodeToString(sum[:])
}

// Compile compiles a script of EVAL or SCRIPT LOAD. With upstash its first line may also have Upstash's flags.
// bad is the error reply to an invalid source. Compile calls grow with the bytes that it is about to allocate.
func Compile(source []byte, upstash bool, grow func(bytes int)) (s *Script, bad resp.Value) {
	return compile(source, upstash, grow, lua.Compile)
}

// CompileDebug compiles a script for a Debugger.
func CompileDebug(source []byte) (s *Script, bad resp.Value) {
	return compile(source, true, func(int) {}, lua.CompileDebug)
}

func compile(source []byte, upstash bool, grow func(bytes int), compile func(source, name string, grow func(bytes int)) (*lua.Program, error)) (s *Script, bad resp.Value) {
	s = &Script{SHA: SHA1(source), Hint: NewWriteHint(source), Declares: bytes.HasPrefix(source, []byte("#!"))}
	body, flags, msg := shebang(string(source), upstash)
	if msg != "" {
		return nil, resp.MakeError("ERR " + msg)
	}
	s.Flags = flags
	program, err := compile(body, "@user_script", func(n int) {
		s.Bytes += n
		grow(n)
	})
	if err != nil {
		return nil, resp.MakeError(errorLine("ERR Error compiling script (new function): " + err.Error()))
	}
	s.program = program
	return s, resp.Value{}
}

// Declared returns the flags in the first line of a script. declared is false if that line is missing or
// invalid.
func Declared(source []byte) (flags Flags, declared bool) {
	if !bytes.HasPrefix(source, []byte("#!")) {
		return 0, false
	}
	end := bytes.IndexByte(source, '\n') + 1
	_, flags, bad := shebang(string(source[:end]), true)
	return flags, bad == "" && end > 0
}

// shebang parses a first line that begins with "#!". body begins at the end of that line, so that its lines
// keep their numbers.
func shebang(source string, upstash bool) (body string, flags Flags, bad string) {
	if !strings.HasPrefix(source, "#!") {
		return source, 0, ""
	}
	line, _, ok := strings.Cut(source, "\n")
	if !ok {
		return "", 0, "Invalid script shebang"
	}
	words := strings.Fields(line)
	if words[0] != "#!lua" {
		return "", 0, "Unexpected engine in script shebang: " + words[0]
	}
	for _, word := range words[1:] {
		list, ok := strings.CutPrefix(word, "flags=")
		if !ok {
			return "", 0, "Unknown lua shebang option: " + word
		}
		for _, name := range strings.Split(list, ",") {
			if name == "" {
				continue
			}
			flag, known := parseFlag(name, upstash)
			if !known {
				return "", 0, "Unexpected flag in script shebang: " + name
			}
			flags |= flag
		}
	}
	return source[len(line):], flags, ""
}

// oneLine replaces line breaks, which would end the line of an error reply.
// errorLine returns an error message for a reply: without line breaks at its end, and with spaces for the other
// line breaks.
func errorLine(s string) string { return oneLine(strings.TrimRight(s, "\r\n")) }

func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}
