package commands

import "strings"

// Written formats arguments in the notation of Command.Syntax.
func Written(args []Argument) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.Written()
	}
	return strings.Join(parts, " ")
}

// Written formats the argument with its brackets and repetition.
func (a Argument) Written() string {
	text := a.Once()
	switch {
	case a.Multiple && a.Token != "" && !a.MultipleToken:
		text += " [" + strings.TrimPrefix(text, a.Token+" ") + " ...]"
	case a.Multiple && a.Type == "oneof" && a.Optional:
		return "[" + text + " ...]"
	case a.Multiple:
		text += " [" + text + " ...]"
	}
	switch {
	case a.Optional:
		return "[" + text + "]"
	case a.Type == "oneof" && a.Token == "":
		return "<" + text + ">"
	}
	return text
}

// Once formats the argument without its repetition.
func (a Argument) Once() string {
	var text string
	switch a.Type {
	case "pure-token":
		return a.Token
	case "oneof":
		all := make([]string, len(a.Arguments))
		for i, b := range a.Arguments {
			switch all[i] = b.Once(); {
			case b.Multiple && b.Token != "" && !b.MultipleToken:
				all[i] = b.Written()
			case b.Multiple:
				all[i] = "<" + all[i] + "> [<" + all[i] + "> ...]"
			}
		}
		text = strings.Join(all, "|")
		if a.Token != "" {
			text = "<" + text + ">"
		}
	case "block":
		text = Written(a.Arguments)
	default:
		text = a.Name
	}
	return strings.TrimSpace(a.Token + " " + text)
}
