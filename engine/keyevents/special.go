package keyevents

import (
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

func set(c *Call) {
	k := c.key(1)
	at, over := c.expiry(3, len(c.Args))
	done := k.changed()
	switch {
	case k == nil:
		return
	case c.has(3, "GET") == 0:
		done = !c.Reply.IsNull()
	case over && !k.Before.Exists: // nor afterwards
		done = c.has(3, "XX") == 0
	}
	if !done {
		return
	}
	c.emitAfterNew('$', "set", k)
	if at > 0 {
		c.emit('g', "expire", k)
	}
	if k.After.Version == 0 { // it has expired already
		c.events = append(c.events, Expired(k.DB, k.Name, false)...)
	}
}

func setex(c *Call) {
	c.emitAfterNew('$', "set", c.key(1))
	c.emit('g', "expire", c.key(1))
}

func mset(c *Call) {
	for i := 1; i < len(c.Args); i += 2 {
		c.emitAfterNew('$', "set", c.key(i))
	}
}

// getex handles GETEX, which has no event when it only reads.
func getex(c *Call) {
	k := c.key(1)
	at, over := c.expiry(2, len(c.Args))
	switch {
	case k == nil || !k.Before.Exists:
	case over:
		c.emit('g', "del", k)
	case at > 0:
		c.emit('g', "expire", k)
	case k.Before.TTL && !k.After.TTL:
		c.emit('g', "persist", k)
	}
}

// bitfield adds the event of a call that writes, even if the bits stay the same.
func bitfield(c *Call) {
	n, wrote := 0, false
	for i := 2; i < len(c.Args); i++ {
		switch c.word(i) {
		case "OVERFLOW":
			i++
		case "GET":
			n, i = n+1, i+2
		case "SET", "INCRBY":
			wrote = wrote || n < len(c.Reply.Elems) && !c.Reply.Elems[n].IsNull()
			n, i = n+1, i+3
		}
	}
	k := c.key(1)
	switch {
	case wrote:
		c.emitAfterNew('$', "setbit", k)
	case k != nil && !k.Before.Exists && k.After.Exists: // created for a write
		c.emitNew(k)
	}
}

func deleted(c *Call) {
	for i := range c.Keys {
		c.emitIfGone(&c.Keys[i])
	}
}

func expire(c *Call) {
	k := c.key(1)
	switch {
	case !c.positive() || k == nil:
	case k.After.Exists:
		c.emit('g', "expire", k)
	default:
		c.emit('g', "del", k)
	}
}

func rename(c *Call) {
	from, to := c.key(1), c.key(2)
	if from == nil || to == nil || from == to {
		return
	}
	c.emitNew(to)
	c.emit('g', "rename_from", from)
	c.emit('g', "rename_to", to)
}

func copied(c *Call) {
	if !c.positive() {
		return
	}
	to := c.named(c.other(), c.Args[2])
	if to != nil {
		c.emitNew(to)
	}
	c.emit('g', "copy_to", to)
}

func (c *Call) other() int { return OtherDB(c.Command, c.Args, c.DB) }

// OtherDB returns the database that MOVE and COPY write to, and db for any other command.
func OtherDB(command string, args [][]byte, db int) int {
	c := Call{Args: args}
	switch command {
	case "MOVE":
		return c.number(2)
	case "COPY":
		for i := 3; i < len(args); i++ {
			if c.word(i) == "DB" {
				db = c.number(i + 1)
			}
		}
	}
	return db
}

func moved(c *Call) {
	if !c.positive() {
		return
	}
	to := c.named(c.other(), c.Args[1])
	if to != nil {
		c.emitNew(to)
	}
	c.emit('g', "move_from", c.key(1))
	c.emit('g', "move_to", to)
}

func restored(c *Call) {
	k := c.key(1)
	if k == nil {
		return
	}
	if !k.After.Exists {
		c.emitIfGone(k)
		return
	}
	c.emitNew(k)
	c.emit('g', "restore", k)
}

func sorted(c *Call) {
	if at := storeOption("STORE")(c); at > 0 {
		stored('l', "sortstore", func(*Call) int { return at })(c)
	}
}

// listMove handles LMOVE and similar commands: the push comes first.
func listMove(c *Call) {
	from, to := c.key(1), c.key(2)
	if c.Reply.IsNull() || from == nil || to == nil {
		return
	}
	pop, push := "rpop", "lpush"
	if !strings.HasSuffix(c.Command, "RPOPLPUSH") {
		pop, push = strings.ToLower(c.word(3)[:1])+"pop", strings.ToLower(c.word(4)[:1])+"push"
	}
	c.emitAfterNew('l', push, to)
	c.emit('l', pop, from)
	c.emitIfGone(from)
}

// popped handles commands that pop from the first of their keys that is not empty.
func popped(c *Call) {
	if c.Reply.IsNull() || len(c.Reply.Elems) == 0 {
		return
	}
	k := c.named(c.DB, c.Reply.Elems[0].Str)
	class, name := byte('l'), ""
	if strings.Contains(c.Command, "Z") {
		class = 'z'
	}
	switch c.Command {
	case "BLPOP", "BRPOP":
		name = strings.ToLower(c.Command[1:])
	case "BZPOPMIN", "BZPOPMAX":
		name = strings.ToLower(c.Command[1:])
	default:
		at := 1
		if c.Command[0] == 'B' {
			at = 2
		}
		where := c.word(at + 1 + c.number(at))
		if class == 'z' {
			name = "zpop" + strings.ToLower(where)
		} else {
			name = strings.ToLower(where[:1]) + "pop"
		}
	}
	c.emit(class, name, k)
	c.emitIfGone(k)
}

func setMove(c *Call) {
	from, to := c.key(1), c.key(2)
	if !c.positive() || from == to {
		return
	}
	c.emit('s', "srem", from)
	c.emitIfGone(from)
	if to.changed() {
		c.emitAfterNew('s', "sadd", to)
	}
}

func zadd(c *Call) {
	name := "zadd"
	for i := 2; ; i++ {
		switch c.word(i) {
		case "NX", "XX", "GT", "LT", "CH":
			continue
		case "INCR":
			name = "zincr"
			continue
		}
		break
	}
	firstKey('z', name, touched)(c)
}

func oneOf(n int64) func(*Call) bool {
	return func(c *Call) bool { return c.any(func(v resp.Value) bool { return v.Kind == resp.Int && v.Int == n }) }
}

// found reports whether any element of the reply is not null.
func found(c *Call) bool { return c.any(func(v resp.Value) bool { return !v.IsNull() }) }

func hexpire(c *Call) {
	k := c.key(1)
	if oneOf(1)(c) {
		c.emit('h', "hexpire", k)
	}
	if oneOf(2)(c) {
		c.emit('h', "hdel", k)
		c.emitIfGone(k)
	}
}

func hgetex(c *Call) {
	k := c.key(1)
	fields := c.has(2, "FIELDS")
	at, over := c.expiry(2, fields)
	switch {
	case k == nil || !found(c):
	case over:
		c.emit('h', "hdel", k)
		c.emitIfGone(k)
	case at > 0:
		c.emit('h', "hexpire", k)
	case k.changed():
		c.emit('h', "hpersist", k)
	}
}

func hsetex(c *Call) {
	k := c.key(1)
	if !c.positive() || k == nil {
		return
	}
	c.emitAfterNew('h', "hset", k)
	at, over := c.expiry(2, c.has(2, "FIELDS"))
	switch {
	case over:
		c.emit('h', "hdel", k)
	case at > 0:
		c.emit('h', "hexpire", k)
	}
	if !k.After.Exists {
		c.emit('g', "del", k)
	}
}

func xadd(c *Call) {
	k := c.key(1)
	if c.Reply.IsNull() || k == nil {
		return
	}
	c.emitAfterNew('t', "xadd", k)
	before := k.Before.Count
	if !k.Before.Exists {
		before = 0
	}
	if k.After.Count <= before {
		c.emit('t', "xtrim", k)
	}
}

// group returns the rule for a subcommand of XGROUP.
func group(name string, when func(*Call) bool) rule {
	return func(c *Call) {
		if when(c) {
			c.emitAfterNew('t', name, c.key(2))
		}
	}
}

// consumers adds the events of consumers that a command creates by naming them.
func consumers(c *Call) {
	for i := range c.Keys {
		if k := &c.Keys[i]; k.After.Consumers > k.Before.Consumers {
			c.emit('t', "xgroup-createconsumer", k)
		}
	}
}
