package keys

// load is rows that a job loads.
type load int

const (
	nothingMore load = iota
	fromHead         // the first rows
	fromTail         // the last rows
	again            // the same rows anew
	more             // rows after the last one
	less             // rows before the first one
)

// jump is where the cursor goes with the rows that are loaded before all others.
type jump int

const (
	nowhere      jump = iota // there are no such rows
	toFirst                  // to the first row there is
	toLast                   // to the last row there is
	inPlace                  // it stays on its row, while the same rows are loaded anew
	staysAtFirst             // it stays on the first of them, whichever that is then
)

// load is the rows that a jump needs.
func (j jump) load() load {
	switch j {
	case toFirst:
		return fromHead
	case toLast:
		return fromTail
	case inPlace, staysAtFirst:
		return again
	}
	return nothingMore
}

// presence is what the rows that are there are to the person.
type presence int

const (
	arrived  presence = iota // they are what the person asked for
	awaiting                 // they are left as soon as those that the person asked for come
	former                   // so are these, which are of the query before
)

// begin goes to the first row of a query, and keeps the rows of the one before until then.
func (l *window) begin() { l.jump, l.shown = toFirst, former }

// ask makes a jump that the person waits for.
func (l *window) ask(j jump) {
	l.jump = j
	l.await()
}

// await lets the person wait for the jump.
func (l *window) await() {
	if l.shown == arrived {
		l.shown = awaiting
	}
}

// anew loads the rows again, unless the person is on the way to others.
func (l *window) anew() {
	if l.jump == nowhere {
		l.jump = inPlace
	}
}

// arrive ends all waiting for rows.
func (l *window) arrive() { l.jump, l.shown = nowhere, arrived }

// giveUp lets the person stay with the rows that are there. Those of the query before
// are no rows to stay with: the first ones of the query come when the person moves on.
func (l *window) giveUp() {
	if l.shown != former {
		l.arrive()
	}
}

// took notes that the rows of a jump took the place of others. Where the jump has become
// another one meanwhile, the person still waits for that.
func (l *window) took(what load) {
	switch {
	case l.jump.load() == what:
		l.arrive()
	case l.shown == former:
		l.shown = awaiting
	}
}

// stays reports whether the cursor stays on its row when the rows of the jump come. Where
// the person has pressed no key yet, it is on the first row.
func (l *window) stays() bool { return l.jump == inPlace && l.shown != former && l.touched }

// awaits reports whether the rows are not those that the person asked for.
func (l *window) awaits() bool { return !l.halted && (l.shown != arrived || l.owed != 0) }
