package keys

// load names the rows that a job loads.
type load int

const (
	loadNone   load = iota
	loadFirst       // the first rows
	loadLast        // the last rows
	loadSame        // the rows of the window
	loadAfter       // rows after the last one
	loadBefore      // rows before the first one
)

// jump selects the new row of the cursor when the first loaded rows arrive.
type jump int

const (
	noJump    jump = iota // no jump
	jumpFirst             // to the first row
	jumpLast              // to the last row
	keepRow               // the cursor stays on its row while the window reloads
	keepFirst             // the cursor stays on the first row, whichever row that becomes
)

// load returns the rows that a jump needs.
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

// rowState relates the loaded rows to the rows that the user requested.
type rowState int

const (
	rowsCurrent  rowState = iota // the rows the user asked for
	rowsPending                  // the rows are replaced when the requested rows arrive
	rowsPrevious                 // rows of the previous query, replaced in the same way
)

// startQuery jumps to the first row of a query. The rows of the previous query stay until it is loaded.
func (l *window) startQuery() { l.jump, l.shown = jumpFirst, rowsPrevious }

// jumpTo starts a jump that the user waits for.
func (l *window) jumpTo(j jump) {
	l.jump = j
	l.markPending()
}

// markPending makes the user wait for the jump.
func (l *window) markPending() {
	if l.shown == rowsCurrent {
		l.shown = rowsPending
	}
}

// reloadSame reloads the rows of the window unless a jump is pending.
func (l *window) reloadSame() {
	if l.jump == noJump {
		l.jump = keepRow
	}
}

// finishJump ends all waiting for rows.
func (l *window) finishJump() { l.jump, l.shown = noJump, rowsCurrent }

// cancelJump keeps the user at the loaded rows. Rows of the previous query are not kept: the first rows
// of the query load when the user moves.
func (l *window) cancelJump() {
	if l.shown != rowsPrevious {
		l.finishJump()
	}
}

// onJumpLoaded is called when the rows of a jump replaced the window. If the user has asked for another
// jump since, they still wait for that one.
func (l *window) onJumpLoaded(what load) {
	switch {
	case l.jump.load() == what:
		l.finishJump()
	case l.shown == rowsPrevious:
		l.shown = rowsPending
	}
}

// keepsCursor reports whether the cursor stays on its row when the rows of the jump arrive. Until the
// user presses a key, the cursor is on the first row.
func (l *window) keepsCursor() bool {
	return l.jump == keepRow && l.shown != rowsPrevious && l.keyPressed
}

// waiting reports whether the rows are not the ones the user asked for.
func (l *window) waiting() bool { return !l.halted && (l.shown != rowsCurrent || l.pendingMove != 0) }
