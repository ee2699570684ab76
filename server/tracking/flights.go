package tracking

// flights tracks running commands that may read. Their keys are known only when they finish, and may have changed
// after the read. So the table remembers changes while commands run.
type flights struct {
	under  int // running commands
	last   uint64
	recent map[string]uint64 // last change of each key
	all    uint64            // last change of all keys
}

// mostRecent limits the remembered changes. Beyond it all keys count as changed.
const mostRecent = 100_000

func (f *flights) note(key []byte) {
	if f.under == 0 {
		return
	}
	if len(f.recent) >= mostRecent {
		f.noteAll()
	}
	f.last++
	if f.recent == nil {
		f.recent = map[string]uint64{}
	}
	f.recent[string(key)] = f.last
}

func (f *flights) noteAll() {
	f.last++
	f.all, f.recent = f.last, nil
}

// Begin must be called before a command that may read. The caller passes the result to Land after the command.
func (t *Table) Begin() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flights.under++
	return t.flights.last
}

// Land records the keys that a client's command has read. It must be called before the client gets the reply. replies
// is false if the command blocks and has no reply yet.
func (t *Table) Land(id int64, begun uint64, keys [][]byte, replies bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &t.flights
	if c := t.clients[id]; c != nil && c.keeps() {
		for _, key := range keys {
			if f.all > begun || f.recent[string(key)] > begun {
				t.tell(c, &Message{Keys: [][]byte{key}}, replies)
			} else {
				t.add(c, key)
			}
		}
		t.limit()
	}
	if f.under--; f.under == 0 {
		f.recent = nil
	}
}
