// Package engine runs Redis commands over any store: it translates, applies and decodes them. It owns the state
// that spans commands: the selected database, MULTI, WATCH and read-modify-write.
//
// An Engine serves one store; a Session serves one client of it.
package engine
