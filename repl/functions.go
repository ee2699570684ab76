package repl

import (
	"slices"

	"github.com/chzyer/readline"
)

// functionKeys lists, for each key, the readline functions that the key runs here.
var functionKeys = []struct {
	key       string
	functions []string
}{
	{key(readline.CharLineStart), []string{"beginning-of-line", "vi-first-print"}},
	{key(readline.CharLineEnd), []string{"end-of-line", "vi-end-of-line"}},
	{key(readline.CharForward), []string{"forward-char", "vi-forward-char"}},
	{key(readline.CharBackward), []string{"backward-char", "vi-backward-char"}},
	{"\x1bf", []string{"forward-word", "shell-forward-word", "vi-forward-word", "vi-next-word"}},
	{"\x1bb", []string{"backward-word", "shell-backward-word", "vi-backward-word", "vi-prev-word"}},
	{key(readline.CharCtrlL), []string{"clear-screen", "clear-display"}},
	{key(readline.CharEnter), []string{"accept-line"}},
	{key(readline.CharPrev), []string{"previous-history", "history-search-backward", "history-substring-search-backward", "previous-screen-line"}},
	{key(readline.CharNext), []string{"next-history", "history-search-forward", "history-substring-search-forward", "next-screen-line"}},
	{key(keyOldest), []string{"beginning-of-history"}},
	{key(keyNewest), []string{"end-of-history"}},
	{key(readline.CharBckSearch), []string{"reverse-search-history", "non-incremental-reverse-search-history"}},
	{key(readline.CharFwdSearch), []string{"forward-search-history", "non-incremental-forward-search-history"}},
	{key(keyDelete), []string{"delete-char", "delete-char-or-list"}},
	{key(readline.CharBackspace), []string{"backward-delete-char", "vi-rubout"}},
	{key(readline.CharKill), []string{"kill-line"}},
	{key(readline.CharCtrlU), []string{"unix-line-discard", "backward-kill-line"}},
	{key(keyKillLine), []string{"kill-whole-line"}},
	{"\x1bd", []string{"kill-word", "shell-kill-word"}},
	{"\x1b\x7f", []string{"backward-kill-word", "shell-backward-kill-word"}},
	{key(readline.CharCtrlW), []string{"unix-word-rubout", "vi-unix-word-rubout"}},
	{key(readline.CharCtrlY), []string{"yank"}},
	{key(keyLastArg), []string{"yank-last-arg", "insert-last-argument"}},
	{key(readline.CharTranspose), []string{"transpose-chars"}},
	{key(keyUpper), []string{"upcase-word"}},
	{key(keyLower), []string{"downcase-word"}},
	{key(keyCapital), []string{"capitalize-word"}},
	{key(keyUndo), []string{"undo", "vi-undo"}},
	{key(keyRevert), []string{"revert-line"}},
	{key(readline.CharTab), []string{"complete", "menu-complete", "possible-completions", "vi-complete"}},
	{key(keyBackTab), []string{"menu-complete-backward", "old-menu-complete"}},
	{key(keyEdit), []string{"edit-and-execute-command", "vi-edit-and-execute-command"}},
	{key(readline.CharBell), []string{"abort"}},
	{key(keyViMode), []string{"vi-editing-mode"}},
	{key(keyEmacsMode), []string{"emacs-editing-mode"}},
	{key(keyEscape), []string{"vi-movement-mode"}},
	{"i", []string{"vi-insertion-mode"}},
	{"I", []string{"vi-insert-beg"}},
	{"a", []string{"vi-append-mode"}},
	{"A", []string{"vi-append-eol"}},
}

// functionKey returns the key for a readline function; "" for an unknown function.
func functionKey(name string) string {
	for _, row := range functionKeys {
		if slices.Contains(row.functions, name) {
			return row.key
		}
	}
	return ""
}

func key(r rune) string { return string(r) }
