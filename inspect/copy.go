package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
)

// copyLimit is the longest text that is copied: terminals take no more.
const copyLimit = 100_000

// pickCopy asks what of the selected key to copy to the clipboard of the
// terminal, which works over ssh, too.
func (m *Model) pickCopy() tea.Cmd {
	key, ok := m.currentKey()
	if !ok {
		return nil
	}
	p := &picker{title: "Copy", items: []item{
		{label: "key", value: "key"},
		{label: "value", value: "value", note: "or the selected element"},
		{label: "command", value: "command", note: "that reads it"},
		{label: "shell", value: "shell", note: "meowdis exec …"},
	}}
	p.choose = func(m *Model, what string) tea.Cmd {
		verb, tail := "TYPE", ""
		if t := keytype.Of(m.kindOfKey(key)); t.Known() {
			verb, tail, _ = strings.Cut(t.Read, " key")
		}
		switch what {
		case "key":
			return m.copyText("the key", key)
		case "command":
			return m.copyText("the command", verb+" "+word([]byte(key))+tail)
		case "shell":
			return m.copyText("the shell command", m.shellCommand()+" "+verb+" "+shellWord(key)+tail)
		}
		return m.copyValue(key)
	}
	m.overlay = p
	return nil
}

// shellCommand begins a shell command that runs a command in the database that is
// shown.
func (m *Model) shellCommand() string {
	if m.db == 0 && m.options.DB == 0 {
		return m.options.Exec
	}
	return m.options.Exec + " -n " + decimal(int64(m.db))
}

func (m *Model) kindOfKey(key string) string {
	if i := m.keys.find(key, false); i >= 0 {
		return m.keys.rows[i].Facts.Type
	}
	return m.value.kind
}

// shellWord is a word for a POSIX shell.
func shellWord(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// copyValue copies what is open: an element, or a string.
func (m *Model) copyValue(key string) tea.Cmd {
	v := &m.value
	s := v.sheet()
	if m.inValue && s != nil {
		if _, body, ok := s.element(); ok {
			return m.copyText("the element", body)
		}
		if s.src == nil {
			return m.copyText("the value", s.whole)
		}
	}
	if kind := m.kindOfKey(key); kind != "string" {
		m.notice = "Open the value and select an element to copy."
		return nil
	}
	db := m.db
	return m.start(answering, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, command("GETRANGE", key, "0", decimal(copyLimit)))
		return copied{string(v.Str)}, err
	})
}

// copied is a value to copy.
type copied struct{ text string }

func (m *Model) copyText(what, text string) tea.Cmd {
	if len(text) > copyLimit {
		m.notice = "That is more than a terminal's clipboard takes. Press w to write it to a file."
		return nil
	}
	m.notice = "Copied " + what + " to the terminal's clipboard."
	out := m.options.Out
	if out == nil {
		return nil
	}
	return func() tea.Msg {
		io.WriteString(out, osc52.New(text).String())
		return nil
	}
}

// export asks for a file and writes the selected keys to it, as a script that makes
// them again.
func (m *Model) export() tea.Cmd {
	s := m.selected()
	if s.empty() {
		return nil
	}
	m.overlay = &question{title: "Write " + s.String() + " to a file", note: "a script for meowdis exec; a file that is there is not overwritten",
		prompt: newPrompt("export.redis"), answer: func(m *Model, path string) tea.Cmd {
			db := m.db
			return m.start(exporting, func(ctx context.Context) (tea.Msg, error) {
				n, err := m.writeScript(ctx, db, s, path)
				return exported{n, path}, err
			})
		}}
	return nil
}

// exported is how many keys were written to a file.
type exported struct {
	keys int
	path string
}

func (m *Model) writeScript(ctx context.Context, db int, s selection, path string) (n int, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(file)
	defer func() { err = errors.Join(err, out.Flush(), file.Close()) }()
	err = m.visit(ctx, db, s, func(names []string) error {
		for some := range slices.Chunk(names, keysAtOnce) {
			there, err := m.conn.images(ctx, db, some, m.options.Now(), func(calls [][][]byte) error {
				for _, call := range calls {
					if _, err := fmt.Fprintln(out, scriptLine(call)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			n += len(there)
		}
		return nil
	})
	return n, err
}

// scriptLine is a command as a line of a script.
func scriptLine(call [][]byte) string {
	var line []byte
	for i, w := range call {
		if i > 0 {
			line = append(line, ' ')
		}
		line = resp.AppendQuoted(line, w, false)
	}
	return string(line)
}
