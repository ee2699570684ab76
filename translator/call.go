package translator

import (
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
)

// Env holds all inputs of a translation besides its arguments.
type Env struct {
	Now  int64  // Unix ms, by the clock of the process that owns the store
	Seed uint64 // fresh randomness for this call
	DB   int    // selected database

	Limits *Limits // of the compact encodings; nil for the defaults

	// Work limits the translation; nil for no limits. A decoder and a step charge their Result's Work instead, since
	// they may run in another goroutine while the next call is translated.
	Work *store.Work

	Timer  Timer
	Server ServerState
	Reply  ReplyForm

	InScript bool  // a script runs the call
	Wait     *Wait // how the call waits if it finds nothing; nil if it must not wait. Only TS.READ needs to know
	Rules    Rules // where they differ from Redis's

	MayStage bool // a plan may be Staged: the call is not part of a pipeline or a transaction, and its keys are large

	// MayRead reports whether the user may read a key that the arguments do not name; nil for any key.
	MayRead func(key []byte) bool

	// Search is the state of the search commands of the process; nil for none.
	Search *SearchState

	Fieldsets map[string][][]byte // of the session's HIMPORT PREPARE, by name
}

// Timer measures the time of a call. Its functions are nil if the clock does not advance.
type Timer struct {
	// Deadline returns a function that reports whether the duration has passed.
	Deadline func(time.Duration) (late func() bool)

	// Clock returns the time in ns since some moment, for FT.PROFILE.
	Clock func() int64
}

// ServerState is the part of a server's state that commands show.
type ServerState struct {
	Facts   Facts    // for INFO
	Running *Running // the running function, for FUNCTION STATS; nil for none

	// Acknowledged counts the replicas that have all writes before the call, with aof on their disks; nil without replicas.
	Acknowledged func(aof bool) int64
}

// ReplyForm describes how the caller reads the reply.
type ReplyForm struct {
	RESP2      bool // the client cannot receive the types of RESP3, which some options need
	MayPack    bool // the reply may be resp.Value.Packed
	ErrorsOnly bool // the caller reads only errors: other replies may be wrong
}

// loadLibrary loads a library within Redis's time limit.
func (e *Env) loadLibrary(source []byte) (*script.Library, resp.Value) {
	if e.Timer.Deadline == nil {
		return script.LoadLibrary(source, nil, e.Work.Allocate)
	}
	return script.LoadLibrary(source, e.Timer.Deadline(script.LoadTime), e.Work.Allocate)
}

// Call is one command to translate.
type Call struct {
	Command *commands.Command
	// Args holds the words of the call. Args[0] is the name. A subcommand's second word is Args[1], so positions are
	// the same as in Redis.
	Args [][]byte
	Env  Env

	randomDraws uint64

	sharedArgs []store.Value // the last result of sharedKey
}

// Random returns the next number of a sequence that Env.Seed determines.
func (c *Call) Random() uint64 {
	c.randomDraws++
	return mix(c.Env.Seed + c.randomDraws*0x9e3779b97f4a7c15)
}

// translations lists the functions that translate commands, each once. A container such as OBJECT has none. Neither has
// a command of the session (SELECT, MULTI, …), which the engine or the server runs itself.
type translations []translation

// translation maps a command to its function, nil for a command without a translation.
type translation struct {
	command   string
	translate func(*Call) Plan
}

// allTranslations holds all translations, in lists that the compiler lays out, so that they cost nothing at startup.
// Building a map of them would take longer than most commands.
var allTranslations []translations

func init() {
	allTranslations = []translations{
		arrayTranslations, bitmapTranslations, blockingTranslations, bloomTranslations, cuckooTranslations, countMinTranslations, topKTranslations, tdigestTranslations, handshakeTranslations, clientTranslations,
		configTranslations, debugTranslations, functionTranslations, genericTranslations, dumpTranslations, sortTranslations,
		geoTranslations, hashTranslations, hashExpireTranslations, hashGetexTranslations, hashImportTranslations,
		hyperloglogTranslations, hyperloglogDebugTranslations, jsonTranslations, listTranslations, scriptingTranslations, searchTranslations, seriesTranslations,
		serverTranslations, memoryTranslations, roleTranslations, slowTranslations, replicationTranslations, setTranslations, streamTranslations,
		stringTranslations, throttleTranslations, vectorSetTranslations, zsetTranslations,
	}
}

// byID caches the results of translationOf, by the ID of the command.
var byID = make([]atomic.Pointer[translation], len(commands.All()))

// translationOf returns the translation of a command.
func translationOf(cmd *commands.Command) *translation {
	known := &byID[cmd.ID()]
	if t := known.Load(); t != nil {
		return t
	}
	found := &translation{}
	for _, group := range allTranslations {
		for i := range group {
			if group[i].command == cmd.Name {
				found = &group[i]
			}
		}
	}
	known.Store(found)
	return found
}

// Translates reports whether a command has a translation. Commands of the session have none.
func Translates(cmd *commands.Command) bool { return translationOf(cmd).translate != nil }

// Translate returns the plan of a call. The command must satisfy Translates, and commands.Find must have returned it
// for args.
func Translate(cmd *commands.Command, args [][]byte, env Env) Plan {
	p := translationOf(cmd).translate(&Call{Command: cmd, Args: args, Env: env})
	switch {
	case cmd.Flags&commands.Write != 0 && p.Keys == nil:
		p.Keys = cmd.KeyNames(args)
	case cacheableByID[cmd.ID()] && p.Then == nil:
		p.Batch.Keys = cmd.KeyNames(args)
	}
	return p
}
