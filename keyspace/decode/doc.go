// Package decode recognises what the bytes of a value are and shows them to
// people: compressed and encoded layers are opened one by one, and what is inside
// is laid out as JSON, text, the facts of a picture, or a hex dump. What programs have
// serialized is read, and nothing of it is run.
//
// It is pure and bounded: a layer is opened up to a limit, whatever it claims to
// hold. Start at Value.
package decode
