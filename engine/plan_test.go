package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// TestFaultyTranslation answers an error: other clients have done nothing wrong.
func TestFaultyTranslation(t *testing.T) {
	got := planned{call: call{cmd: commands.Lookup("GET")}}.plan(translator.Env{}, 0)
	if !got.Reply.IsError() || !strings.Contains(string(got.Reply.Str), "index out of range") {
		t.Errorf("the plan is %+v", got)
	}
}

// TestFaultyConnection answers an error for a command of the connection, too.
func TestFaultyConnection(t *testing.T) {
	s := &Session{conn: func(_ context.Context, _ *commands.Command, args [][]byte) (resp.Value, bool) {
		return resp.MakeBulk(args[1]), true
	}}
	got, err := s.onConnection(context.Background(), call{cmd: &commands.Command{Name: "FAULTY"}, args: [][]byte{nil}})
	if err != nil || !got.IsError() || !strings.Contains(string(got.Str), "index out of range") {
		t.Errorf("the reply is %+v, %v", got, err)
	}
}
