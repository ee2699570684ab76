package acl

import (
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
)

// Reason gives the cause of a denial. If several apply, the greatest is reported.
type Reason byte

const (
	Allowed Reason = iota
	ByCommand
	ByKey
	ByPassword
	ByChannel
)

func (r Reason) String() string { return [...]string{"", "command", "key", "auth", "channel"}[r] }

// Denial holds the result of a check: the call is allowed, or one of its arguments is refused.
// Argument 0 is the command.
type Denial struct {
	Reason Reason
	At     int
}

// Check reports whether the user may run cmd with args. It changes nothing.
func (u *User) Check(cmd *commands.Command, args [][]byte) Denial {
	return u.CheckCounted(cmd, args, nil)
}

// CheckCounted is like Check, and calls step, if not nil, with the steps of matching patterns.
func (u *User) CheckCounted(cmd *commands.Command, args [][]byte, step func(n int)) Denial {
	r := u.rights.Load()
	if r.unlimited {
		return Denial{}
	}
	d := Denial{Reason: ByCommand}
	for _, s := range r.selectors {
		switch found := s.check(cmd, args, step); {
		case found.Reason == Allowed:
			return found
		case found.Reason > d.Reason, found.Reason == d.Reason && found.At > d.At:
			d = found
		}
	}
	return d
}

func (s *selector) check(cmd *commands.Command, args [][]byte, step func(n int)) Denial {
	if !s.allCommands && cmd.Flags&commands.NoAuth == 0 && !s.allowsCommand(cmd, args) {
		return Denial{Reason: ByCommand}
	}
	if !s.allKeys && cmd.WellFormed(args) { // other calls get an error reply
		for _, ref := range cmd.KeysOf(args) {
			if read, write := ref.Access.Needs(); !s.allowsKey(args[ref.Pos], read, write, step) {
				return Denial{ByKey, ref.Pos}
			}
		}
	}
	if spec, has := channelArgs[cmd.Name]; has && !s.allChannels {
		end := len(args)
		if spec.single {
			end = min(end, 2)
		}
		for i := 1; i < end; i++ {
			if !s.allowsChannel(args[i], spec.pattern, step) {
				return Denial{ByChannel, i}
			}
		}
	}
	return Denial{}
}

// allowsCommand reports whether the selector allows cmd with its first argument, or with the first one of its
// subcommand.
func (s *selector) allowsCommand(cmd *commands.Command, args [][]byte) bool {
	k := theCatalogue().entryOf(cmd)
	at := 1
	if k.isSubcommand {
		at = 2
	}
	if at >= len(args) {
		return s.allows(k.bit, nil, false)
	}
	return s.allows(k.bit, args[at], true)
}

// channelArgs maps the commands that publish or subscribe to their kind of channel arguments.
var channelArgs = map[string]struct{ single, pattern bool }{
	"SUBSCRIBE": {}, "PSUBSCRIBE": {pattern: true}, "SSUBSCRIBE": {},
	"PUBLISH": {single: true}, "SPUBLISH": {single: true},
}

// AllowsChannel reports whether the user may subscribe to a channel, or to a pattern. It does not
// check commands.
func (u *User) AllowsChannel(channel []byte, isPattern bool) bool {
	return slices.ContainsFunc(u.rights.Load().selectors, func(s *selector) bool { return s.allowsChannel(channel, isPattern, nil) })
}

// DenialText returns the error text of a denial, without its code. The text names the key or channel
// only if shown is set, for administrators.
func (u *User) DenialText(d Denial, cmd *commands.Command, args [][]byte, shown bool) string {
	switch kind := d.Reason.String(); {
	case d.Reason == ByCommand:
		return "User " + u.name + " has no permissions to run the '" + nameOf(cmd) + "' command"
	case shown:
		return "User " + u.name + " has no permissions to access the '" + commands.Clip(args[d.At], len(args[d.At])) + "' " + kind
	default:
		return "No permissions to access a " + kind
	}
}

// DeniedObject returns the command, key or channel that was denied, as ACL LOG shows it.
func (u *User) DeniedObject(d Denial, cmd *commands.Command, args [][]byte) string {
	if d.Reason == ByCommand {
		return nameOf(cmd)
	}
	return string(args[d.At])
}

// nameOf returns Redis's name for cmd: DEBUG comes without its subcommand.
func nameOf(cmd *commands.Command) string {
	if name := theCatalogue().entryOf(cmd).name; name == "debug" {
		return name
	}
	return cmd.WireName()
}

// AllKeys reports whether the user may run the call and read any key. SORT may read keys that
// the call does not name only then.
func (u *User) AllKeys(cmd *commands.Command, args [][]byte) bool {
	r := u.rights.Load()
	for _, s := range r.selectors {
		if r.unlimited || s.readsAll() && s.check(cmd, args, nil).Reason == Allowed {
			return true
		}
	}
	return false
}

// readsAll reports whether the selector allows reading any key.
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
