package repl

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Keys without a rune in readline. They use Unicode noncharacters.
const (
	keyNone     rune = 0xfdd0 + iota // unknown key
	keyEscape                        // Escape
	keyBackTab                       // Shift-Tab
	keyDelete                        // deletes the character under the cursor
	keyPaste                         // pasted text: see input.pasted
	keyPageUp                        // in a menu
	keyPageDown                      // in a menu
	keyEdit                          // Enter, then edit the text in $EDITOR
	keyUndo
	keyRevert     // undoes all changes
	keyKillLine   // the whole line
	keyLastArg    // the last argument of the previous line
	keyUpper      // changes the case of a word, like the next two
	keyLower      //
	keyCapital    //
	keyOldest     // the oldest history entry
	keyNewest     // the line being typed
	keyViMode     // switches to vi's keys
	keyEmacsMode  // switches back
	keyLastOfOurs // marks the end of the range
)

// isKey reports whether r is one of these keys.
func isKey(r rune) bool { return r >= keyNone && r < keyLastOfOurs }

// sequences maps what terminals send after Escape to keys.
var sequences = map[string]string{
	"[A": "\x10", "[B": "\x0e", "[C": "\x06", "[D": "\x02", "OA": "\x10", "OB": "\x0e", "OC": "\x06", "OD": "\x02",
	"[H": "\x01", "[F": "\x05", "OH": "\x01", "OF": "\x05", "[1~": "\x01", "[7~": "\x01", "[4~": "\x05", "[8~": "\x05",
	"[1;5C": "\x1bf", "[1;3C": "\x1bf", "[1;9C": "\x1bf", "[1;9D": "\x1bb", "[1;5D": "\x1bb", "[1;3D": "\x1bb", "[3;5~": "\x1bd",
	"[3~": string(keyDelete), "[Z": string(keyBackTab), "[5~": string(keyPageUp), "[6~": string(keyPageDown),
	"b": "\x1bb", "f": "\x1bf", "d": "\x1bd", "\x7f": "\x1b\x7f", "\b": "\x1b\x7f",
	".": string(keyLastArg), "_": string(keyLastArg), "u": string(keyUpper), "l": string(keyLower), "c": string(keyCapital),
	"<": string(keyOldest), ">": string(keyNewest), "r": string(keyRevert),
}

// input passes keys from the terminal to readline. It passes on one key at a time, so
// that unread input is left for the next reader; it translates key sequences to runes, and
// keeps pasted text together.
type input struct {
	from io.Reader
	// ready reports whether from has more input, and waits for it up to wait. If it is not nil,
	// input reads byte by byte and no further than the current key: the rest is for the next
	// reader of the terminal, a pager or the shell.
	ready func(wait time.Duration) bool
	rc    inputrc // key bindings of the user

	mu sync.Mutex
	// A key can change the meaning of the next one. So with an editor, the next key is
	// passed on only after the editor has set the keymap.
	handled    *sync.Cond // nil without an editor
	awaiting   bool       // the editor has not handled the last key yet
	keymap     keymap     // meaning of the next key
	macroCount int        // macros expanded since the last read
	waiting    []byte     // bytes read and not yet passed on
	key        []byte     // the rest of a key that was passed on in part
	pasted     string
	edit       bool      // the last Enter was Ctrl-X Ctrl-E
	escaped    time.Time // when a single Escape was read
}

// sequenceTimeout limits the time between the Escape and the rest of a key.
const sequenceTimeout = 50 * time.Millisecond

// Read returns the next key, or part of it.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.handled != nil && in.awaiting && len(in.key) == 0 {
		in.handled.Wait()
	}
	for len(in.key) == 0 {
		if !in.incomplete() {
			if key, n := in.next(); n > 0 {
				in.handOut(key, n)
				break
			}
		}
		if err := in.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, in.key)
	in.key = in.key[n:]
	return n, nil
}

// handOut returns a key that took n bytes of waiting.
func (in *input) handOut(key string, n int) {
	in.waiting, in.escaped = in.waiting[n:], time.Time{}
	switch key {
	case string(keyEdit):
		in.edit, key = true, "\r"
	case string(keyEscape):
		in.escaped = time.Now()
	}
	in.key, in.awaiting = []byte(key), true
}

// setKeymap sets the meaning of the next key, after the editor has handled the last one.
func (in *input) setKeymap(k keymap) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.keymap, in.awaiting = k, false
	if in.handled != nil {
		in.handled.Broadcast()
	}
}

// fill reads more input without holding the lock: the only reader is also the only one to change waiting.
func (in *input) fill() error {
	size := 4096
	if in.ready != nil && !bytes.HasPrefix(in.waiting, []byte("\x1b"+beginPaste)) {
		size = 1
	}
	in.mu.Unlock()
	buf := make([]byte, size)
	n, err := in.from.Read(buf)
	in.mu.Lock()
	if n == 0 && err != nil {
		return err
	}
	in.waiting, in.macroCount = append(in.waiting, buf[:n]...), 0
	return nil
}

// escapeWait limits that time with vi's keys, where Escape itself is a key.
const escapeWait = 25 * time.Millisecond

// incomplete reports whether waiting is the start of a key whose rest arrives in time.
func (in *input) incomplete() bool {
	var wait time.Duration
	switch {
	case in.ready == nil || len(in.waiting) == 0:
		return false
	case in.rc.isPrefix(in.keymap, in.waiting):
		wait = in.rc.timeout
	case string(in.waiting) != "\x1b":
		return false
	case in.keymap != emacsKeys:
		wait = escapeWait
	}
	in.mu.Unlock()
	defer in.mu.Lock()
	return in.ready(wait)
}

// Close does nothing: the terminal belongs to the process.
func (in *input) Close() error { return nil }

// more reports whether keys are pending.
func (in *input) more() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.waiting) > 0 || in.ready != nil && in.ready(0)
}

// wantsEdit reports whether the last Enter was Ctrl-X Ctrl-E, and resets that.
func (in *input) wantsEdit() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	edit := in.edit
	in.edit = false
	return edit
}

// paste returns the text of the last keyPaste.
func (in *input) paste() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.pasted
}

// next returns the key at the start of waiting and its length in bytes; n is 0 if the key
// is incomplete.
func (in *input) next() (key string, n int) {
	w := in.waiting
	if len(w) == 0 {
		return "", 0
	}
	if b, n := in.rc.binding(in.keymap, w); n > 0 {
		return in.expand(b, n)
	}
	late := time.Since(in.escaped) < sequenceTimeout
	switch {
	case w[0] == '\x1b' && in.keymap != emacsKeys && (len(w) == 1 || w[1] != '[' && w[1] != 'O'):
		return string(keyEscape), 1 // with vi's keys there is no Alt
	case w[0] == '\x1b':
		return in.escape(w[1:], 1)
	case w[0] == 'v' && in.keymap == viCommandKeys:
		return string(keyEdit), 1
	case late && (w[0] == '[' || w[0] == 'O'):
		return in.escape(w, 0)
	case w[0] == 0x18: // Ctrl-X
		if len(w) < 2 {
			return "", 0
		}
		switch w[1] {
		case 0x05:
			return string(keyEdit), 2
		case 0x15:
			return string(keyUndo), 2
		}
		return string(keyNone), 2
	case w[0] == 0x1f:
		return string(keyUndo), 1
	case w[0] == 0:
		return string(keyNone), 1
	case !utf8.FullRune(w):
		return "", 0
	}
	r, n := utf8.DecodeRune(w)
	if isKey(r) {
		r = utf8.RuneError
	}
	return string(r), n
}

// expand returns the key of a binding of n bytes. It replaces a macro by its text.
func (in *input) expand(b keyAction, n int) (key string, took int) {
	const mostPlayed = 20 // macros can expand each other endlessly
	if !b.macro {
		return b.key, n
	}
	if in.macroCount++; in.macroCount > mostPlayed {
		return string(keyNone), n
	}
	in.waiting = append([]byte(b.key), in.waiting[n:]...)
	return in.next()
}

const (
	beginPaste = "[200~"
	endPaste   = "\x1b[201~"
)

// escape returns the key for the sequence at the start of w, which follows skipped bytes.
func (in *input) escape(w []byte, skipped int) (key string, n int) {
	if len(w) == 0 || w[0] == '\x1b' || w[0] < ' ' && sequences[string(w[:1])] == "" {
		return string(keyEscape), skipped // Escape by itself, as when Ctrl-C follows at once
	}
	length := 1
	switch w[0] {
	case 'O':
		length = 2
	case '[':
		final := bytes.IndexFunc(w[1:], func(r rune) bool { return r >= '@' && r <= '~' })
		if final < 0 {
			return "", 0
		}
		length = final + 2
	}
	if len(w) < length {
		return "", 0
	}
	sequence := string(w[:length])
	if sequence == beginPaste {
		end := bytes.Index(w, []byte(endPaste))
		if end < 0 {
			return "", 0
		}
		in.pasted = cleanPaste(string(w[length:end]))
		return string(keyPaste), skipped + end + len(endPaste)
	}
	if key, known := sequences[sequence]; known {
		return key, skipped + length
	}
	return string(keyNone), skipped + length
}

// cleanPaste normalizes line ends and removes control characters, which would be keys.
func cleanPaste(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(text)
	text = strings.TrimSuffix(strings.ToValidUTF8(text, "\ufffd"), "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}

// Bracketed paste: the terminal marks pasted text while a line is edited.
const (
	enableBracketedPaste  = "\x1b[?2004h"
	disableBracketedPaste = "\x1b[?2004l"
)
