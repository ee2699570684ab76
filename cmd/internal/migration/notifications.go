package migration

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

// notifications collects the keys that the source says have changed.
type notifications struct {
	sure   bool          // the source notifies of all changes
	wake   chan struct{} // receives after a change
	cancel func()
	ended  chan struct{}

	mu      sync.Mutex
	changed map[int]map[string]bool // by database; guarded by mu
	n       int
}

// listenTo matches the channels of all changes.
const listenTo = "__keyspace@*__:*"

// notifications listens to the notifications of keys, if the source is a Redis server or a cluster. It enables them for the time
// of the copy if the user may. It returns nil without notifications. stop ends listening, and restores the setting.
func (m *Migration) notifications(ctx context.Context) (n *notifications, stop func()) {
	listen, end, err := m.listener(ctx)
	if listen == nil || err != nil {
		return nil, func() {}
	}
	restore, sure := m.enableNotifications(ctx)
	ctx, cancel := context.WithCancel(ctx)
	n = &notifications{sure: sure, wake: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{}), changed: map[int]map[string]bool{}}
	go func() {
		defer close(n.ended)
		for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, lastWait) {
			err := store.Caught(func() error {
				return listen(ctx, [][]byte{[]byte("PSUBSCRIBE"), []byte(listenTo)}, func(v resp.Value) error { n.hear(v); return nil })
			})
			if err == nil { // refused
				return
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}()
	return n, func() {
		cancel()
		<-n.ended
		end()
		restore(context.WithoutCancel(ctx))
	}
}

type listenFunc func(ctx context.Context, args [][]byte, each func(resp.Value) error) error

// listener returns a function that listens to the source, on a session of its own; nil if the source has no notifications.
func (m *Migration) listener(ctx context.Context) (listen listenFunc, end func() error, err error) {
	if whole := targetsCluster(m.src); whole != nil {
		other, err := whole.Again(ctx)
		if err != nil {
			return nil, nil, err
		}
		return other.Listen, other.Close, nil
	}
	if r, is := targets.Plain(m.src.Session).(*remote.Redis); is {
		other := r.Again()
		return other.Listen, other.Close, nil
	}
	return nil, nil, nil
}

const notifySetting = "notify-keyspace-events"

// enableNotifications makes the source notify of all changes, if the user may. sure reports whether it does. The target
// holds the old settings, so that a later run restores them if this one is killed.
func (m *Migration) enableNotifications(ctx context.Context) (restore func(context.Context), sure bool) {
	restore, sure = m.restoreNotifications, true
	changed := false
	for _, s := range m.writers() {
		v, err := s.Do(ctx, []byte("CONFIG"), []byte("GET"), []byte(notifySetting))
		if err != nil || v.IsError() || len(v.Elems) != 2 {
			return restore, false
		}
		was := v.Elems[1].Str
		if notifiesAll(was) {
			continue
		}
		if err := follow.WriteSetting(ctx, m.dst, m.key, addressOf(s), was); err != nil {
			return restore, false
		}
		v, err = s.Do(ctx, []byte("CONFIG"), []byte("SET"), []byte(notifySetting), append(slices.Clone(was), "KA"...))
		if err != nil || v.IsError() {
			sure = false
			continue
		}
		changed = true
	}
	if changed {
		m.say("%s is set to notify of all changes at %s until the copy ends", notifySetting, m.src.Target)
	}
	return restore, sure
}

// restoreNotifications restores the settings of the source that this or an earlier run has changed, unless they were
// changed since. If that fails, the next run tries again.
func (m *Migration) restoreNotifications(ctx context.Context) {
	if err := m.tryRestoring(ctx); err != nil && ctx.Err() == nil {
		m.say("%s at %s could not be restored: %v", notifySetting, m.src.Target, err)
	}
}

func (m *Migration) tryRestoring(ctx context.Context) error {
	was, err := follow.ReadSettings(ctx, m.dst, m.key)
	if err != nil || len(was) == 0 {
		return err
	}
	for _, s := range m.writers() {
		old, changed := was[addressOf(s)]
		if !changed {
			continue
		}
		v, err := s.Do(ctx, []byte("CONFIG"), []byte("GET"), []byte(notifySetting))
		if err == nil && len(v.Elems) == 2 && notifiesAll(v.Elems[1].Str) {
			v, err = s.Do(ctx, []byte("CONFIG"), []byte("SET"), []byte(notifySetting), []byte(old))
		}
		if err == nil && v.IsError() {
			err = transfer.Refusal(v.Str)
		}
		if err != nil {
			return err
		}
		delete(was, addressOf(s))
	}
	for address, old := range was {
		m.say("%s of %s was %q before the copy, and was not restored: the node is not a master of the source now", notifySetting, address, old)
	}
	return follow.ForgetSettings(ctx, m.dst, m.key)
}

// addressOf returns the address of a session on a server.
func addressOf(s keyspace.Session) string {
	if r, is := s.(*remote.Redis); is {
		return r.Address()
	}
	return ""
}

// notifiesAll reports whether a setting includes all changes of keys, on the channels of keys.
func notifiesAll(setting []byte) bool {
	return bytes.ContainsRune(setting, 'K') && (bytes.ContainsRune(setting, 'A') || !slices.ContainsFunc([]byte("g$lshzxetd"), func(class byte) bool {
		return bytes.IndexByte(setting, class) < 0
	}))
}

// hear notes the key of a notification. If there are too many, the next pass finds the others.
func (n *notifications) hear(v resp.Value) {
	if len(v.Elems) != 4 {
		return
	}
	channel, ok := strings.CutPrefix(string(v.Elems[2].Str), "__keyspace@")
	number, key, ok2 := strings.Cut(channel, "__:")
	db, err := strconv.Atoi(number)
	if !ok || !ok2 || err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.n >= passKeys {
		return
	}
	if n.changed[db] == nil {
		n.changed[db] = map[string]bool{}
	}
	if !n.changed[db][key] {
		n.changed[db][key] = true
		n.n++
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// take returns the keys that have changed, and forgets them.
func (n *notifications) take() map[int][][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[int][][]byte{}
	for db, keys := range n.changed {
		for key := range keys {
			all[db] = append(all[db], []byte(key))
		}
	}
	n.changed, n.n = map[int]map[string]bool{}, 0
	return all
}

// Between passes over all keys, a source that notifies of its changes has rest times as long as a pass takes, and at least
// leastRest.
const (
	rest      = 10
	leastRest = 30 * time.Second
)

// untilNextPass waits between two passes, and copies the keys that change.
func (m *Migration) untilNextPass(ctx context.Context, n *notifications, took time.Duration) error {
	wait, wake := max(m.o.PassEvery, took), (chan struct{})(nil)
	if n != nil {
		wake = n.wake
		if n.sure {
			wait = max(leastRest, rest*took)
		}
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	for {
		select {
		case <-end.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-wake:
		}
		for db, names := range n.take() {
			if err := m.copyAgain(ctx, db, names); err != nil {
				return fmt.Errorf("copying keys that changed: %w", err)
			}
		}
	}
}

// guarantee prints when changes arrive.
func (m *Migration) guarantee(n *notifications, why string) {
	when := "a change arrives with the next pass"
	switch {
	case n != nil && n.sure:
		when = "changes arrive as the source notifies of them, and changes during a lost connection with the next pass"
	case n != nil:
		when += ", or before if the source notifies of it"
	}
	m.say("%s: comparing all keys in passes; %s", why, when)
}
