package change

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
)

// expiredBy reports whether a key that is not there ended by itself: it was to, by now.
func (l Check) expiredBy(now int64) bool {
	if !l.is(WholeKey) && !l.is(OnlyTTL) || len(l.Call) != 2 {
		return false
	}
	ends := l.answer
	if l.is(WholeKey) && len(ends) > 0 {
		ends = ends[slices.Index([]byte(ends), ' ')+1:]
	}
	at := target.Atoi(ends)
	return at > 1 && at <= now
}

// remember keeps in the journal what a change left, unless somebody else changed that at
// once, or it cannot be told: an undo asks then.
func (c *Maker) remember(ctx context.Context, t transaction, watched bool) (kept bool) {
	for _, p := range t.checks {
		if p.known {
			continue
		}
		if known, err := c.answer(ctx, p.db, p.checks, c.Clock()); err != nil || !known {
			return false
		}
	}
	if watched && len(t.watchCalls()) > 0 {
		if _, err := c.commit(ctx, t.db, true, nil); err != nil {
			return false
		}
	}
	for _, p := range t.checks {
		if c.Journal.addChecks(p.db, p.checks) != nil {
			return false
		}
	}
	return true
}

// rememberTime is how long a change that was stopped looks for what it did.
const rememberTime = time.Second

// rememberStopped is remember for a change that was stopped: its last commands may have
// run or not, and are over when something else is answered.
func (c *Maker) rememberStopped(ctx context.Context, t transaction) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTime)
	defer cancel()
	t.checks = slices.Clone(t.checks)
	for i := range t.checks {
		t.checks[i].known = false
	}
	c.remember(ctx, t, false)
}

// addChecks appends what a change left. A time to live of what is not there is left out:
// its undo does nothing.
func (j *Journal) addChecks(db int, checks []Check) error {
	payload := binary.AppendUvarint(nil, uint64(db))
	for _, l := range checks {
		if !l.is(OnlyTTL) || l.answer != "" {
			payload = resp.AppendCommand(payload, append([][]byte{[]byte(l.answer)}, l.Call...)...)
		}
	}
	return j.append(recordChecks, payload)
}

// replayChecks calls fn with what a step left, as far as it is still to be undone, and
// unknown where that was not kept of a part of it.
func (j *Journal) replayChecks(s Step, fn func(db int, checks []Check) error, unknown func()) error {
	var at int64
	kept := true
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, s.from, s.to-s.from), 64<<10)
	for {
		kind, payload, err := readRecord(in)
		if errors.Is(err, io.EOF) {
			if !kept {
				unknown()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if kind == recordCommands {
			kept = at < s.done
			at += recordHead + int64(len(payload)) + recordSum
		}
		if kind != recordChecks {
			continue
		}
		over := kept && at <= s.done && s.done > 0
		kept = true
		if over {
			continue
		}
		db, words, err := parseCommands(payload)
		if err != nil {
			return err
		}
		checks := make([]Check, len(words))
		for i, w := range words {
			if len(w) < 3 {
				return errDamagedJournal
			}
			checks[i] = Check{answer: string(w[0]), Call: w[1:]}
		}
		if err := fn(db, checks); err != nil {
			return err
		}
	}
}

// checksIn is checks of keys of a database.
type checksIn struct {
	db     int
	checks []Check
	known  bool // the answers are there
}

// mismatch is what speaks against an undo.
type mismatch struct {
	Check
	now string // the answer by now
}

func (d mismatch) String() string {
	key := display.Text(d.key(), 30)
	switch {
	case d.now == "" && (d.is(freeName) || d.is("EXISTS")):
		return key + " was deleted since, and stays so."
	case d.now == "":
		return key + " was deleted since, and comes back."
	case d.is(freeName):
		return key + " was made anew since, and stays as it is."
	case d.answer == "":
		return key + " was made anew since; what it holds now is lost."
	case d.is(OnlyTTL):
		return key + " got another time to live since."
	}
	return key + " was changed since; what it holds now is lost."
}

// review tells what speaks against taking a step of j back, and which keys are gone whose time to live
// it would bring back. Few keys are watched from here on. What the person wants anyway
// is not looked at.
func (c *Maker) review(ctx context.Context, j *Journal, s Step, wanted bool) (doubts, gone []string, err error) {
	if wanted {
		return nil, nil, c.unwatch(ctx)
	}
	if err := c.watchStep(ctx, j, s); err != nil {
		return nil, nil, err
	}
	unknown := false
	err = j.replayChecks(s, func(db int, checks []Check) error {
		known, err := c.compare(ctx, db, checks, func(d mismatch) {
			switch {
			case d.now == "" && d.is(OnlyTTL):
				gone = append(gone, display.Text(d.key(), 30))
			case len(doubts) < maxMismatches:
				doubts = append(doubts, d.String())
			}
		})
		unknown = unknown || !known
		return err
	}, func() { unknown = true })
	if unknown && len(doubts) == 0 {
		doubts = append(doubts, "Whether others changed something since is not known.")
	}
	if len(doubts) > 0 {
		err = errors.Join(err, c.unwatch(ctx))
	}
	return doubts, gone, err
}

// compare calls differs with the checks whose answer is another one by now, but for keys
// that have ended as they were to. It returns false when that cannot be told.
func (c *Maker) compare(ctx context.Context, db int, checks []Check, differs func(mismatch)) (known bool, err error) {
	now := c.Clock()
	fresh := slices.Clone(checks)
	if known, err = c.answer(ctx, db, fresh, now); err != nil || !known {
		return false, err
	}
	ended := map[string]bool{}
	for i, c := range checks {
		if fresh[i].answer == "" && c.expiredBy(now) {
			ended[c.key()] = true
		}
	}
	for i, c := range checks {
		if fresh[i].answer != c.answer && !ended[c.key()] {
			differs(mismatch{c, fresh[i].answer})
		}
	}
	return true, nil
}

// maxMismatches is how many doubts are told.
const maxMismatches = 4

// watchStep watches the keys that a step is about, if they are few.
func (c *Maker) watchStep(ctx context.Context, j *Journal, s Step) error {
	var places []keysIn
	n := 0
	err := j.replayChecks(s, func(db int, checks []Check) error {
		p := keysIn{db: db}
		for _, c := range checks {
			p.keys = append(p.keys, c.key())
		}
		if n += len(checks); 0 < len(checks) && n <= KeysAtOnce {
			places = append(places, p)
		}
		return nil
	}, func() {})
	if err != nil || len(places) == 0 || n > KeysAtOnce {
		return errors.Join(err, c.unwatch(ctx))
	}
	_, err = c.watch(ctx, places)
	return err
}
