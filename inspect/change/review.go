package change

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// expiredBy reports whether the key's recorded expiry has passed at now.
func (l Check) expiredBy(now int64) bool {
	if !l.is(WholeKey) && !l.is(OnlyTTL) || len(l.Call) != 2 {
		return false
	}
	ends := l.answer
	if l.is(WholeKey) && len(ends) > 0 {
		ends = ends[slices.Index([]byte(ends), ' ')+1:]
	}
	at := client.Atoi(ends)
	return at > 1 && at <= now
}

// remember records the state after a change. It returns false if another client changed the
// keys at once, or the state cannot be determined: an undo then asks first.
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

// rememberTime limits how long a cancelled change may take to record its effects.
const rememberTime = time.Second

// rememberStopped is remember for a cancelled change. Its last commands may or may not have
// run; they are complete once another command is answered.
func (c *Maker) rememberStopped(ctx context.Context, t transaction) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTime)
	defer cancel()
	t.checks = slices.Clone(t.checks)
	for i := range t.checks {
		t.checks[i].known = false
	}
	c.remember(ctx, t, false)
}

// addChecks appends the state after a change. It skips TTLs of missing keys and fields, since
// undoing those does nothing.
func (j *Journal) addChecks(db int, checks []Check) error {
	payload := binary.AppendUvarint(nil, uint64(db))
	for _, l := range checks {
		if !l.is(OnlyTTL) || l.answer != "" {
			payload = resp.AppendCommand(payload, append([][]byte{[]byte(l.answer)}, l.Call...)...)
		}
	}
	return j.append(recordChecks, payload)
}

// replayChecks calls fn with the checks of a step that are still to be undone, and unknown
// if checks are missing for a part of it.
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
		db, checks, err := parseChecks(payload)
		if err != nil {
			return err
		}
		if err := fn(db, checks); err != nil {
			return err
		}
	}
}

// parseChecks decodes the payload of a recordChecks record.
func parseChecks(payload []byte) (db int, checks []Check, err error) {
	db, words, err := parseCommands(payload)
	if err != nil {
		return 0, nil, err
	}
	checks = make([]Check, len(words))
	for i, w := range words {
		if len(w) < 3 {
			return 0, nil, errDamagedJournal
		}
		checks[i] = Check{answer: string(w[0]), Call: w[1:]}
	}
	return db, checks, nil
}

// checksIn lists the checks of one database.
type checksIn struct {
	db     int
	checks []Check
	known  bool // the answers are filled in
}

// mismatch reports a check whose answer has changed, a reason not to undo.
type mismatch struct {
	Check
	now string // the current answer
}

func (d mismatch) String() string {
	key := display.Text(d.key(), 30)
	switch {
	case d.now == "" && (d.is(freeName) || d.is("EXISTS")):
		return key + " was deleted; it stays deleted."
	case d.now == "":
		return key + " was deleted; it is restored."
	case d.is(freeName):
		return key + " was created again; it stays unchanged."
	case d.answer == "":
		return key + " was created again; its current value is lost."
	case d.is(OnlyTTL):
		return key + " has a different TTL now."
	}
	return key + " was changed; its current value is lost."
}

// review returns the reasons not to undo a step of j, and the missing keys whose TTL it
// would restore. From here on the step's keys are watched, if there are few. With wanted
// set, the person has agreed and nothing is checked.
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
		doubts = append(doubts, "Later changes by other clients are unknown.")
	}
	if len(doubts) > 0 {
		err = errors.Join(err, c.unwatch(ctx))
	}
	return doubts, gone, err
}

// compare calls differs with each check whose answer has changed, except for keys that
// expired as scheduled. It returns false if the answers cannot be determined.
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

// maxMismatches limits the reported reasons.
const maxMismatches = 4

// watchStep watches the keys of a step if there are at most KeysAtOnce.
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
