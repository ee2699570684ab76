package repl

import (
	"context"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
)

// Assistant provides the prompt's completion and hints for lines typed elsewhere. It does
// not know the prompt's own commands, which begin with a colon.
type Assistant struct {
	options *Options
	asker   *asker
}

// NewAssistant returns an Assistant for t. It uses Session, Commands and Keys.
func NewAssistant(t Target) *Assistant {
	return &Assistant{&Options{Target: t}, &asker{target: t}}
}

// Candidate is one way to complete a word, with a note about it.
type Candidate struct{ Text, About string }

// Completion is the candidates for the word at the end of a text.
type Completion struct {
	From  int // start of the word, in bytes
	Items []Candidate
	More  bool   // there may be more candidates
	Why   string // the reason for an empty list; "" if unknown

	common string
}

// Complete returns the candidates for the end of text. It may query the target, and returns
// when ctx ends.
func (a *Assistant) Complete(ctx context.Context, text string) Completion {
	if strings.HasPrefix(strings.TrimLeft(text, " "), ":") {
		return Completion{From: len(text)}
	}
	c := complete(text, a.options)
	if c.ask != nil {
		select {
		case found := <-a.asker.ask(ctx, *c.ask):
			c = c.withAnswer(found)
		case <-ctx.Done():
		}
	}
	out := Completion{From: c.from, More: c.more, Why: c.why}
	kept := c.items[:0:0]
	for _, item := range c.items {
		if builtinWords[strings.ToUpper(item.text)] != "" && a.table().Lookup(item.text) == nil {
			continue // a command of the prompt
		}
		kept = append(kept, item)
		out.Items = append(out.Items, Candidate{item.text, item.about})
	}
	switch {
	case c.fuzzy:
	case len(kept) == 1:
		out.common = kept[0].text + c.ending(kept[0].text)
	case len(kept) > 1:
		if common := commonPrefix(kept); len(common) > len(c.typed) && strings.HasPrefix(common, c.typed) {
			out.common = common
		}
	}
	return out
}

func (a *Assistant) table() *commands.Table { return a.options.Target.table() }

// Sure returns the text that surely replaces the word: the only candidate followed by a
// space, or the common prefix of all candidates; "" if that adds nothing.
func (c Completion) Sure() string { return c.common }

// Hint returns the arguments that may follow text, in at most columns, or the mistake in it.
func (a *Assistant) Hint(text string, columns int) (hint string, wrong bool) {
	if columns <= 0 || strings.HasPrefix(strings.TrimLeft(text, " "), ":") {
		return "", false
	}
	_, after := paint(text, a.table(), false)
	hint = after.text
	if len(after.params) > 0 && hint == "" {
		hint = strings.Join(fitParams(after.params, columns), " ")
	}
	return hint, after.wrong
}
