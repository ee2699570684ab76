package keyspace

import "context"

// Page is a page of keys and the next cursor, "0" at the end.
type Page struct {
	Keys []Key
	Next string
}

// Walk returns the keys of a Lister page by page, in about one round trip each. It counts the
// keys of one page while it describes the next page and lists the names of the page after it.
// It holds at most these three pages.
type Walk struct {
	l      *Lister
	cursor string
	ended  bool // all pages were listed
	pages  []*page
}

// page holds a page until all its keys are described.
type page struct {
	Page
	stage stage
}

// stage orders the steps of describing a page's keys.
type stage int

const (
	stageNamed stage = iota
	stageTyped       // with expiries
	stageComplete
)

// pagesAhead is one page per stage.
const pagesAhead = 3

// Walk begins at a cursor, "0" for the beginning.
func (l *Lister) Walk(cursor string) *Walk { return &Walk{l: l, cursor: cursor} }

// Resize sets the number of keys that later pages read.
func (w *Walk) Resize(keys int) { w.l.Page = keys }

// Next returns the next page. A page may lack keys or be empty; only the last page's Next is
// "0". Key.Failed reports why a key could not be described.
func (w *Walk) Next(ctx context.Context) (Page, error) {
	for {
		if p, ready := w.Take(); ready {
			return p, nil
		}
		var t RoundTrip
		w.AddCalls(&t)
		if err := t.Run(ctx, w.l.Client); err != nil {
			return Page{}, err
		}
	}
}

// Take returns the next page if it is complete. Callers can add their own calls to the same
// round trips: see AddCalls.
func (w *Walk) Take() (p Page, ready bool) {
	if len(w.pages) == 0 || w.pages[0].stage != stageComplete {
		return Page{}, false
	}
	p = w.pages[0].Page
	w.pages = w.pages[1:]
	return p, true
}

// AddCalls adds the calls that the pages ahead need next.
func (w *Walk) AddCalls(t *RoundTrip) {
	for _, p := range w.pages {
		switch p.stage {
		case stageNamed:
			w.l.addHeads(t, p.Keys, func() {
				p.Keys, p.stage = w.l.matching(p.Keys), stageTyped
				if w.l.Detail&Counts == 0 && w.l.Bytes == nil || len(p.Keys) == 0 {
					p.stage = stageComplete
				}
			})
		case stageTyped:
			w.l.addCounts(t, p.Keys, func() { p.stage = stageComplete })
		}
	}
	if w.ended || len(w.pages) >= pagesAhead {
		return
	}
	w.l.addScan(t, w.cursor, func(names [][]byte, next string) {
		p := &page{Page: Page{Keys: newKeys(names), Next: next}}
		if len(names) == 0 || !w.l.describes() {
			p.stage = stageComplete
		}
		w.pages = append(w.pages, p)
		w.cursor, w.ended = next, next == "0"
	})
}

// describes reports whether keys need calls beyond listing their names.
func (l *Lister) describes() bool {
	return l.Detail != Names || l.Type != "" && (l.refusals().lacks("SCAN") || l.Lacks("SCAN TYPE"))
}
