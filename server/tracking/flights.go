package tracking

// flights are commands under way that may read. What they read is known when they are done, and may
// have changed since they saw it: so the changes meanwhile are remembered.
type flights struct {
	under  int // way
	last   uint64
	recent map[string]uint64 // changes, by key
	all    uint64            // the last change of all keys
}

// mostRecent is how many changes are remembered; with more it is as if all keys had changed.
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

// Begin is called before a command that may read, and Land with what it returns after it.
func (t *Table) Begin() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flights.under++
	return t.flights.last
}

// Land says which keys a client's command has read, before it has the reply. Without replies it waits,
// and has none yet.
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
