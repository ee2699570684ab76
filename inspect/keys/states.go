package keys

// load is rows that a job loads.
type load int

const (
	loadNone   load = iota
	loadFirst       // the first rows
	loadLast        // the last rows
	loadSame        // the same rows anew
	loadAfter       // rows after the last one
	loadBefore      // rows before the first one
)

// jump is where the cursor goes with the rows that are loaded before all others.
type jump int

const (
	noJump    jump = iota // there are no such rows
	jumpFirst             // to the first row there is
	jumpLast              // to the last row there is
	keepRow               // it stays on its row, while the same rows are loaded anew
	keepFirst             // it stays on the first of them, whichever that is then
)

// load is the rows that a jump needs.
func (j jump) load() load {
	switch j {
	case jumpFirst:
		return loadFirst
	case jumpLast:
		return loadLast
	case keepRow, keepFirst:
		return loadSame
	}
	return loadNone
}

// rowState is what the rows that are there are to the person.
type rowState int

const (
	rowsCurrent  rowState = iota // they are what the person asked for
	rowsPending                  // they are left as soon as those that the person asked for come
	rowsPrevious                 // so are these, which are of the query before
)

// startQuery goes to the first row of a query, and keeps the rows of the one before until then.
func (l *window) startQuery() { l.jump, l.shown = jumpFirst, rowsPrevious }

// jumpTo makes a jump that the person waits for.
func (l *window) jumpTo(j jump) {
	l.jump = j
	l.markPending()
}

// markPending lets the person wait for the jump.
func (l *window) markPending() {
	if l.shown == rowsCurrent {
		l.shown = rowsPending
	}
}

// reloadSame loads the rows again, unless the person is on the way to others.
func (l *window) reloadSame() {
	if l.jump == noJump {
		l.jump = keepRow
	}
}

// finishJump ends all waiting for rows.
func (l *window) finishJump() { l.jump, l.shown = noJump, rowsCurrent }

// cancelJump lets the person stay with the rows that are there. Those of the query before
// are no rows to stay with: the first ones of the query come when the person moves on.
func (l *window) cancelJump() {
	if l.shown != rowsPrevious {
		l.finishJump()
	}
}

// onJumpLoaded notes that the rows of a jump took the place of others. Where the jump has become
// another one meanwhile, the person still waits for that.
func (l *window) onJumpLoaded(what load) {
	switch {
	case l.jump.load() == what:
		l.finishJump()
	case l.shown == rowsPrevious:
		l.shown = rowsPending
	}
}

// keepsCursor reports whether the cursor stays on its row when the rows of the jump come. Where
// the person has pressed no key yet, it is on the first row.
func (l *window) keepsCursor() bool {
	return l.jump == keepRow && l.shown != rowsPrevious && l.keyPressed
}

// waiting reports whether the rows are not those that the person asked for.
func (l *window) waiting() bool { return !l.halted && (l.shown != rowsCurrent || l.pendingMove != 0) }
