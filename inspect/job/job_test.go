package job

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// ends runs a command of Start, and returns the result of the job.
func ends(t *testing.T, cmd tea.Cmd) Finished {
	t.Helper()
	f, ok := cmd().(Finished)
	if !ok {
		t.Fatal("the job has no end")
	}
	return f
}

// TestLateEndsAreDropped checks that the results of cancelled and replaced jobs are dropped.
func TestLateEndsAreDropped(t *testing.T) {
	js := Jobs{After: func(time.Duration, tea.Msg) tea.Cmd { return nil }}
	work := func(result string) func(context.Context) (tea.Msg, error) {
		return func(ctx context.Context) (tea.Msg, error) { return result, ctx.Err() }
	}
	first := js.Start(Describing, work("first"))
	second := js.Start(Describing, work("second"))
	if f := ends(t, first); !errors.Is(f.Err, context.Canceled) || js.IsCurrent(f) {
		t.Errorf("a job that was replaced ends with %v", f)
	}
	f := ends(t, second)
	if !js.Running(Describing) || !js.IsCurrent(f) || js.Running(Describing) || f.Result != "second" || f.Err != nil {
		t.Errorf("the job ends with %v", f)
	}
	if js.IsCurrent(f) {
		t.Error("a job ended twice")
	}
	third := js.Start(Opening, work("third"))
	js.CancelAll()
	if js.IsCurrent(ends(t, third)) {
		t.Error("a job that was cancelled has an end")
	}
}
