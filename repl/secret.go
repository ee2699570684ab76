package repl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// holdsSecret tells whether a line may name a password or a key: such a line
// stays out of the history.
func holdsSecret(line string) bool {
	var words []string
	if split, err := resp.SplitLine(line); err == nil {
		for _, w := range split {
			words = append(words, strings.ToUpper(string(w)))
		}
	} else {
		words = strings.Fields(strings.ToUpper(strings.NewReplacer(`"`, " ", `'`, " ").Replace(line)))
	}
	if len(words) > 0 {
		if _, err := strconv.Atoi(words[0]); err == nil {
			words = words[1:] // "3 AUTH …" repeats
		}
	}
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
