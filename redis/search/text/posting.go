package text

// Occurrence is a place where a document has a term.
type Occurrence struct{ Field, Position int }

// Posting is a term of a document.
type Posting struct {
	Freq        int // weighted by the fields' weights
	Occurrences []Occurrence
}

// Document collects the terms of a document's TEXT fields.
type Document struct {
	Postings map[string]*Posting
	Length   int // the sum of the frequencies of tokens
	MaxFreq  int // the highest frequency of a term
	position int // of the last token: positions run across fields
	unused   []*Posting
}

// maxUnused limits what Reset keeps for the next document.
const maxUnused = 1 << 12

// Reset forgets the document, whose postings must not be used any more.
func (d *Document) Reset() {
	for _, p := range d.Postings {
		if len(d.unused) < maxUnused && cap(p.Occurrences) < maxUnused {
			*p = Posting{Occurrences: p.Occurrences[:0]}
			d.unused = append(d.unused, p)
		}
	}
	clear(d.Postings)
	d.Length, d.MaxFreq, d.position = 0, 0, 0
}

// MultiTextSlop is the distance between the values of an array.
const MultiTextSlop = 100

// Add adds the values of a field; a JSON array has several. weight is the field's WEIGHT.
func (d *Document) Add(field int, weight float64, values []string, isStopWord func(string) bool, a Analysis) {
	if d.Postings == nil {
		d.Postings = map[string]*Posting{}
	}
	tokenFreq, stemFreq := max(1, int(weight)), max(1, int(weight*0.2))
	for i, value := range values {
		if i > 0 {
			d.position += MultiTextSlop
		}
		start := d.position
		for token := range Tokens(value, isStopWord) {
			d.position = start + token.Position
			d.add(token.Term, field, tokenFreq)
			d.Length += tokenFreq
			for _, extra := range a.extras(token.Term) {
				freq := tokenFreq
				if extra[:1] == StemMark {
					freq = stemFreq
				}
				d.add(extra, field, freq)
			}
		}
	}
}

// AddEmpty adds the empty term of a field with INDEXEMPTY.
func (d *Document) AddEmpty(field int) {
	if d.Postings == nil {
		d.Postings = map[string]*Posting{}
	}
	d.position++
	d.add("", field, 1)
}

func (d *Document) add(term string, field, freq int) {
	p := d.Postings[term]
	if p == nil {
		if n := len(d.unused) - 1; n >= 0 {
			p, d.unused = d.unused[n], d.unused[:n]
		} else {
			p = &Posting{}
		}
		d.Postings[term] = p
	}
	p.Freq += freq
	p.Occurrences = append(p.Occurrences, Occurrence{field, d.position})
	d.MaxFreq = max(d.MaxFreq, p.Freq)
}
