// Package decode recognises the format of a value's bytes and formats them for display. It
// opens compressed and encoded layers one by one. It shows the innermost layer as JSON, text,
// facts about a picture, or a hex dump. It parses serialized objects of other languages without
// running any of their code.
//
// The package is pure, and its work is bounded: it opens a layer up to a limit, whatever size
// the layer declares. Start at Value.
package decode
