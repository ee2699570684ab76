package edit

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/transfer"
)

// Exporter writes keys to a new file, in the format of its extension, and returns their
// number. It calls notify with each key that it could not write.
type Exporter func(ctx context.Context, path string, keys transfer.Source, notify transfer.Notify) (int64, error)

// Export asks for a file name and writes the selected keys to it.
func (r *Pane) Export(sub Subject) tea.Cmd {
	s := sub.Keys
	if s.Empty() {
		return nil
	}
	r.Dialog = &ui.Question{Title: "Export " + s.String() + " to a file", Note: ".csv; .json or .jsonl; .redis or .txt: commands for meowdis exec; .resp: the protocol; .rdb: a dump file of Redis; .archive: for meowdis restore. An existing file is not overwritten.",
		Prompt: screen.NewPrompt("export.redis"), Answer: func(path string) tea.Cmd {
			mk, db, write := r.maker, r.DB, r.Exporter
			return r.Start(job.Exporting, func(ctx context.Context) (tea.Msg, error) {
				e := exportedMsg{path: path}
				var err error
				e.keys, err = write(ctx, path, mk.Source(ctx, db, s), func(k *transfer.Key, why error) {
					if e.failed++; e.failed == 1 {
						e.why = display.Text(string(k.Name), 40) + ": " + why.Error()
					}
				})
				return e, err
			})
		}}
	return nil
}

// exportedMsg carries the result of an export: the numbers of written and failed keys, and one error.
type exportedMsg struct {
	path         string
	keys, failed int64
	why          string
}

func (r *Pane) onExported(e exportedMsg) {
	wrote := "Wrote " + display.Counted(e.keys, "key", "keys") + " to " + e.path + "."
	if e.failed == 0 {
		r.Notice = wrote
		return
	}
	r.Failure = wrote + " " + display.Counted(e.failed, "key was", "keys were") + " not written completely: " + e.why
}
