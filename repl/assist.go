package repl

import (
	"context"
	"strings"

	"github.com/meowdis/meowdis/commands"
)

// Assistant completes and explains lines that are typed elsewhere, as the prompt does its
// own: the same commands, arguments, keys and elements. It knows nothing of the prompt's own
// commands, which begin with a colon.
type Assistant struct {
	options *Options
	asker   *asker
}

// NewAssistant is for commands to t, of which it uses Session, Commands and FirstKeys.
func NewAssistant(t Target) *Assistant {
	return &Assistant{&Options{Target: t}, &asker{target: t}}
}

// Candidate is one way to complete a word, and what is known of it.
type Candidate struct{ Text, About string }

// Completion is what can stand in the place of the word at the end of a text.
type Completion struct {
	From  int // where that word begins, in bytes
	Items []Candidate
	More  bool   // there may be others
	Why   string // there are none; "" where nothing is known

	common string
}

// Complete finds what can complete the end of text. It may ask the target, and ends with
// ctx.
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
			continue // a word of the prompt
		}
		kept = append(kept, item)
		out.Items = append(out.Items, Candidate{item.text, item.about})
	}
	switch {
	case len(kept) == 1:
		out.common = kept[0].text + ending(kept[0].text)
	case len(kept) > 1:
		if common := commonPrefix(kept); len(common) > len(c.typed) && strings.HasPrefix(common, c.typed) {
			out.common = common
		}
	}
	return out
}

func (a *Assistant) table() *commands.Table { return a.options.Target.table() }

// Sure is what certainly stands in the place of the word: the only candidate, with the space
// after it, or what all of them begin with; "" for nothing more than was typed.
func (c Completion) Sure() string { return c.common }

// Hint is what may follow text, in at most so many columns, or what is wrong with it.
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
