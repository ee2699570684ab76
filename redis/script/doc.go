// Package script provides the environment of Redis's Lua scripts: redis.call and the rest of the redis table,
// cjson, cmsgpack, bit and struct, protected globals, and the conversion of replies to Lua values and back. The
// caller supplies the function that runs commands.
//
// A Script is a compiled source, identified by its SHA1, which many runs can share. A Machine runs one script
// at a time.
package script
