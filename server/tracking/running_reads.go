package tracking

// runningReads tracks running commands that may read. Their keys are known only when they finish, and may have changed
// after the read. So the table remembers changes while commands run.
type runningReads struct {
	count  int // running commands
	last   uint64
	recent map[string]uint64 // last change of each key
	all    uint64            // last change of all keys
}

// maxRecent limits the remembered changes. Beyond it all keys count as changed.
const maxRecent = 100_000

func (f *runningReads) change(key []byte) {
	if f.count == 0 {
		return
	}
	if len(f.recent) >= maxRecent {
		f.changeAll()
	}
	f.last++
	if f.recent == nil {
		f.recent = map[string]uint64{}
	}
	f.recent[string(key)] = f.last
}

func (f *runningReads) changeAll() {
	f.last++
	f.all, f.recent = f.last, nil
}

// BeginRead must be called before a command that may read. The caller passes the result to EndRead after the command.
func (t *Table) BeginRead() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running.count++
	return t.running.last
}

// EndRead records the keys that a client's command has read. It must be called before the client gets the reply.
// replies is false if the command blocks and has no reply yet.
func (t *Table) EndRead(id int64, begun uint64, keys [][]byte, replies bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &t.running
	if c := t.clients[id]; c != nil && c.caches() {
		for _, key := range keys {
			if f.all > begun || f.recent[string(key)] > begun {
				t.send(c, &Message{Keys: [][]byte{key}}, replies)
			} else {
				t.add(c, key)
			}
		}
		t.dropSome()
	}
	if f.count--; f.count == 0 {
		f.recent = nil
	}
}
