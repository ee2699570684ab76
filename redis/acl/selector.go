package acl

import (
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/glob"
)

// selector is one set of rights. A command is allowed if one selector of the user allows it
// with all its keys and channels.
type selector struct {
	allCommands, allKeys, allChannels bool

	baseAll   bool             // +@all came after the last -@all
	allowed   []uint64         // one bit per command of the catalogue
	firstArgs map[int][]string // first arguments allowed although the command is not, by its bit
	rules     []string         // command rules since +@all or -@all: "+get", "-@write"
	keys      []keyPattern
	channels  []string
}

// keyPattern allows reading, writing or both for the keys that match pattern.
type keyPattern struct {
	pattern     string
	read, write bool
}

func (p keyPattern) String() string {
	switch {
	case p.read && p.write:
		return "~" + p.pattern
	case p.read:
		return "%R~" + p.pattern
	}
	return "%W~" + p.pattern
}

func newSelector(allChannels bool) *selector {
	return &selector{allChannels: allChannels, allowed: make([]uint64, theCatalogue().words())}
}

func (s *selector) clone() *selector {
	c := *s
	c.allowed, c.rules = slices.Clone(s.allowed), slices.Clone(s.rules)
	c.keys, c.channels = slices.Clone(s.keys), slices.Clone(s.channels)
	c.firstArgs = maps.Clone(s.firstArgs)
	return &c
}

// unlimited reports whether the selector allows everything.
func (s *selector) unlimited() bool { return s.allCommands && s.allKeys && s.allChannels }

// apply applies one rule to the selector.
func (s *selector) apply(rule string) ruleError {
	switch strings.ToLower(rule) {
	case "allkeys", "~*":
		s.allKeys, s.keys = true, nil
		return noError
	case "resetkeys":
		s.allKeys, s.keys = false, nil
		return noError
	case "allchannels", "&*":
		s.allChannels, s.channels = true, nil
		return noError
	case "resetchannels":
		s.allChannels, s.channels = false, nil
		return noError
	case "allcommands", "+@all":
		s.setAll(true)
		return noError
	case "nocommands", "-@all":
		s.setAll(false)
		return noError
	}
	switch rule[0] {
	case '~', '%':
		return s.addKeys(rule)
	case '&':
		return s.addChannels(rule[1:])
	case '+', '-':
		if strings.HasPrefix(rule[1:], "@") {
			return s.setCategory(rule[0] == '+', rule[2:])
		}
		if rule[0] == '-' || !strings.Contains(rule, "|") {
			return s.setCommand(rule[0] == '+', rule[1:])
		}
		return s.allowSub(rule[1:])
	}
	return syntax
}

func (s *selector) setAll(allowed bool) {
	bits := uint64(0)
	if allowed {
		bits = ^bits
	}
	for i := range s.allowed {
		s.allowed[i] = bits
	}
	s.allCommands, s.baseAll, s.rules, s.firstArgs = allowed, allowed, nil, nil
}

// addKeys applies ~pattern, %R~pattern, %W~pattern or %RW~pattern.
func (s *selector) addKeys(rule string) ruleError {
	if s.allKeys {
		return afterAllKeys
	}
	p := keyPattern{pattern: rule[1:], read: true, write: true}
	if rule[0] == '%' {
		letters, pattern, _ := strings.Cut(rule[1:], "~")
		p = keyPattern{pattern: pattern}
		for _, letter := range []byte(letters) {
			switch {
			case (letter == 'R' || letter == 'r') && !p.read:
				p.read = true
			case (letter == 'W' || letter == 'w') && !p.write:
				p.write = true
			default:
				return syntax
			}
		}
		if !p.read && !p.write {
			return syntax
		}
	}
	if hasSpace(p.pattern) {
		return syntax
	}
	for i := range s.keys {
		if s.keys[i].pattern == p.pattern {
			s.keys[i].read, s.keys[i].write = s.keys[i].read || p.read, s.keys[i].write || p.write
			return noError
		}
	}
	s.keys = append(s.keys, p)
	return noError
}

func (s *selector) addChannels(pattern string) ruleError {
	switch {
	case s.allChannels:
		return afterAllChannels
	case hasSpace(pattern):
		return syntax
	}
	if !slices.Contains(s.channels, pattern) {
		s.channels = append(s.channels, pattern)
	}
	return noError
}

// hasSpace reports whether s has white space or a NUL: neither is allowed in names and
// patterns.
func hasSpace(s string) bool { return strings.ContainsAny(s, " \t\n\v\f\r\x00") }

func (s *selector) setCategory(allowed bool, name string) ruleError {
	members, ok := category(name)
	if !ok {
		return unknown
	}
	s.note(allowed, "@"+name)
	for _, k := range members {
		s.set(k, allowed)
	}
	return noError
}

func (s *selector) setCommand(allowed bool, name string) ruleError {
	k := lookup(name)
	if k == nil {
		return unknown
	}
	s.set(k, allowed)
	s.note(allowed, k.name)
	return noError
}

// allowSub applies +command|subcommand, or +command|argument for a command without
// subcommands.
func (s *selector) allowSub(name string) ruleError {
	at := strings.LastIndexByte(name, '|')
	k, sub := lookup(name[:at]), name[at+1:]
	switch {
	case k == nil:
		return unknown
	case k.isSubcommand:
		return firstArgOfSub
	case sub == "":
		return syntax
	case len(k.subs) == 0:
		if !slices.Contains(s.firstArgs[k.bit], sub) {
			if s.firstArgs == nil {
				s.firstArgs = map[int][]string{}
			}
			s.firstArgs[k.bit] = append(slices.Clone(s.firstArgs[k.bit]), sub)
		}
		s.note(true, name)
		return noError
	}
	return s.setCommand(true, name)
}

// set allows or forbids a command with all its subcommands and first arguments.
func (s *selector) set(k *catalogueEntry, allowed bool) {
	delete(s.firstArgs, k.bit)
	s.setBit(k.bit, allowed)
	for _, bit := range k.subs {
		s.setBit(bit, allowed)
	}
}

func (s *selector) setBit(bit int, allowed bool) {
	if allowed {
		s.allowed[bit/64] |= 1 << (bit % 64)
		return
	}
	s.allowed[bit/64] &^= 1 << (bit % 64)
	s.allCommands = false
}

// note records a rule about commands. It replaces earlier rules about the same name and its
// subcommands.
func (s *selector) note(allowed bool, name string) {
	name = strings.ToLower(name)
	s.rules = slices.DeleteFunc(s.rules, func(rule string) bool {
		return rule[1:] == name || strings.HasPrefix(rule[1:], name+"|")
	})
	sign := "-"
	if allowed {
		sign = "+"
	}
	s.rules = append(s.rules, sign+name)
}

// allows reports whether the selector allows the command with this bit. first is its first
// argument, if has is true.
func (s *selector) allows(bit int, first []byte, has bool) bool {
	if s.allowed[bit/64]&(1<<(bit%64)) != 0 {
		return true
	}
	return has && slices.ContainsFunc(s.firstArgs[bit], func(arg string) bool { return strings.EqualFold(arg, string(first)) })
}

// allowsKey reports whether the selector allows a key for the given access.
func (s *selector) allowsKey(key []byte, read, write bool, step func(n int)) bool {
	return s.allKeys || slices.ContainsFunc(s.keys, func(p keyPattern) bool {
		return (p.read || !read) && (p.write || !write) && glob.MatchCounted([]byte(p.pattern), key, false, step)
	})
}

// allowsChannel reports whether the selector allows a channel. A pattern must equal one of the
// selector's patterns.
func (s *selector) allowsChannel(channel []byte, isPattern bool, step func(n int)) bool {
	return s.allChannels || slices.ContainsFunc(s.channels, func(own string) bool {
		return isPattern && own == string(channel) || !isPattern && glob.MatchCounted([]byte(own), channel, false, step)
	})
}

func (s *selector) describeCommands() string {
	base := "-@all"
	if s.baseAll {
		base = "+@all"
	}
	return strings.Join(append([]string{base}, s.rules...), " ")
}

func (s *selector) describeKeys() string {
	if s.allKeys {
		return "~*"
	}
	all := make([]string, len(s.keys))
	for i, p := range s.keys {
		all[i] = p.String()
	}
	return strings.Join(all, " ")
}

func (s *selector) describeChannels() string {
	if s.allChannels {
		return "&*"
	}
	all := make([]string, len(s.channels))
	for i, pattern := range s.channels {
		all[i] = "&" + pattern
	}
	return strings.Join(all, " ")
}

// String returns the rules that make the selector.
func (s *selector) String() string {
	parts := []string{s.describeKeys(), s.describeChannels(), s.describeCommands()}
	if !s.allChannels {
		parts[1] = strings.TrimSuffix("resetchannels "+parts[1], " ")
	}
	return strings.TrimPrefix(strings.Join(parts, " "), " ")
}
