package acl

import (
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
)

// Reason is why something was refused. Of several the greatest is told.
type Reason byte

const (
	Allowed Reason = iota
	ByCommand
	ByKey
	ByPassword
	ByChannel
)

func (r Reason) String() string { return [...]string{"", "command", "key", "auth", "channel"}[r] }

// Denial is what a check found: that a call is allowed, or which of its arguments is not.
// The command stands at 0.
type Denial struct {
	Reason Reason
	At     int
}

// Check says whether the user may run a call of cmd, which args are. It changes nothing.
func (u *User) Check(cmd *commands.Command, args [][]byte) Denial {
	r := u.rights.Load()
	if r.unlimited {
		return Denial{}
	}
	d := Denial{Reason: ByCommand}
	for _, s := range r.selectors {
		switch found := s.check(cmd, args); {
		case found.Reason == Allowed:
			return found
		case found.Reason > d.Reason, found.Reason == d.Reason && found.At > d.At:
			d = found
		}
	}
	return d
}

func (s *selector) check(cmd *commands.Command, args [][]byte) Denial {
	if !s.allCommands && cmd.Flags&commands.NoAuth == 0 {
		k := theCatalogue().called(cmd)
		at := 1
		if k.ofAnother {
			at = 2
		}
		var first []byte
		if at < len(args) {
			first = args[at]
		}
		if !s.runs(k.bit, first, at < len(args)) {
			return Denial{Reason: ByCommand}
		}
	}
	if !s.allKeys && cmd.WellFormed(args) { // the reply to another is an error
		for _, ref := range cmd.KeysOf(args) {
			if read, write := ref.Access.Needs(); !s.reaches(args[ref.Pos], read, write) {
				return Denial{ByKey, ref.Pos}
			}
		}
	}
	if spec, has := channels[cmd.Name]; has && !s.allChannels {
		end := len(args)
		if spec.single {
			end = min(end, 2)
		}
		for i := 1; i < end; i++ {
			if !s.hears(args[i], spec.pattern) {
				return Denial{ByChannel, i}
			}
		}
	}
	return Denial{}
}

// channels are the commands whose arguments are channels that they speak or listen to.
var channels = map[string]struct{ single, pattern bool }{
	"SUBSCRIBE": {}, "PSUBSCRIBE": {pattern: true}, "SSUBSCRIBE": {},
	"PUBLISH": {single: true}, "SPUBLISH": {single: true},
}

// Hears reports whether the user may listen to the channel, or by the pattern, whatever commands it
// may run.
func (u *User) Hears(channel []byte, isPattern bool) bool {
	return slices.ContainsFunc(u.rights.Load().selectors, func(s *selector) bool { return s.hears(channel, isPattern) })
}

// Why is the error text of a denial without its code. Only an administrator's shows what
// key or channel it was.
func (u *User) Why(d Denial, cmd *commands.Command, args [][]byte, shown bool) string {
	switch kind := d.Reason.String(); {
	case d.Reason == ByCommand:
		return "User " + u.name + " has no permissions to run the '" + nameOf(cmd) + "' command"
	case shown:
		return "User " + u.name + " has no permissions to access the '" + commands.Clip(args[d.At], len(args[d.At])) + "' " + kind
	default:
		return "No permissions to access a " + kind
	}
}

// Object is what a denial is about, as the log has it: the command, the key or the
// channel.
func (u *User) Object(d Denial, cmd *commands.Command, args [][]byte) string {
	if d.Reason == ByCommand {
		return nameOf(cmd)
	}
	return string(args[d.At])
}

// nameOf is the command as Redis names it: DEBUG without its subcommand.
func nameOf(cmd *commands.Command) string {
	if name := theCatalogue().called(cmd).name; name == "debug" {
		return name
	}
	return cmd.WireName()
}

// AllKeys reports whether the user may run the call with any key, reading: only then may
// SORT look at keys that the call does not name.
func (u *User) AllKeys(cmd *commands.Command, args [][]byte) bool {
	r := u.rights.Load()
	for _, s := range r.selectors {
		if r.unlimited || s.readsAll() && s.check(cmd, args).Reason == Allowed {
			return true
		}
	}
	return false
}

// readsAll reports whether any key may be read.
func (s *selector) readsAll() bool {
	if s.allKeys {
		return true
	}
	for _, p := range s.keys {
		if p.pattern == "*" && p.read {
			return true
		}
	}
	return false
}
