package acl

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Default names the user of a client that has not logged in. This user always exists.
const Default = "default"

// Reader is Upstash's name for the user of a read-only token. ReaderRules allows commands that
// read, except KEYS and SCAN.
const Reader = "default_ro"

var ReaderRules = []string{"on", "~*", "&*", "+@read", "+@connection", "-keys", "-scan",
	"+vcard", "+vdim", "+vemb", "+vgetattr", "+vinfo", "+vismember", "+vlinks", "+vrandmember", "+vrange", "+vsim"}

// Users holds the users of a server. It is safe for concurrent use.
type Users struct {
	Log Log

	mu          sync.RWMutex
	byName      map[string]*User
	byDefault   *User
	allChannels bool // default for new users
}

// New returns the users of an unconfigured server: the default user, without a password and
// with all rights.
func New() *Users {
	u := &Users{byName: map[string]*User{}}
	u.Log.SetMax(128)
	u.byDefault = u.add(Default, defaultRights())
	return u
}

func defaultRights() *rights {
	r := newRights(false)
	for _, rule := range []string{"+@all", "~*", "&*", "on", "nopass"} {
		r.apply(rule, false)
	}
	return r
}

// add requires the lock.
func (u *Users) add(name string, r *rights) *User {
	user := &User{name: name}
	user.set(r)
	u.byName[name] = user
	return user
}

// Default returns the default user. It returns the same *User every time.
func (u *Users) Default() *User { return u.byDefault }

// Open reports whether clients need no login: the default user is on and has no password.
func (u *Users) Open() bool {
	r := u.byDefault.rights.Load()
	return r.on && r.noPass
}

// HasPassword reports whether the default user needs a password.
func (u *Users) HasPassword() bool { return !u.byDefault.rights.Load().noPass }

// Find returns the named user, or nil if it does not exist.
func (u *Users) Find(name string) *User {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.byName[name]
}

// Login returns the named user if it is on and the password is valid, plain or wrapped in a
// token. Otherwise it returns nil.
func (u *Users) Login(name, password string) *User {
	user := u.Find(name)
	if user == nil {
		return nil
	}
	if r := user.rights.Load(); r.accepts(password) || r.accepts(Token(name, password)) {
		return user
	}
	return nil
}

// SetPassword sets the default user's only password. With "" the default user needs none.
func (u *Users) SetPassword(password string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.byDefault.rights.Load().clone()
	r.apply("resetpass", u.allChannels)
	if password == "" {
		r.apply("nopass", u.allChannels)
	} else {
		r.apply(">"+password, u.allChannels)
	}
	u.byDefault.set(r)
}

// SetNewChannels sets whether new users may use all channels, like acl-pubsub-default.
func (u *Users) SetNewChannels(all bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.allChannels = all
}

// Set applies rules to a user, all or none, and creates the user if it is missing. It returns
// the error text, or "".
func (u *Users) Set(name string, rules []string) (wrong string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	merged, open := merge(rules)
	if open >= 0 {
		return "Unmatched parenthesis in acl selector starting at '" + rules[open] + "'."
	}
	user := u.byName[name]
	changed := newRights(u.allChannels)
	if user != nil {
		changed = user.rights.Load().clone()
	}
	for _, rule := range merged {
		if why := changed.apply(rule, u.allChannels); why != noError {
			return "Error in ACL SETUSER modifier '" + rule + "': " + string(why)
		}
	}
	if user == nil {
		u.add(name, changed)
	} else {
		user.set(changed)
	}
	return ""
}

// merge joins the words of a rule in parentheses. open is the index of an unclosed rule, or
// -1.
func merge(rules []string) (merged []string, open int) {
	open = -1
	for i, rule := range rules {
		switch {
		case open >= 0:
			merged[len(merged)-1] += " " + rule
			if strings.HasSuffix(rule, ")") {
				open = -1
			}
		default:
			if strings.HasPrefix(rule, "(") && !strings.HasSuffix(rule, ")") {
				open = i
			}
			merged = append(merged, rule)
		}
	}
	return merged, open
}

// Delete removes the named users that exist and returns them. Their rights end at once; the
// caller closes their clients. The default user is never deleted.
func (u *Users) Delete(names []string) []*User {
	u.mu.Lock()
	defer u.mu.Unlock()
	var gone []*User
	for _, name := range names {
		if user := u.byName[name]; user != nil && user != u.byDefault {
			delete(u.byName, name)
			user.set(newRights(false))
			gone = append(gone, user)
		}
	}
	return gone
}

// Names returns the names of all users, sorted.
func (u *Users) Names() []string {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return slices.Sorted(maps.Keys(u.byName))
}

// Lines returns all users in ACL file format, one line each.
func (u *Users) Lines() []string {
	u.mu.RLock()
	defer u.mu.RUnlock()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(u.byName)) {
		lines = append(lines, "user "+name+" "+u.byName[name].rights.Load().String())
	}
	return lines
}
