package keyspace

import "context"

// Page is some keys, and the cursor of those after them, "0" for none.
type Page struct {
	Keys []Key
	Next string
}

// Walk goes through the keys of a Lister page by page, in about one round trip each: while
// the keys of a page are counted, those of the next are described, and the names of the
// one after that are listed. It holds no more than these three pages.
type Walk struct {
	l      *Lister
	cursor string
	ended  bool // all pages were listed
	pages  []*page
}

// page is a page in the making.
type page struct {
	Page
	stage stage
}

// stage is how much is known of the keys of a page.
type stage int

const (
	named stage = iota
	typed       // and when they expire
	whole
)

// pagesAhead is one page for each stage.
const pagesAhead = 3

// Walk begins at a cursor, "0" for the beginning.
func (l *Lister) Walk(cursor string) *Walk { return &Walk{l: l, cursor: cursor} }

// Resize makes the pages that are listed from now on read so many keys.
func (w *Walk) Resize(keys int) { w.l.Page = keys }

// Next returns the next page, in which keys may be missing, or all of them: only a page
// whose Next is "0" is the last one. What keeps a key from being described is its Failed.
func (w *Walk) Next(ctx context.Context) (Page, error) {
	for {
		if p, ready := w.Take(); ready {
			return p, nil
		}
		var t Trip
		w.Ask(&t)
		if err := t.Go(ctx, w.l.Client); err != nil {
			return Page{}, err
		}
	}
}

// Take returns the next page if all is known of it. Others may ask something in the same
// round trips: see Ask.
func (w *Walk) Take() (p Page, ready bool) {
	if len(w.pages) == 0 || w.pages[0].stage != whole {
		return Page{}, false
	}
	p = w.pages[0].Page
	w.pages = w.pages[1:]
	return p, true
}

// Ask adds what the pages ahead need next.
func (w *Walk) Ask(t *Trip) {
	for _, p := range w.pages {
		switch p.stage {
		case named:
			w.l.askHeads(t, p.Keys, func() {
				p.Keys, p.stage = w.l.wanted(p.Keys), typed
				if w.l.Detail&Counts == 0 && w.l.Bytes == nil || len(p.Keys) == 0 {
					p.stage = whole
				}
			})
		case typed:
			w.l.askCounts(t, p.Keys, func() { p.stage = whole })
		}
	}
	if w.ended || len(w.pages) >= pagesAhead {
		return
	}
	w.l.askScan(t, w.cursor, func(names [][]byte, next string) {
		p := &page{Page: Page{Keys: unknown(names), Next: next}}
		if len(names) == 0 || !w.l.describes() {
			p.stage = whole
		}
		w.pages = append(w.pages, p)
		w.cursor, w.ended = next, next == "0"
	})
}

// describes reports whether more is asked about keys than their names.
func (l *Lister) describes() bool {
	return l.Detail != Names || l.Type != "" && (l.refusals().lacks("SCAN") || l.Lacks("SCAN TYPE"))
}
