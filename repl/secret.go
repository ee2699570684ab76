package repl

import (
	"slices"
	"strings"
)

// holdsSecret reports whether a text may contain a password or a secret key. Such a text is
// not stored in the history.
func holdsSecret(text string) bool {
	commands, _ := scan(text)
	return slices.ContainsFunc(commands, func(words []word) bool {
		c := parseCommand(text, words, false)
		upper := values(c.words)
		for i, w := range upper {
			upper[i] = strings.ToUpper(w)
		}
		if strings.HasPrefix(upper[0], ":") {
			return namesPassword(upper[1:]) || callHoldsSecret(upper[1:])
		}
		return callHoldsSecret(upper)
	})
}

// namesPassword reports whether a word is a URL with a password.
func namesPassword(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		_, rest, isURL := strings.Cut(w, "://")
		authority, _, _ := strings.Cut(rest, "/")
		return isURL && strings.Contains(authority, "@")
	})
}

func callHoldsSecret(words []string) bool {
	if len(words) < 2 {
		return false
	}
	switch words[0] {
	case "AUTH":
		return true
	case "ACL":
		return words[1] == "SETUSER" || words[1] == "RESTTOKEN"
	case "HELLO":
		return slices.Contains(words, "AUTH")
	case "MIGRATE":
		return slices.Contains(words, "AUTH") || slices.Contains(words, "AUTH2")
	case "CONFIG", "SENTINEL":
		return words[1] == "SET" && slices.ContainsFunc(words[2:], isSecretSetting) ||
			words[1] == "CONFIG" && slices.ContainsFunc(words[2:], isSecretSetting)
	}
	return false
}

func isSecretSetting(word string) bool {
	for _, part := range []string{"PASS", "AUTH", "SECRET", "-KEY-"} {
		if strings.Contains(word, part) {
			return true
		}
	}
	return false
}
