// Package keyspace lists the keys of a client's database and says what they are, by
// whichever commands the server has: SCAN or KEYS, TYPE or a read of each type,
// PEXPIRETIME, PTTL or TTL. Each fallback is tried once, and what a server lacks is
// remembered.
package keyspace

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
)

// Client runs commands: engine.Session and the clients of servers.
type Client interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
}

// Refusal is an error reply to a command that the work could not do without.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Key is what was found out about a key.
type Key struct {
	Name      []byte
	Type      string
	ExpiresAt int64 // Unix ms, 0 for never; of a Lister that is Absolute
	TTL       int64 // ms, -1 for none; of another Lister
	Count     int64 // elements, or bytes of a string; -1 where it cannot be told
	Err       error // what keeps it from being described
}

// Lister lists the keys of one database of a client. It is for one goroutine.
type Lister struct {
	Client   Client
	Match    string // a pattern; "" for all
	Type     string // "" for all
	Page     int    // how many keys a page looks at, 0 for 500
	Absolute bool   // says when keys expire, not in how many ms

	lacks map[string]bool // commands that the server does not have
	names [][]byte        // all of them in order, where there is no SCAN
}

// Again is a Lister for another database of the same server.
func (l *Lister) Again() *Lister {
	other := *l
	other.names = nil
	return &other
}

const defaultPage = 500

// Lacks reports whether the server is known not to have a command.
func (l *Lister) Lacks(command string) bool { return l.lacks[command] }

// Lack notes that the server does not have a command.
func (l *Lister) Lack(command string) {
	if l.lacks == nil {
		l.lacks = map[string]bool{}
	}
	l.lacks[command] = true
}

// Scan returns the names at a cursor, "0" for the beginning, and the cursor of the next
// page, "0" for none. A key that is there from start to end is listed; others may be,
// and some servers list one twice. Where there is neither SCAN's TYPE nor TYPE, keys of
// other types are listed, too: Describe leaves them out.
func (l *Lister) Scan(ctx context.Context, cursor string) (names [][]byte, next string, err error) {
	if l.Lacks("SCAN") {
		return l.page(ctx, cursor)
	}
	args := []string{"SCAN", cursor, "COUNT", strconv.Itoa(l.size())}
	if l.Match != "" {
		args = append(args, "MATCH", l.Match)
	}
	if l.Type != "" && !l.Lacks("SCAN TYPE") {
		args = append(args, "TYPE", l.Type)
	}
	v, err := l.Client.Do(ctx, Call(args...)...)
	switch {
	case err != nil:
		return nil, "", err
	case Unknown(v):
		l.Lack("SCAN")
		return l.page(ctx, cursor)
	case v.IsError() && l.Type != "" && !l.Lacks("SCAN TYPE"): // TYPE came with Redis 6
		l.Lack("SCAN TYPE")
		return l.Scan(ctx, cursor)
	}
	elems, next, err := Scanned(v)
	return Texts(elems), next, err
}

func (l *Lister) size() int {
	if l.Page > 0 {
		return l.Page
	}
	return defaultPage
}

// page is Scan by KEYS, whose one reply has all names. The cursor counts them.
func (l *Lister) page(ctx context.Context, cursor string) (names [][]byte, next string, err error) {
	if l.names == nil {
		pattern := l.Match
		if pattern == "" {
			pattern = "*"
		}
		v, err := l.Client.Do(ctx, Call("KEYS", pattern)...)
		if err != nil {
			return nil, "", err
		}
		if v.IsError() {
			return nil, "", Refusal(v.Str)
		}
		l.names = Texts(v.Elems)
		slices.SortFunc(l.names, bytes.Compare)
	}
	at, err := strconv.Atoi(cursor)
	if err != nil || at < 0 || at > len(l.names) {
		at = len(l.names)
	}
	end := min(at+l.size(), len(l.names))
	if next = strconv.Itoa(end); end == len(l.names) {
		next = "0"
	}
	return l.names[at:end], next, nil
}

// Describe finds out what the keys are. Those that are gone, and those of another type
// than the Lister's, are left out.
func (l *Lister) Describe(ctx context.Context, names [][]byte) ([]Key, error) {
	keys := make([]Key, len(names))
	for i, name := range names {
		keys[i] = Key{Name: name, TTL: -1, Count: -1}
	}
	if err := l.typesAndExpiries(ctx, keys); err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool {
		return k.Err == nil && (k.Type == "none" || l.Type != "" && k.Type != l.Type)
	})
	return keys, l.count(ctx, keys)
}

// expiryCommands say when a key expires, the most exact first. What they answer is Unix
// ms, ms or s.
var expiryCommands = []struct {
	name     string
	absolute bool
	unit     int64
}{{"PEXPIRETIME", true, 1}, {"PTTL", false, 1}, {"TTL", false, 1000}}

// typesAndExpiries is one round trip, and another for each command that turns out to
// be lacking.
func (l *Lister) typesAndExpiries(ctx context.Context, keys []Key) error {
	if len(keys) == 0 {
		return nil
	}
	for at := range expiryCommands {
		e := expiryCommands[at]
		if e.absolute && !l.Absolute || l.Lacks(e.name) {
			continue
		}
		again, err := l.ask(ctx, keys, e.name, func(k *Key, n int64) {
			switch {
			case n == -2:
				k.Type = "none"
			case n < 0:
			case e.absolute:
				k.ExpiresAt = n
			default:
				k.TTL = n * e.unit
				k.ExpiresAt = time.Now().UnixMilli() + k.TTL
			}
		})
		if err != nil || !again {
			return err
		}
	}
	_, err := l.ask(ctx, keys, "", nil)
	return err
}

// ask asks for the types of keys, and for their expiries by a command, "" for none. It
// reports whether the server lacks that.
func (l *Lister) ask(ctx context.Context, keys []Key, expiry string, take func(*Key, int64)) (again bool, err error) {
	var calls [][][]byte
	typed := !l.Lacks("TYPE")
	for _, k := range keys {
		if typed {
			calls = append(calls, [][]byte{[]byte("TYPE"), k.Name})
		}
		if expiry != "" {
			calls = append(calls, [][]byte{[]byte(expiry), k.Name})
		}
	}
	replies, err := l.Client.Pipeline(ctx, calls)
	if err != nil {
		return false, err
	}
	if typed && Unknown(replies[0]) {
		l.Lack("TYPE")
	}
	if expiry != "" && Unknown(replies[len(replies)-1]) {
		l.Lack(expiry)
		return true, nil
	}
	for i := range keys {
		k := &keys[i]
		if typed {
			v := replies[0]
			replies = replies[1:]
			if k.Type = string(Text(v)); v.IsError() {
				k.Type, k.Err = "", Refusal(v.Str)
			}
		}
		if expiry != "" {
			v := replies[0]
			replies = replies[1:]
			if n, ok := Integer(v); ok && k.Err == nil {
				take(k, n)
			} else if v.IsError() {
				k.Err = errors.Join(k.Err, Refusal(v.Str))
			}
		}
	}
	if l.Lacks("TYPE") {
		return false, l.probe(ctx, keys)
	}
	return false, nil
}

// probe finds out the types of keys by reading them, where there is no TYPE: the first
// read that answers anything but an error or nothing tells the type.
func (l *Lister) probe(ctx context.Context, keys []Key) error {
	for i := range keys {
		keys[i].Type, keys[i].Err = "none", nil
	}
	for _, t := range keytype.Types {
		var calls [][][]byte
		var asked []*Key
		for i := range keys {
			call := reading(t, keys[i].Name)
			if k := &keys[i]; k.Type == "none" && !l.Lacks(string(call[0])) {
				calls, asked = append(calls, call), append(asked, k)
			}
		}
		if len(calls) == 0 {
			continue
		}
		replies, err := l.Client.Pipeline(ctx, calls)
		if err != nil {
			return err
		}
		for i, v := range replies {
			switch {
			case Unknown(v):
				l.Lack(string(calls[i][0]))
			case !v.IsError() && !v.IsNull() && (len(v.Elems) > 0 || t.Form == keytype.Whole):
				asked[i].Type = t.Name
			}
		}
	}
	return nil
}

// reading is a call that tells a key of the type from one that is not there, by its
// first element where no cursor is needed for that: servers without TYPE have no
// HSCAN.
func reading(t *keytype.Type, key []byte) [][]byte {
	if t.Form == keytype.Whole || t.Pages == keytype.ByCursor {
		return t.ReadAll(key)
	}
	return t.PageAt(key, "", 1)
}

// count counts what is in the keys, where the server can.
func (l *Lister) count(ctx context.Context, keys []Key) error {
	var calls [][][]byte
	var asked []*Key
	for i := range keys {
		k := &keys[i]
		if c := keytype.Of(k.Type).Count; c != "" && k.Err == nil && !l.Lacks(c) {
			calls, asked = append(calls, [][]byte{[]byte(c), k.Name}), append(asked, k)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	replies, err := l.Client.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	for i, v := range replies {
		// An error: the key has changed its type. Then the number is not known.
		if n, ok := Integer(v); ok {
			asked[i].Count = n
		} else if Unknown(v) {
			l.Lack(keytype.Of(asked[i].Type).Count)
		}
	}
	return nil
}

// Unknown reports whether a reply says that the server does not have the command, in
// Redis's words, Upstash's, or those of the first meowdis and others.
func Unknown(v resp.Value) bool {
	if !v.IsError() {
		return false
	}
	text := strings.ToLower(strings.TrimPrefix(string(v.Str), "ERR "))
	return strings.HasPrefix(text, "unknown command") || strings.HasPrefix(text, "command is not available") ||
		strings.HasPrefix(text, "unsupported command") || strings.HasPrefix(text, "command not supported")
}

// Scanned takes the reply of SCAN and its like apart.
func Scanned(v resp.Value) (elems []resp.Value, next string, err error) {
	switch {
	case v.IsError():
		return nil, "", Refusal(v.Str)
	case len(v.Elems) != 2:
		return nil, "", errors.New("a reply to SCAN has an unexpected shape")
	}
	return v.Elems[1].Elems, string(Text(v.Elems[0])), nil
}

// Text is a reply's bytes, of an integer its digits: endpoints answer numbers as either.
func Text(v resp.Value) []byte {
	if v.Kind == resp.Int {
		return strconv.AppendInt(nil, v.Int, 10)
	}
	return v.Str
}

// Texts are the bytes of replies.
func Texts(elems []resp.Value) [][]byte {
	out := make([][]byte, len(elems))
	for i, e := range elems {
		out[i] = Text(e)
	}
	return out
}

// Integer is a reply's number, which some endpoints send as text or as a double.
func Integer(v resp.Value) (int64, bool) {
	switch v.Kind {
	case resp.Int:
		return v.Int, true
	case resp.Double:
		return int64(v.Float), v.Float == float64(int64(v.Float))
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(v.Str)), 10, 64)
	return n, err == nil && !v.IsError()
}

// Call is a command made of words.
func Call(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}
