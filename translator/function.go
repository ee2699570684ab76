package translator

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
)

// Libraries of functions are rows: the source, and the functions that it registers. Deleting a library deletes its
// functions. Loading a library gives it a new version, so that a cache of compiled libraries detects the change.

var functionTranslations = translations{
	{"FUNCTION DELETE", functionDelete},
	{"FUNCTION DUMP", functionDump},
	{"FUNCTION FLUSH", functionFlush},
	{"FUNCTION HELP", help},
	{"FUNCTION LIST", functionList},
	{"FUNCTION LOAD", functionLoad},
	{"FUNCTION RESTORE", functionRestore},
	{"FUNCTION STATS", functionStats},
}

// These statements find conflicts with libraries named ?1 and functions named ?2: existing libraries of the same names,
// and functions of other libraries.
const (
	sqlSameLibraries = `SELECT l.name FROM json_each(?1) j JOIN libraries l ON l.name = j.value ORDER BY j.key LIMIT 1`
	sqlSameFunctions = `SELECT j.value FROM json_each(?2) j WHERE EXISTS (SELECT 1 FROM functions f
		WHERE f.name = j.value AND f.library NOT IN (SELECT value FROM json_each(?1))) ORDER BY j.key LIMIT 1`

	sqlDropLibraries = `DELETE FROM libraries WHERE name IN (SELECT value FROM json_each(?1))`
	sqlAddLibrary    = `INSERT INTO libraries(name, version, code) VALUES(?1, ?2, ?3)`
	sqlAddFunctions  = `INSERT INTO functions(library, name, flags, description)
		SELECT ?1, j.value ->> 0, j.value ->> 1, unhex(j.value ->> 2) FROM json_each(?2) j ORDER BY j.key`
)

// libraryLoad holds libraries to be stored.
type libraryLoad struct {
	libraries []*script.Library
	sources   [][]byte
	bad       resp.Value // the error, if they cannot be loaded
	taken     string     // quotes around the name in the error about an existing library
	replace   bool       // replace libraries of the same names
	flush     bool       // delete all other libraries
	reply     resp.Value
}

// plan stores the libraries. It reads conflicts first, since the reply names them.
func (l libraryLoad) plan(c *Call) Plan {
	var names, functions []string
	for _, lib := range l.libraries {
		names = append(names, lib.Name)
		for _, f := range lib.Functions {
			functions = append(functions, f.Name)
		}
	}
	both := []store.Value{textList(names), textList(functions)}
	if l.flush {
		return write(always(l.reply), append([]store.Stmt{{SQL: sqlFlushLibraries}}, l.add(c)...)...)
	}
	p := readThen(func(r *store.Result) Plan {
		switch {
		case !l.replace && len(r.Rows[0]) > 0:
			return fail("ERR Library " + l.taken + string(r.Rows[0][0][0].Bytes()) + l.taken + " already exists")
		case l.bad.IsError():
			return answer(l.bad)
		case len(r.Rows[1]) > 0:
			return fail("ERR Function " + string(r.Rows[1][0][0].Bytes()) + " already exists")
		}
		drop := store.Stmt{SQL: sqlDropLibraries, Args: both[:1]}
		return write(always(l.reply), append([]store.Stmt{drop}, l.add(c)...)...)
	}, store.Stmt{SQL: sqlSameLibraries, Args: both[:1]}, store.Stmt{SQL: sqlSameFunctions, Args: both})
	p.Expensive = true
	return p
}

func (l libraryLoad) add(c *Call) (stmts []store.Stmt) {
	for i, lib := range l.libraries {
		rows := resp.Value{Kind: resp.Array}
		for _, f := range lib.Functions {
			description := resp.Nil
			if f.Description != nil {
				description = resp.MakeString(hex.EncodeToString(f.Description))
			}
			rows.Elems = append(rows.Elems, resp.MakeArray(resp.MakeString(f.Name), resp.MakeInt(int64(f.Flags)), description))
		}
		list := resp.AppendJSON(nil, rows)
		name := store.String(lib.Name)
		stmts = append(stmts,
			store.Stmt{SQL: sqlAddLibrary, Args: []store.Value{name, c.newVersion(), store.Bytes(l.sources[i])}},
			store.Stmt{SQL: sqlAddFunctions, Args: []store.Value{name, store.TextBytes(list)}})
	}
	return stmts
}

// textList returns the JSON argument of a list of texts.
func textList(list []string) store.Value {
	names := resp.Value{Kind: resp.Array}
	for _, name := range list {
		names.Elems = append(names.Elems, resp.MakeString(name))
	}
	return store.TextBytes(resp.AppendJSON(nil, names))
}

func functionLoad(c *Call) Plan {
	l := libraryLoad{taken: "'"}
	source := c.Args[len(c.Args)-1]
	for i := 2; i < len(c.Args)-1; i++ {
		if !c.is(i, "REPLACE") {
			return fail(commands.OneLine("ERR Unknown option given: " + string(cString(c.Args[i]))))
		}
		l.replace = true
	}
	name, bad := script.LibraryName(source)
	if bad.IsError() {
		return answer(bad)
	}
	lib, bad := c.Env.loadLibrary(source)
	if l.bad = bad; bad.IsError() {
		lib = &script.Library{Name: name}
	}
	l.libraries, l.sources, l.reply = []*script.Library{lib}, [][]byte{source}, resp.MakeString(name)
	return l.plan(c)
}

const errPolicy = "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."

func functionRestore(c *Call) Plan {
	l := libraryLoad{reply: resp.OK}
	switch {
	case len(c.Args) > 4:
		return answer(commands.SubcommandSyntax(c.Args))
	case len(c.Args) == 4:
		l.replace, l.flush = c.is(3, "REPLACE"), c.is(3, "FLUSH")
		if !l.replace && !l.flush && !c.is(3, "APPEND") {
			return fail(errPolicy)
		}
	}
	sources, err := rdb.RestoreFunctions(c.Args[2])
	switch {
	case errors.Is(err, rdb.ErrFooter):
		return fail("ERR DUMP payload version or checksum are wrong")
	case errors.Is(err, rdb.ErrOldFunctions):
		return fail("ERR Pre-GA function format not supported")
	case errors.Is(err, rdb.ErrNoFunctions):
		return fail("ERR given type is not a function")
	case err != nil:
		return fail("ERR Failed loading library payload")
	}
	if bad := l.take(sources, &c.Env); bad.IsError() {
		return answer(bad)
	}
	return l.plan(c)
}

// take loads the libraries of a payload and checks that they do not conflict with each other.
func (l *libraryLoad) take(sources [][]byte, env *Env) (bad resp.Value) {
	l.sources = sources
	names, functions := map[string]bool{}, map[string]bool{}
	for _, source := range sources {
		name, bad := script.LibraryName(source)
		if bad.IsError() {
			return bad
		}
		if names[name] {
			return resp.MakeError("ERR Library '" + name + "' already exists")
		}
		names[name] = true
		lib, bad := env.loadLibrary(source)
		if bad.IsError() {
			return bad
		}
		for _, f := range lib.Functions {
			if functions[strings.ToLower(f.Name)] {
				return resp.MakeError("ERR Function " + f.Name + " already exists")
			}
		}
		for _, f := range lib.Functions {
			functions[strings.ToLower(f.Name)] = true
		}
		l.libraries = append(l.libraries, lib)
	}
	return resp.Value{}
}

const (
	sqlGuardLibrary   = `INSERT INTO guard SELECT NULL WHERE NOT EXISTS (SELECT 1 FROM libraries WHERE name = ?1)`
	sqlDropLibrary    = `DELETE FROM libraries WHERE name = ?1`
	sqlFlushLibraries = `DELETE FROM libraries`
)

var noLibrary = resp.MakeError("ERR Library not found")

func functionDelete(c *Call) Plan {
	name := []store.Value{store.TextBytes(c.Args[2])}
	return write(decodeOK,
		store.Stmt{SQL: sqlGuardLibrary, Args: name, Refused: &noLibrary},
		store.Stmt{SQL: sqlDropLibrary, Args: name})
}

func functionFlush(c *Call) Plan {
	switch {
	case len(c.Args) > 3:
		return answer(commands.SubcommandSyntax(c.Args))
	case len(c.Args) == 3 && !c.is(2, "ASYNC") && !c.is(2, "SYNC"):
		return fail("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
	}
	return write(decodeOK, store.Stmt{SQL: sqlFlushLibraries})
}

const sqlDumpLibraries = `SELECT code FROM libraries ORDER BY name`

func functionDump(*Call) Plan {
	return read(func(r *store.Result) resp.Value {
		var sources [][]byte
		for _, row := range r.Rows[0] {
			sources = append(sources, row[0].Bytes())
		}
		return resp.MakeBulk(rdb.DumpFunctions(sources))
	}, store.Stmt{SQL: sqlDumpLibraries})
}

const (
	sqlListLibraries = `SELECT name, iif(?1, code, NULL) FROM libraries ORDER BY name`
	sqlListFunctions = `SELECT library, name, description, flags FROM functions ORDER BY library, id`
)

func functionList(c *Call) Plan {
	withCode, pattern := int64(0), []byte(nil)
	for i := 2; i < len(c.Args); i++ {
		switch {
		case withCode == 0 && c.is(i, "WITHCODE"):
			withCode = 1
		case pattern == nil && c.is(i, "LIBRARYNAME"):
			if i++; i == len(c.Args) {
				return fail("ERR library name argument was not given")
			}
			pattern = append([]byte{}, c.Args[i]...)
		default:
			return fail(commands.OneLine("ERR Unknown argument " + string(cString(c.Args[i]))))
		}
	}
	return read(func(r *store.Result) resp.Value {
		functions := map[string][]resp.Value{}
		for _, row := range r.Rows[1] {
			library := string(row[0].Bytes())
			functions[library] = append(functions[library], describeFunction(row[1:]))
		}
		list := resp.EmptyArray
		for _, row := range r.Rows[0] {
			name := row[0].Bytes()
			if pattern != nil && !glob.MatchCounted(pattern, name, true, r.Work.Step) {
				continue
			}
			library := resp.MakeMap(
				resp.MakeString("library_name"), resp.MakeBulk(name),
				resp.MakeString("engine"), resp.MakeString("LUA"),
				resp.MakeString("functions"), resp.MakeArray(functions[string(name)]...))
			if withCode != 0 {
				library.Elems = append(library.Elems, resp.MakeString("library_code"), bulk(row[1]))
			}
			list.Elems = append(list.Elems, library)
		}
		return list
	}, store.Stmt{SQL: sqlListLibraries, Args: []store.Value{store.Int(withCode)}}, store.Stmt{SQL: sqlListFunctions})
}

// describeFunction describes the row of a function: name, description, flags.
func describeFunction(row store.Row) resp.Value {
	flags := resp.Value{Kind: resp.Set}
	for _, name := range script.Flags(row[2].Int()).Names() {
		flags.Elems = append(flags.Elems, resp.MakeStatus(name))
	}
	return resp.MakeMap(
		resp.MakeString("name"), bulk(row[0]),
		resp.MakeString("description"), bulk(row[1]),
		resp.MakeString("flags"), flags)
}

const sqlCountFunctions = `SELECT (SELECT count(*) FROM libraries), (SELECT count(*) FROM functions)`

// functionStats does not use the store while a function runs, since the function may block it.
func functionStats(c *Call) Plan {
	f := c.Env.Server.Running
	if f == nil {
		return read(func(r *store.Result) resp.Value {
			row := r.Rows[0][0]
			return functionState(resp.Nil, row[0].Int(), row[1].Int())
		}, store.Stmt{SQL: sqlCountFunctions})
	}
	call := resp.EmptyArray
	for _, arg := range f.Call {
		call.Elems = append(call.Elems, resp.MakeBulk(arg))
	}
	return answer(functionState(resp.MakeMap(
		resp.MakeString("name"), resp.MakeString(f.Name),
		resp.MakeString("command"), call,
		resp.MakeString("duration_ms"), resp.MakeInt(f.Milliseconds)), f.Libraries, f.Functions))
}

func functionState(running resp.Value, libraries, functions int64) resp.Value {
	lua := resp.MakeMap(
		resp.MakeString("libraries_count"), resp.MakeInt(libraries),
		resp.MakeString("functions_count"), resp.MakeInt(functions))
	return resp.MakeMap(
		resp.MakeString("running_script"), running,
		resp.MakeString("engines"), resp.MakeMap(resp.MakeString("LUA"), lua))
}

// Running describes the running function, for FUNCTION STATS.
type Running struct {
	Name                 string
	Call                 [][]byte
	Milliseconds         int64
	Libraries, Functions int64 // counted when it began
}

const (
	sqlFindFunction = `SELECT l.version, iif(l.version = ?2, NULL, l.code), (SELECT count(*) FROM libraries), (SELECT count(*) FROM functions) FROM functions f JOIN libraries l ON l.name = f.library
		WHERE f.name = ?1 ORDER BY f.id LIMIT 1`
	sqlGuardFunction = `INSERT INTO guard SELECT NULL WHERE ifnull((SELECT l.version FROM functions f JOIN libraries l ON l.name = f.library
		WHERE f.name = ?1 ORDER BY f.id LIMIT 1), 0) <> ?2`
)

// FindFunction reads the library of the function with the name, in any case. The reply is its version, its source (nil
// if the version is known), the number of libraries and the number of functions. It is empty if no such function
// exists.
func FindFunction(name []byte, known int64) Plan {
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.EmptyArray
		}
		row := r.Rows[0][0]
		return resp.MakeArray(resp.MakeInt(row[0].Int()), bulk(row[1]), resp.MakeInt(row[2].Int()), resp.MakeInt(row[3].Int()))
	}, store.Stmt{SQL: sqlFindFunction, Args: functionArgs(name, known)})
}

// GuardFunction refuses a batch unless the function's library has the version; 0 means a missing function.
func GuardFunction(name []byte, version int64) Plan {
	return write(decodeOK, store.Stmt{SQL: sqlGuardFunction, Args: functionArgs(name, version)})
}

func functionArgs(name []byte, version int64) []store.Value {
	return []store.Value{store.TextBytes(name), store.Int(version)}
}
