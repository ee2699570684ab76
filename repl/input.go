package repl

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Keys that readline has no rune for. They take code points that no text may
// hold.
const (
	keyNone     rune = 0xfdd0 + iota // nothing that is known
	keyEscape                        // the key itself
	keyBackTab                       // Shift-Tab
	keyDelete                        // the letter under the cursor
	keyPaste                         // text that was pasted: see input.pasted
	keyPageUp                        // of a menu
	keyPageDown                      // of a menu
	keyEdit                          // Enter, and the text is edited elsewhere
	keyUndo
	keyRevert     // undoes everything
	keyKillLine   // the whole line
	keyLastArg    // the last argument of the text before
	keyUpper      // the rest of a word, as the next two
	keyLower      //
	keyCapital    //
	keyOldest     // of the history
	keyNewest     // the text that is being typed
	keyViMode     // edits with vi's keys
	keyEmacsMode  // and without
	keyLastOfOurs // no key
)

// isKey reports whether r is a key and no letter.
func isKey(r rune) bool { return r >= keyNone && r < keyLastOfOurs }

// sequences are what terminals send for keys, after the Escape.
var sequences = map[string]string{
	"[A": "\x10", "[B": "\x0e", "[C": "\x06", "[D": "\x02", "OA": "\x10", "OB": "\x0e", "OC": "\x06", "OD": "\x02",
	"[H": "\x01", "[F": "\x05", "OH": "\x01", "OF": "\x05", "[1~": "\x01", "[7~": "\x01", "[4~": "\x05", "[8~": "\x05",
	"[1;5C": "\x1bf", "[1;3C": "\x1bf", "[1;9C": "\x1bf", "[1;9D": "\x1bb", "[1;5D": "\x1bb", "[1;3D": "\x1bb", "[3;5~": "\x1bd",
	"[3~": string(keyDelete), "[Z": string(keyBackTab), "[5~": string(keyPageUp), "[6~": string(keyPageDown),
	"b": "\x1bb", "f": "\x1bf", "d": "\x1bd", "\x7f": "\x1b\x7f", "\b": "\x1b\x7f",
	".": string(keyLastArg), "_": string(keyLastArg), "u": string(keyUpper), "l": string(keyLower), "c": string(keyCapital),
	"<": string(keyOldest), ">": string(keyNewest), "r": string(keyRevert),
}

// input stands between the terminal and readline. It hands out one key at a time,
// so that what was typed ahead stays here for the next reader, turns the
// sequences of keys into runes, and keeps a pasted text together.
type input struct {
	from io.Reader
	// ready reports whether from has more, and waits so long for it. Where it is not nil,
	// no more is read than the keys that are handed out take: what is typed ahead is
	// for the next reader of the terminal, a pager or the shell.
	ready func(wait time.Duration) bool
	rc    inputrc // the keys of the user's own

	mu sync.Mutex
	// A key can change what the next one means: with an editor, that one is handed out
	// when the editor has told what it is.
	handled    *sync.Cond // nil without an editor
	awaiting   bool       // a key is yet to be told of
	keymap     keymap     // what the next key means
	macroCount int        // macros since a key was read
	waiting    []byte     // read, and not handed out
	key        []byte     // the rest of a key that was handed out in part
	pasted     string
	edit       bool      // the last Enter was Ctrl-X Ctrl-E
	escaped    time.Time // when a lone Escape was seen
}

// sequenceTimeout is how long after its Escape the rest of a key may come.
const sequenceTimeout = 50 * time.Millisecond

// Read hands out the next key, or a part of it.
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

// handOut hands out a key that took n bytes of what waits.
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

// setKeymap says what the next key means, after the editor has handled the last one.
func (in *input) setKeymap(k keymap) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.keymap, in.awaiting = k, false
	if in.handled != nil {
		in.handled.Broadcast()
	}
}

// fill reads on, without the lock: only the one reader changes what waits.
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

// escapeWait is how long the rest of a key may take after its Escape with vi's keys, where
// an Escape means something.
const escapeWait = 25 * time.Millisecond

// incomplete reports whether what waits is the beginning of a key whose rest comes in time.
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

// Close does nothing: the terminal is the process's.
func (in *input) Close() error { return nil }

// more reports whether keys wait to be handed out.
func (in *input) more() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.waiting) > 0 || in.ready != nil && in.ready(0)
}

// wantsEdit reports, once, whether an Enter stands for Ctrl-X Ctrl-E.
func (in *input) wantsEdit() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	edit := in.edit
	in.edit = false
	return edit
}

// paste is the text that the last keyPaste stands for.
func (in *input) paste() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.pasted
}

// next is the key that waiting begins with and the bytes that it takes; n is 0
// when there is not enough of it.
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
		return string(keyEscape), 1 // no Alt with vi's keys
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

// expand is the key that a binding of n bytes stands for. The text of a macro is typed in its place.
func (in *input) expand(b keyAction, n int) (key string, took int) {
	const mostPlayed = 20 // macros can play one another without an end
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

// escape reads the key whose sequence w begins with, after an Escape of skipped
// bytes.
func (in *input) escape(w []byte, skipped int) (key string, n int) {
	if len(w) == 0 || w[0] == '\x1b' || w[0] < ' ' && sequences[string(w[:1])] == "" {
		return string(keyEscape), skipped // a key of its own, as Ctrl-C right after it is
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

// cleanPaste is pasted text with newlines between its lines and no control
// characters, which would be keys.
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

// The terminal marks pasted text while lines are edited.
const (
	enableBracketedPaste  = "\x1b[?2004h"
	disableBracketedPaste = "\x1b[?2004l"
)
