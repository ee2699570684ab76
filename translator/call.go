package translator

import (
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
)

// Env is all that a translation may depend on beside its arguments.
type Env struct {
	Now  int64  // Unix ms, by the clock of the process that owns the store
	Seed uint64 // fresh randomness for this call
	DB   int    // selected database

	Limits *Limits // of the compact encodings; nil for the defaults

	// Work bounds the translation. A decoder and a step charge their Result's instead, since
	// they may run in another goroutine than the translation of the next call. Nil has no limits.
	Work *store.Work

	// Deadline returns a function that reports whether a time has passed since. It is nil where the clock
	// stands still.
	Deadline func(time.Duration) (late func() bool)

	InScript bool // a script runs the call

	MayStage bool // a plan may be an Aside: the call is on its own, and is made of keys that are large

	Facts   Facts    // of the server, for INFO
	Running *Running // function, for FUNCTION STATS; nil for none

	Fieldsets map[string][][]byte // of the session's HIMPORT PREPARE, by name
}

// loadLibrary loads a library within Redis's time.
func (e *Env) loadLibrary(source []byte) (*script.Library, resp.Value) {
	if e.Deadline == nil {
		return script.LoadLibrary(source, nil)
	}
	return script.LoadLibrary(source, e.Deadline(script.LoadTime))
}

// Call is one command to translate.
type Call struct {
	Command *commands.Command
	// Args holds the words of the call. Args[0] is the name; a subcommand's
	// second word is Args[1], so positions are Redis's own.
	Args [][]byte
	Env  Env

	drawn uint64

	named []store.Value // key's arguments of the key that they were asked for last
}

// Random returns the next number of a sequence that Env.Seed determines.
func (c *Call) Random() uint64 {
	c.drawn++
	return mix(c.Env.Seed + c.drawn*0x9e3779b97f4a7c15)
}

// translations are the functions that translate commands, each once. A container such
// as OBJECT has none, nor has a command that belongs to the session (SELECT, MULTI,
// …), which the engine or the server carries out itself.
type translations []translation

// translation is how a command is translated; its function is nil for a command that is not.
type translation struct {
	command   string
	translate func(*Call) Plan
}

// groups are all translations, in lists that the compiler lays out, so that the start of the program does no work
// for them. Making a map of them would take longer than most commands.
var groups []translations

func init() {
	groups = []translations{
		arrayTranslations, bitmapTranslations, blockingTranslations, handshakeTranslations, clientTranslations,
		configTranslations, debugTranslations, functionTranslations, genericTranslations, dumpTranslations, sortTranslations,
		geoTranslations, hashTranslations, hashExpireTranslations, hashGetexTranslations, hashImportTranslations,
		hyperloglogTranslations, hyperloglogDebugTranslations, jsonTranslations, listTranslations, scriptingTranslations,
		serverTranslations, memoryTranslations, persistTranslations, slowTranslations, aloneTranslations, setTranslations, streamTranslations,
		stringTranslations, throttleTranslations, vectorSetTranslations, zsetTranslations,
	}
}

// byID are the translations of the commands that were asked for, by ID.
var byID = make([]atomic.Pointer[translation], len(commands.All()))

// translationOf returns the translation of a command.
func translationOf(cmd *commands.Command) *translation {
	known := &byID[cmd.ID()]
	if t := known.Load(); t != nil {
		return t
	}
	found := &translation{}
	for _, group := range groups {
		for i := range group {
			if group[i].command == cmd.Name {
				found = &group[i]
			}
		}
	}
	known.Store(found)
	return found
}

// Translates reports whether a command is one of translations, not of the session.
func Translates(cmd *commands.Command) bool { return translationOf(cmd).translate != nil }

// Translate makes the plan of a call that commands.Find found to be of cmd, one that
// Translates.
func Translate(cmd *commands.Command, args [][]byte, env Env) Plan {
	p := translationOf(cmd).translate(&Call{Command: cmd, Args: args, Env: env})
	switch {
	case cmd.Flags&commands.Write != 0:
		p.Keys = cmd.KeyNames(args)
	case lastingByID[cmd.ID()] && p.Then == nil:
		p.Batch.Keys = cmd.KeyNames(args)
	}
	return p
}
