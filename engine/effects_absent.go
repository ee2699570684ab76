//go:build wasip1

package engine

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// The Worker has no replicas, and no room for their effects.

func (f *feed) record(*transaction, Change, *store.Batch, *store.Result, Run, any) error { return nil }

func (p *planned) keepDecoder(made translator.Plan) translator.Plan { return made }

func effectsFromReply(*commands.Command) bool { return false }

// The Worker runs no bulks.
type addStreak struct{}

func (a *attempt) addTogether(int, *[]resp.Value) (bool, error) { return false, nil }
