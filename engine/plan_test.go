package engine

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/translator"
)

// TestFaultyTranslation answers an error: other clients have done nothing wrong.
func TestFaultyTranslation(t *testing.T) {
	faulty := &translator.Command{Name: "FAULTY", Translate: func(c *translator.Call) translator.Plan {
		return translator.Plan{Reads: [][]byte{c.Args[1]}}
	}}
	got := planned{call: call{cmd: faulty}}.plan(translator.Env{}, 0)
	if !got.Reply.IsError() || !strings.Contains(string(got.Reply.Str), "index out of range") {
		t.Errorf("the plan is %+v", got)
	}
}
