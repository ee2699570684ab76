//go:build !wasip1

package engine

// SearchParameters returns the search parameters of CONFIG.
func (e *Engine) SearchParameters() map[string]string { return e.search.Parameters() }

// SetSearchParameters changes the search parameters among params.
func (e *Engine) SetSearchParameters(params map[string]string) { e.search.SetParameters(params) }
