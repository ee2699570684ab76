// Package script is what Redis gives to Lua scripts: redis.call and the rest of the
// redis table, cjson, cmsgpack, bit and struct, protected globals, and the conversion
// of replies to Lua values and back. What carries out commands is passed in.
//
// A Script is a compiled source, known by its SHA1, which many runs can share; a
// Machine runs one at a time.
package script
