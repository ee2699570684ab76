package acl

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Default is the name of the user that every client is before it logs in. It always
// exists.
const Default = "default"

// Reader is the user of a read-only token, as Upstash calls it, and ReaderRules are what it may: commands
// that read, without KEYS and SCAN.
const Reader = "default_ro"

var ReaderRules = []string{"on", "~*", "&*", "+@read", "+@connection", "-keys", "-scan",
	"+vcard", "+vdim", "+vemb", "+vgetattr", "+vinfo", "+vismember", "+vlinks", "+vrandmember", "+vrange", "+vsim"}

// Users are those of a server. They are safe for concurrent use.
type Users struct {
	Log Log

	mu          sync.RWMutex
	byName      map[string]*User
	byDefault   *User
	allChannels bool // what new users may listen to
}

// New are the users of a server that was told of none: the default one, who may do
// everything and needs no password.
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

// add is under the lock.
func (u *Users) add(name string, r *rights) *User {
	user := &User{name: name}
	user.set(r)
	u.byName[name] = user
	return user
}

// Default is the default user, always the same one.
func (u *Users) Default() *User { return u.byDefault }

// Open reports whether a client need not log in: the default user is on, and has no
// password.
func (u *Users) Open() bool {
	r := u.byDefault.rights.Load()
	return r.on && r.noPass
}

// HasPassword reports whether the default user has a password that must be given.
func (u *Users) HasPassword() bool { return !u.byDefault.rights.Load().noPass }

// Find returns the user with the name, nil for a missing one.
func (u *Users) Find(name string) *User {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.byName[name]
}

// Login returns the user with the name when it is on and the password is one of its own, or
// wrapped in a token that is; else nil.
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

// SetPassword makes the password the only one of the default user, or with "" lets it in
// without any.
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

// SetNewChannels says whether new users may use all channels, as acl-pubsub-default does.
func (u *Users) SetNewChannels(all bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.allChannels = all
}

// Set changes a user by rules, all of them or none, and makes one that is missing. It
// returns what is wrong, "" for nothing.
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
		if why := changed.apply(rule, u.allChannels); why != fine {
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

// merge joins rules that stand in parentheses together. open is the place of one that is
// not closed, or -1.
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

// Delete removes the users with the names, missing ones left out, and returns them: their
// rights are gone at once, and their clients are the caller's to close. The default user
// stays.
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

// Names are those of all users, sorted.
func (u *Users) Names() []string {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return slices.Sorted(maps.Keys(u.byName))
}

// Lines are all users in the form of a file, a line for each.
func (u *Users) Lines() []string {
	u.mu.RLock()
	defer u.mu.RUnlock()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(u.byName)) {
		lines = append(lines, "user "+name+" "+u.byName[name].rights.Load().String())
	}
	return lines
}
