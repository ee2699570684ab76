package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/resp"
)

// User is one user. Its rights may be replaced while commands are being checked.
type User struct {
	name   string
	rights atomic.Pointer[rights]
}

// rights holds the result of a user's rules. It is immutable once a user has it.
type rights struct {
	on, noPass, trustsDumps bool
	passwords               []string    // SHA-256 in hex
	selectors               []*selector // the user's own rules first, then one per rule in parentheses

	unlimited bool // all commands, keys and channels
}

// newRights returns the rights of a user without rules.
func newRights(allChannels bool) *rights {
	return &rights{selectors: []*selector{newSelector(allChannels)}}
}

func (r *rights) clone() *rights {
	c := *r
	c.passwords = slices.Clone(r.passwords)
	c.selectors = make([]*selector, len(r.selectors))
	for i, s := range r.selectors {
		c.selectors[i] = s.clone()
	}
	return &c
}

func (u *User) set(r *rights) {
	r.unlimited = slices.ContainsFunc(r.selectors, (*selector).unlimited)
	u.rights.Store(r)
}

// Name returns the user's name.
func (u *User) Name() string { return u.name }

// Unlimited reports whether the user may run everything.
func (u *User) Unlimited() bool { return u.rights.Load().unlimited }

// On reports whether the user may log in.
func (u *User) On() bool { return u.rights.Load().on }

// accepts reports whether the user may log in with the password.
func (r *rights) accepts(password string) bool {
	if !r.on {
		return false
	}
	if r.noPass {
		return true
	}
	hash, found := hashOf(password), 0
	for _, own := range r.passwords {
		found |= subtle.ConstantTimeCompare([]byte(own), []byte(hash))
	}
	return found == 1
}

func hashOf(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// isHash reports whether s is a SHA-256 in lower case.
func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// apply applies one rule. allChannels is the default for new selectors.
func (r *rights) apply(rule string, allChannels bool) ruleError {
	if rule == "" {
		return noError
	}
	switch strings.ToLower(rule) {
	case "on":
		r.on = true
		return noError
	case "off":
		r.on = false
		return noError
	case "nopass":
		r.noPass, r.passwords = true, nil
		return noError
	case "resetpass":
		r.noPass, r.passwords = false, nil
		return noError
	case "sanitize-payload":
		r.trustsDumps = false
		return noError
	case "skip-sanitize-payload":
		r.trustsDumps = true
		return noError
	case "clearselectors":
		r.selectors = r.selectors[:1]
		return noError
	case "reset":
		*r = *newRights(allChannels)
		return noError
	}
	switch rule[0] {
	case '>', '#', '<', '!':
		return r.setPassword(rule[0], rule[1:])
	case '(':
		if strings.HasSuffix(rule, ")") {
			return r.addSelector(rule[1:len(rule)-1], allChannels)
		}
	}
	return r.selectors[0].apply(rule)
}

// setPassword applies >password, #hash, <password or !hash.
func (r *rights) setPassword(how byte, text string) ruleError {
	hash := text
	if how == '>' || how == '<' {
		hash = hashOf(text)
	} else if !isHash(text) {
		return badHash
	}
	i := slices.Index(r.passwords, hash)
	switch {
	case how == '<' || how == '!':
		if i < 0 {
			return noSuchPassword
		}
		r.passwords = slices.Delete(r.passwords, i, i+1)
		return noError
	case i < 0:
		r.passwords = append(r.passwords, hash)
	}
	r.noPass = false
	return noError
}

// addSelector adds the selector of a rule in parentheses. The rules inside are quoted as in
// redis-cli.
func (r *rights) addSelector(text string, allChannels bool) ruleError {
	s := newSelector(allChannels)
	rules, _ := resp.SplitLine(text) // like Redis, unbalanced quotes give no rules
	for _, rule := range rules {
		if len(rule) == 0 {
			return syntax
		}
		if wrong := s.apply(string(rule)); wrong != noError {
			return wrong
		}
	}
	r.selectors = append(r.selectors, s)
	return noError
}

// flags returns the names of the user's flags, in Redis's order.
func (r *rights) flags() []string {
	flags := []string{"off"}
	if r.on {
		flags[0] = "on"
	}
	if r.noPass {
		flags = append(flags, "nopass")
	}
	if r.trustsDumps {
		return append(flags, "skip-sanitize-payload")
	}
	return append(flags, "sanitize-payload")
}

// String returns the normal form: rules that turn a new user's rights into r.
func (r *rights) String() string {
	parts := r.flags()
	for _, hash := range r.passwords {
		parts = append(parts, "#"+hash)
	}
	for i, s := range r.selectors {
		text := s.String()
		if i > 0 {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// getUser builds the reply of ACL GETUSER.
func (r *rights) getUser() resp.Value {
	root := describe(r.selectors[0])
	var others []resp.Value
	for _, s := range r.selectors[1:] {
		others = append(others, resp.MakeMap(describe(s)...))
	}
	flags := resp.MakeArray(bulks(r.flags())...)
	flags.Kind = resp.Set
	return resp.MakeMap(slices.Concat(
		[]resp.Value{resp.MakeString("flags"), flags},
		[]resp.Value{resp.MakeString("passwords"), resp.MakeArray(bulks(r.passwords)...)},
		root,
		[]resp.Value{resp.MakeString("selectors"), resp.MakeArray(others...)})...)
}

func describe(s *selector) []resp.Value {
	return []resp.Value{
		resp.MakeString("commands"), resp.MakeString(s.describeCommands()),
		resp.MakeString("keys"), resp.MakeString(s.describeKeys()),
		resp.MakeString("channels"), resp.MakeString(s.describeChannels()),
	}
}

func bulks(texts []string) []resp.Value {
	all := make([]resp.Value, len(texts))
	for i, text := range texts {
		all[i] = resp.MakeString(text)
	}
	return all
}
