package transfer

// pageSizer adapts the number of elements to a page size of about pageBytes. It starts small,
// because the element size is unknown, grows slowly and shrinks at once.
type pageSizer struct {
	average int // average bytes per element
}

const (
	pageBytes    = 1 << 20
	pageElements = 1 << 14 // upper limit
	firstGuess   = 16 << 10
)

func newPageSizer() pageSizer { return pageSizer{average: firstGuess} }

// elements returns the number of elements to request.
func (p *pageSizer) elements() int64 {
	return int64(max(1, min(pageElements, pageBytes/p.average)))
}

// observe adjusts the average to a page of the given elements and bytes.
func (p *pageSizer) observe(elements, bytes int) {
	if elements > 0 {
		p.average = max(p.average/2, bytes/elements, perElement)
	}
}
