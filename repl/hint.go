package repl

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/commands"
)

// hint holds the text after the cursor: the next arguments, or a mistake.
type hint struct {
	params []param // the next arguments, most used first
	text   string  // shown instead of params
	wrong  bool    // text describes a mistake
	ended  bool    // the text ends with a blank
}

// styleNext highlights the next argument; the other arguments are dimmed.
const styleNext = "3"

// render returns the hint with its colours, in at most columns.
func (h hint) render(columns int) string {
	lead := ""
	if !h.ended {
		lead = " "
	}
	switch {
	case h.wrong:
		return sgr(ansi.Truncate(lead+" "+h.text, max(columns, 0), "…"), warning)
	case h.text != "":
		return sgr(ansi.Truncate(lead+h.text, max(columns, 0), "…"), dim)
	case len(h.params) == 0:
		return ""
	}
	parts := fitParams(h.params, columns-len(lead))
	next := ansi.Truncate(lead+parts[0], max(columns, 0), "…")
	rest := ansi.Truncate(strings.TrimSuffix(" "+strings.Join(parts[1:], " "), " "), max(columns-ansi.StringWidth(next), 0), "…")
	if next == "" || rest == "" {
		return sgr(next, styleNext)
	}
	return sgr(next, styleNext) + sgr(rest, dim)
}

// usageRank ranks options by how often people type them. Options below 0 come first, those
// above 0 last; the last ones are left out first if space is short.
var usageRank = map[string]int{
	"EX": -4, "NX": -3, "PX": -2, "MAXLEN": -2, "COUNT": -2, "BLOCK": -1, "XX": -1, "WITHSCORES": -1, "MATCH": -2,
	"EXAT": 1, "PXAT": 1, "NOMKSTREAM": 1, "MINID": 1, "MINMATCHLEN": 1, "INDENT": 1, "NEWLINE": 2, "SPACE": 2, "FORMAT": 3,
	"IFEQ": 2, "IFNE": 3, "IFDEQ": 4, "IFDNE": 4, "KEEPREF": 3, "DELREF": 3, "ACKED": 3, "IDMPAUTO": 4, "IDMP": 4,
	"MAXCOUNT": 3, "MAXSIZE": 3, "CLAIM": 2, "NOACK": 1, "REDUCE": 1, "CAS": 1, "M": 1, "NOQUANT": 1, "BIN": 1, "Q8": 1,
	"FILTER-EF": 2, "TRUTH": 3, "NOTHREAD": 3, "EPSILON": 1, "IDLETIME": 2, "FREQ": 2, "LASTID": 2,
}

// rankOf returns the rank of an argument, for a choice the best rank of its options.
func rankOf(a commands.Argument) int {
	switch {
	case a.Token != "":
		return usageRank[a.Token]
	case len(a.Arguments) > 0 && a.Type == "oneof":
		rank := rankOf(a.Arguments[0])
		for _, b := range a.Arguments[1:] {
			rank = min(rank, rankOf(b))
		}
		return rank
	case len(a.Arguments) > 0:
		return rankOf(a.Arguments[0])
	}
	return 0
}

func compareRank(a, b commands.Argument) int { return rankOf(a) - rankOf(b) }

// sortByUse sorts adjacent options, and the words of a choice, by how often they are typed.
// Required arguments keep their place.
func sortByUse(params []param) []param {
	params = slices.Clone(params)
	for i, p := range params {
		if p.Type == "oneof" {
			params[i].Arguments = slices.Clone(p.Arguments)
			smallsort.Sort(params[i].Arguments, compareRank)
		}
	}
	for from := 0; from < len(params); from++ {
		to := from
		for to < len(params) && params[to].Optional && leadsWithToken(params[to].Argument) {
			to++
		}
		smallsort.Sort(params[from:to], func(a, b param) int { return compareRank(a.Argument, b.Argument) })
		from = max(from, to-1)
	}
	return params
}

// fitParams returns the parameters as text that fits columns. It leaves out the least used
// options and choices; an ellipsis stands for them.
func fitParams(params []param, columns int) []string {
	params = sortByUse(params)
	const more = "…"
	left := false
	for {
		var parts []string
		for _, p := range params {
			parts = append(parts, paramText(p))
		}
		if left {
			parts = append(parts, more)
		}
		if ansi.StringWidth(strings.Join(parts, " ")) <= columns {
			return parts
		}
		i, choice := leastUsed(params)
		switch {
		case i < 0 || len(params) == 1 && !choice:
			return parts
		case choice:
			p := &params[i]
			last := len(p.Arguments) - 1
			if p.Arguments[last].Name == more {
				last--
			}
			p.Arguments = append(slices.Clone(p.Arguments[:last]), commands.Argument{Name: more, Type: "string"})
		default:
			params = slices.Delete(params, i, i+1)
			left = true
		}
	}
}

// leastUsed returns what to leave out first: an option, or the last word of an optional
// choice. It returns -1 if everything is required.
func leastUsed(params []param) (at int, choice bool) {
	at = -1
	rank := 0
	for i, p := range params {
		if p.Type == "oneof" && p.Optional {
			words := slices.DeleteFunc(slices.Clone(p.Arguments), func(a commands.Argument) bool { return a.Name == "…" })
			if last := len(words) - 1; last >= 1 && (at < 0 || rankOf(words[last]) >= rank) {
				at, choice, rank = i, true, rankOf(words[last])
			}
		}
		if p.Optional && !p.repeated && (at < 0 || rankOf(p.Argument) > rank || rankOf(p.Argument) == rank && !choice) {
			at, choice, rank = i, false, rankOf(p.Argument)
		}
	}
	return at, choice
}
