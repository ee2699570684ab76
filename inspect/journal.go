package inspect

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/resp"
)

// image is a key as it was before a change.
type image struct {
	key     string
	there   bool
	dump    []byte // what RESTORE takes; of a JSON document its text
	json    bool
	remake  [][][]byte // what makes it again where there is no dump: an array
	size    int
	expires int64 // Unix ms; 0 for never
}

// step is a change that can be undone: what it changed, as it was.
type step struct {
	title  string
	db     int
	images []image
	size   int
}

// journal is the changes of this session, the last one last. It is in memory: what
// it holds is the person's data, and ends with the session.
type journal struct {
	steps []step
	size  int
}

// How much is kept for undo: more is not begun, or the oldest is forgotten.
const (
	mostUndo     = 64 << 20
	mostUndoKeys = 100_000
)

var errTooMuch = errors.New("too much to keep for undo")

func (j *journal) push(s step) {
	j.steps = append(j.steps, s)
	j.size += s.size
	for j.size > mostUndo && len(j.steps) > 1 {
		j.size -= j.steps[0].size
		j.steps = j.steps[1:]
	}
}

func (j *journal) pop() (step, bool) {
	if len(j.steps) == 0 {
		return step{}, false
	}
	s := j.steps[len(j.steps)-1]
	j.steps = j.steps[:len(j.steps)-1]
	j.size -= s.size
	return s, true
}

// keepAtOnce is how many keys are asked for at once.
const keepAtOnce = 100

// keep adds images of keys to s.
func (m *Model) keep(ctx context.Context, s *step, keys []string) error {
	if len(s.images)+len(keys) > mostUndoKeys {
		return errTooMuch
	}
	for len(keys) > 0 {
		n := min(len(keys), keepAtOnce)
		images, err := m.conn.images(ctx, s.db, keys[:n], m.options.Now())
		if err != nil {
			return err
		}
		for _, im := range images {
			s.size += len(im.key) + len(im.dump) + im.size
		}
		s.images = append(s.images, images...)
		if s.size > mostUndo {
			return errTooMuch
		}
		keys = keys[n:]
	}
	return nil
}

// images reads keys as they are. DUMP knows no JSON documents.
func (c *conn) images(ctx context.Context, db int, keys []string, now int64) ([]image, error) {
	facts, err := c.kinds(ctx, db, keys, now)
	if err != nil {
		return nil, err
	}
	images := make([]image, len(keys))
	var calls [][][]byte
	for i, key := range keys {
		images[i] = image{key: key, there: facts[i].Type != "", json: facts[i].Type == "ReJSON-RL", expires: facts[i].Expires}
		read := "DUMP"
		switch facts[i].Type {
		case "ReJSON-RL":
			read = "JSON.GET"
		case "array":
			read = "TYPE" // its slots are read by themselves
			if images[i].remake, images[i].size, err = c.arrayImage(ctx, db, key); err != nil {
				return nil, err
			}
		}
		calls = append(calls, command(read, key))
	}
	values, err := c.do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if err := replyError(v); err != nil {
			return nil, err
		}
		images[i].dump = v.Str
		images[i].there = images[i].there && !v.IsNull()
	}
	return images, nil
}

// calls brings the key back as it was.
func (im image) calls() [][][]byte {
	key := []byte(im.key)
	ttl := []byte(decimal(im.expires))
	switch {
	case !im.there:
		return [][][]byte{{[]byte("DEL"), key}}
	case im.remake == nil && !im.json:
		return [][][]byte{{[]byte("RESTORE"), key, ttl, im.dump, []byte("REPLACE"), []byte("ABSTTL")}}
	}
	calls := [][][]byte{{[]byte("DEL"), key}}
	if calls = append(calls, im.remake...); im.json {
		calls = append(calls, [][]byte{[]byte("JSON.SET"), key, []byte("$"), im.dump})
	}
	if im.expires != 0 {
		calls = append(calls, [][]byte{[]byte("PEXPIREAT"), key, ttl})
	}
	return calls
}

// undo takes the last change back.
func (m *Model) undo() tea.Cmd {
	if !m.unlocked {
		m.notice = lockedNotice
		return nil
	}
	s, ok := m.journal.pop()
	if !ok {
		m.notice = "There is nothing to undo."
		return nil
	}
	return m.start(writing, func(ctx context.Context) (tea.Msg, error) {
		w := written{change: change{title: "Undone: " + s.title, final: true}, reply: resp.OK}
		for i := 0; i < len(s.images); i += keepAtOnce {
			var calls [][][]byte
			for _, im := range s.images[i:min(i+keepAtOnce, len(s.images))] {
				if im.there && im.expires != 0 && im.expires <= m.options.Now() {
					im.there = false // it would have ended meanwhile
				}
				calls = append(calls, im.calls()...)
			}
			values, err := m.conn.do(ctx, s.db, calls...)
			if err != nil {
				return failedUndo{s, err}, nil
			}
			for _, v := range values {
				if err := replyError(v); err != nil {
					return failedUndo{s, err}, nil
				}
			}
		}
		return w, nil
	})
}

// failedUndo is an undo that did not come to its end; it can be tried again.
type failedUndo struct {
	step step
	err  error
}

func (m *Model) undoFailed(f failedUndo) {
	m.journal.push(f.step)
	m.fail(f.err)
}
