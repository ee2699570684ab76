// Package transfer moves keys between places: sessions of any kind, archives,
// and texts of commands or JSON.
//
// Every place that can be read is a Source, every place that can be written a
// Sink, and between them flow Parts: a key comes in one part, or, when it is
// large, in many, so that a key of a million elements passes through little
// memory. N formats that are read and M that are written are N + M pieces of
// work.
//
// Of a file there is more than its session: a List, which brings a page of keys with the
// values of the small ones for what one command costs.
//
// The package imports no store, no client and no command line. A session is what
// does commands.
package transfer
