package repl

import "context"

// Offer is a possible word of a command.
type Offer struct{ Value, About string }

// Offers returns the candidates for typed, the word after words, as TAB does at the prompt: options of the command,
// and keys, fields, members and other elements of the target.
func Offers(ctx context.Context, t Target, words []string, typed string) []Offer {
	var c completion
	c.completeCall(t.table(), words, word{value: typed})
	if c.ask != nil {
		a := &asker{}
		a.setTarget(t)
		for found := range a.ask(ctx, *c.ask) {
			for _, item := range found.items {
				c.items = append(c.items, candidate{c.head + item.value, item.about})
			}
		}
	}
	offers := make([]Offer, len(c.items))
	for i, item := range c.items {
		offers[i] = Offer{item.text, item.about}
	}
	return offers
}
