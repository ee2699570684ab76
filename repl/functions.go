package repl

import "github.com/chzyer/readline"

// functionKey returns the key for a readline function; "" for an unknown function.
func functionKey(name string) string {
	switch name {
	case "beginning-of-line", "vi-first-print":
		return key(readline.CharLineStart)
	case "end-of-line", "vi-end-of-line":
		return key(readline.CharLineEnd)
	case "forward-char", "vi-forward-char":
		return key(readline.CharForward)
	case "backward-char", "vi-backward-char":
		return key(readline.CharBackward)
	case "forward-word", "shell-forward-word", "vi-forward-word", "vi-next-word":
		return "\x1bf"
	case "backward-word", "shell-backward-word", "vi-backward-word", "vi-prev-word":
		return "\x1bb"
	case "clear-screen", "clear-display":
		return key(readline.CharCtrlL)
	case "accept-line":
		return key(readline.CharEnter)
	case "previous-history", "history-search-backward", "history-substring-search-backward", "previous-screen-line":
		return key(readline.CharPrev)
	case "next-history", "history-search-forward", "history-substring-search-forward", "next-screen-line":
		return key(readline.CharNext)
	case "beginning-of-history":
		return key(keyOldest)
	case "end-of-history":
		return key(keyNewest)
	case "reverse-search-history", "non-incremental-reverse-search-history":
		return key(readline.CharBckSearch)
	case "forward-search-history", "non-incremental-forward-search-history":
		return key(readline.CharFwdSearch)
	case "delete-char", "delete-char-or-list":
		return key(keyDelete)
	case "backward-delete-char", "vi-rubout":
		return key(readline.CharBackspace)
	case "kill-line":
		return key(readline.CharKill)
	case "unix-line-discard", "backward-kill-line":
		return key(readline.CharCtrlU)
	case "kill-whole-line":
		return key(keyKillLine)
	case "kill-word", "shell-kill-word":
		return "\x1bd"
	case "backward-kill-word", "shell-backward-kill-word":
		return "\x1b\x7f"
	case "unix-word-rubout", "vi-unix-word-rubout":
		return key(readline.CharCtrlW)
	case "yank":
		return key(readline.CharCtrlY)
	case "yank-last-arg", "insert-last-argument":
		return key(keyLastArg)
	case "transpose-chars":
		return key(readline.CharTranspose)
	case "upcase-word":
		return key(keyUpper)
	case "downcase-word":
		return key(keyLower)
	case "capitalize-word":
		return key(keyCapital)
	case "undo", "vi-undo":
		return key(keyUndo)
	case "revert-line":
		return key(keyRevert)
	case "complete", "menu-complete", "possible-completions", "vi-complete":
		return key(readline.CharTab)
	case "menu-complete-backward", "old-menu-complete":
		return key(keyBackTab)
	case "edit-and-execute-command", "vi-edit-and-execute-command":
		return key(keyEdit)
	case "abort":
		return key(readline.CharBell)
	case "vi-editing-mode":
		return key(keyViMode)
	case "emacs-editing-mode":
		return key(keyEmacsMode)
	case "vi-movement-mode":
		return key(keyEscape)
	case "vi-insertion-mode":
		return "i"
	case "vi-insert-beg":
		return "I"
	case "vi-append-mode":
		return "a"
	case "vi-append-eol":
		return "A"
	}
	return ""
}

func key(r rune) string { return string(r) }
