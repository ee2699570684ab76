//go:build !wasip1

package engine

import (
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// addModuleEffects adds the effects of commands that a Redis server without modules does not know. Commands with random
// results, such as TOPK.ADD, are not among them: their effect is the state.
func addModuleEffects() {
	repeated := effect{make: func(w *effectWriter) { w.moduleCall(w.call.args) }}
	for _, name := range strings.Fields(`JSON.SET JSON.MSET JSON.MERGE JSON.DEL JSON.FORGET JSON.CLEAR JSON.TOGGLE JSON.NUMINCRBY JSON.NUMMULTBY
		JSON.NUMPOWBY JSON.STRAPPEND JSON.ARRAPPEND JSON.ARRINSERT JSON.ARRPOP JSON.ARRTRIM
		BF.RESERVE BF.ADD BF.MADD BF.INSERT BF.LOADCHUNK
		CF.RESERVE CF.ADD CF.ADDNX CF.INSERT CF.INSERTNX CF.DEL CF.COMPACT CF.LOADCHUNK
		CMS.INITBYDIM CMS.INITBYPROB CMS.INCRBY CMS.MERGE
		TS.CREATE TS.ALTER TS.DEL TS.CREATERULE TS.DELETERULE FT.SUGADD FT.SUGDEL`) {
		effectOf[name] = repeated
	}
	effectOf["TS.ADD"] = effect{make: sampled, reply: true}
	effectOf["TS.MADD"] = effect{make: sampledMany, reply: true}
	effectOf["TS.INCRBY"] = effect{make: increased, reply: true}
	effectOf["TS.DECRBY"] = effectOf["TS.INCRBY"]
	for _, name := range strings.Fields(`FT.CREATE FT._CREATEIFNX FT.ALTER FT._ALTERIFNX FT.ALIASADD FT._ALIASADDIFNX FT.ALIASUPDATE FT.ALIASDEL FT._ALIASDELIFX
		FT.SYNUPDATE FT.DICTADD FT.DICTDEL SEARCH.CREATE SEARCH.DROP SEARCH.ALIASADD SEARCH.ALIASDEL`) {
		effectOf[name] = effect{make: func(w *effectWriter) { w.addFor(WithModules, w.call.args) }, always: true}
	}
	for _, name := range []string{"FT.DROPINDEX", "FT._DROPINDEXIFX"} {
		effectOf[name] = effect{make: droppedIndex, always: true}
	}
	for _, name := range []string{"SEARCH.REINDEX", "SEARCH.WAITINDEXING"} { // a replica indexes by itself
		effectOf[name] = effect{make: func(*effectWriter) {}, always: true}
	}
	for _, name := range strings.Fields("ARSET ARMSET ARDEL ARDELRANGE ARINSERT ARRING ARSEEK") {
		effectOf[name] = effect{make: func(w *effectWriter) { w.to.Skipped++ }}
	}
}

// moduleCall reports a call that changes values of modules only.
func (w *effectWriter) moduleCall(args [][]byte) {
	w.to.ModuleKeys += max(len(w.keys), 1)
	w.addFor(WithModules, args)
}

// droppedIndex reports FT.DROPINDEX, and the keys that it deletes with DD.
func droppedIndex(w *effectWriter) {
	w.addFor(WithModules, w.call.args[:2])
	if len(w.call.args) > 2 {
		w.states()
	}
}

// sampled reports TS.ADD with the time of the sample, which the reply has.
func sampled(w *effectWriter) {
	if w.createdRules() {
		w.states()
		return
	}
	w.moduleCall(withTime(w.call.args, 2, w.reply()))
}

// sampledMany reports the samples that TS.MADD has added.
func sampledMany(w *effectWriter) {
	args, replies := w.call.args, w.reply().Elems
	if len(replies) != len(args)/3 {
		w.states()
		return
	}
	made := args[:1:1]
	for i, v := range replies {
		if !v.IsError() {
			made = append(made, withTime(args[1+3*i:4+3*i], 1, v)...)
		}
	}
	w.moduleCall(made)
}

// increased reports TS.INCRBY and TS.DECRBY with the time of the sample.
func increased(w *effectWriter) {
	if w.createdRules() {
		w.states()
		return
	}
	args := w.call.args
	for i := 3; i+1 < len(args) && !commands.Is(args[i], "LABELS"); i++ {
		if commands.Is(args[i], "TIMESTAMP") {
			w.moduleCall(withTime(args, i+1, w.reply()))
			return
		}
	}
	timed := append(args[:3:3], []byte("TIMESTAMP"), []byte("*"))
	w.moduleCall(withTime(append(timed, args[3:]...), 4, w.reply()))
}

// withTime returns arguments with the time of a reply at index i, where * means the present.
func withTime(args [][]byte, i int, reply resp.Value) [][]byte {
	if string(args[i]) != "*" {
		return args
	}
	timed := append([][]byte(nil), args...)
	timed[i] = number(reply.Int)
	return timed
}
