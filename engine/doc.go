// Package engine carries out Redis commands over any store: it translates,
// applies and decodes, and it owns what spans commands: the selected database,
// MULTI, WATCH, and read-modify-write.
//
// An Engine stands for one store; a Session for one client of it.
package engine
