package transfer

// pace finds out how many elements make a page of about pageBytes. It starts
// with few, since it is not known how large they are, and goes up slowly and down
// at once.
type pace struct {
	average int // bytes of an element
}

const (
	pageBytes    = 1 << 20
	pageElements = 1 << 14 // at most
	firstGuess   = 16 << 10
)

func newPace() pace { return pace{average: firstGuess} }

// elements is the number of elements to ask for.
func (p *pace) elements() int64 {
	return int64(max(1, min(pageElements, pageBytes/p.average)))
}

// took learns from a page of that many elements and bytes.
func (p *pace) took(elements, bytes int) {
	if elements > 0 {
		p.average = max(p.average/2, bytes/elements, perElement)
	}
}
