package repl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxEntries limits the entries of the history.
const maxEntries = 2000

// history holds the typed lines, oldest first, without duplicates. It is stored in a file with
// mode 0600. Each entry is appended at once, so that several sessions share the file.
type history struct {
	file    string // "" for none
	entries []string
	at      int    // the entry shown; len(entries) is the line being typed
	draft   string // the line being typed; browsing shows entries that begin with it
}

// openHistory reads the file, and truncates it to maxEntries.
func openHistory(file string) (*history, error) {
	h := &history{file: file}
	if file == "" {
		return h, nil
	}
	text, err := h.read()
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	all := entriesOf(string(text))
	h.entries = newest(all)
	h.rewind("")
	if len(all) > len(h.entries) {
		err = h.rewrite()
	}
	return h, err
}

// read reads the file, creating it if necessary, and sets its mode to 0600.
func (h *history) read() ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(h.file)
	if errors.Is(err, os.ErrNotExist) {
		err = os.WriteFile(h.file, nil, 0o600)
	}
	return text, errors.Join(err, os.Chmod(h.file, 0o600))
}

// rewrite replaces the file atomically: a crash leaves the old one.
func (h *history) rewrite() error {
	var b strings.Builder
	for _, entry := range h.entries {
		b.WriteString(entryText(entry))
	}
	next := h.file + ".new"
	if err := os.WriteFile(next, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return os.Rename(next, h.file)
}

// entryText encodes an entry as a line of the file. In an entry of several lines, each line
// but the last ends with a backslash.
func entryText(entry string) string { return strings.ReplaceAll(entry, "\n", "\\\n") + "\n" }

func entriesOf(text string) []string {
	var entries []string
	const joint = "\x00"
	text = strings.ReplaceAll(strings.ReplaceAll(text, joint, ""), "\\\n", joint)
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); strings.TrimSpace(line) != "" {
			entries = append(entries, strings.ReplaceAll(line, joint, "\n"))
		}
	}
	return entries
}

// newest returns the last maxEntries entries without duplicates; the last duplicate is kept.
func newest(entries []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, entry := range slices.Backward(entries) {
		if !seen[entry] && len(kept) < maxEntries {
			seen[entry] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// push appends an entry and removes its duplicate.
func (h *history) push(entry string) {
	if i := slices.Index(h.entries, entry); i >= 0 {
		h.entries = slices.Delete(h.entries, i, i+1)
	}
	h.entries = append(h.entries, entry)
	if over := len(h.entries) - maxEntries; over > 0 {
		h.entries = slices.Delete(h.entries, 0, over)
	}
}

// add stores a line, unless it contains a secret. It ignores write errors: they are no
// reason to stop.
func (h *history) add(text string) {
	text = strings.TrimSpace(text)
	if text == "" || holdsSecret(text) {
		return
	}
	h.push(text)
	if h.file == "" {
		return
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	f.WriteString(entryText(text))
	f.Close()
}

// rewind returns to the line being typed.
func (h *history) rewind(draft string) { h.at, h.draft = len(h.entries), draft }

// browsing reports whether a history entry is shown.
func (h *history) browsing() bool { return h.at < len(h.entries) }

// older returns the previous entry that begins with the draft; shown is the draft when
// browsing starts. ok is false at the oldest entry.
func (h *history) older(shown string) (text string, ok bool) {
	draft := h.draft
	if !h.browsing() {
		draft = shown
	}
	for at := h.at - 1; at >= 0; at-- {
		if _, ok := cutTyped(h.entries[at], draft); ok && h.entries[at] != draft {
			h.at, h.draft = at, draft
			return h.entries[at], true
		}
	}
	return "", false
}

// newer returns the next entry that begins with the draft, and finally the draft.
func (h *history) newer() (text string, ok bool) {
	if !h.browsing() {
		return "", false
	}
	for h.at++; h.browsing(); h.at++ {
		if _, ok := cutTyped(h.entries[h.at], h.draft); ok && h.entries[h.at] != h.draft {
			return h.entries[h.at], true
		}
	}
	return h.draft, true
}

// suggest returns the rest of the newest entry that begins with typed; "" for none. It
// skips entries with secrets, wherever they came from.
func (h *history) suggest(typed string) string {
	if strings.TrimSpace(typed) == "" || h.browsing() {
		return ""
	}
	for i := len(h.entries) - 1; i >= 0; i-- {
		if rest, ok := cutTyped(h.entries[i], typed); ok && rest != "" && !holdsSecret(h.entries[i]) {
			return rest
		}
	}
	return ""
}

// cutTyped reports whether entry begins with typed, and returns the rest. The case of the
// first word, the command, is ignored.
func cutTyped(entry, typed string) (rest string, ok bool) {
	if len(entry) < len(typed) {
		return "", false
	}
	begin, rest := entry[:len(typed)], entry[len(typed):]
	word := strings.IndexAny(typed, " \n")
	if word < 0 {
		word = len(typed)
	}
	return rest, strings.EqualFold(begin[:word], typed[:word]) && begin[word:] == typed[word:]
}

// find returns the index of an entry that contains query, starting at index at in steps of
// by; -1 for none.
func (h *history) find(query string, at, by int) int {
	query = strings.ToLower(query)
	for ; at >= 0 && at < len(h.entries); at += by {
		if strings.Contains(strings.ToLower(h.entries[at]), query) {
			return at
		}
	}
	return -1
}
