package engine

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// TestBlame calls a file damaged only for what missing rows cause.
func TestBlame(t *testing.T) {
	var none map[string]int
	for want, decoder := range map[string]func(*store.Result) resp.Value{
		"ERR the database is damaged": func(r *store.Result) resp.Value { return resp.MakeInt(r.Rows[0][0][0].Int()) },
		"ERR meowdis failed":          func(*store.Result) resp.Value { none["a"] = 1; return resp.OK },
		"please report it at":         func(*store.Result) resp.Value { panic("what cannot be") },
	} {
		v := decode(&translator.Plan{Decode: decoder}, &store.Result{Rows: [][]store.Row{nil}})
		if !v.IsError() || !strings.Contains(string(v.Str), want) {
			t.Errorf("%q, want %q", v.Str, want)
		}
		next := following(&translator.Plan{Then: func(r *store.Result) translator.Plan { return translator.Plan{Reply: decoder(r)} }}, &store.Result{Rows: [][]store.Row{nil}})
		if !strings.Contains(string(next.Reply.Str), want) {
			t.Errorf("%q, want %q", next.Reply.Str, want)
		}
	}
}
