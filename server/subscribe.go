package server

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// listenNames lists the commands that start messages to a client.
var listenNames = [][]byte{[]byte("MONITOR"), []byte("SUBSCRIBE"), []byte("PSUBSCRIBE"), []byte("SSUBSCRIBE")}

// startsMessages reports whether a command may start messages to its client.
func startsMessages(args [][]byte) bool {
	return isListenCommand(args[0]) || option(args, 0) == "CLIENT" && option(args, 1) == "TRACKING" && option(args, 2) == "ON"
}

func isListenCommand(name []byte) bool {
	if n := len(name); n != 7 && n != 9 && n != 10 {
		return false
	}
	return slices.ContainsFunc(listenNames, func(own []byte) bool { return bytes.EqualFold(name, own) })
}

// runOneByOne runs calls one at a time, since messages to the client must come before or after a reply, never within.
func (c *client) runOneByOne(ctx context.Context, calls [][][]byte) {
	for i := range calls {
		if c.monitors || c.server.notifies.Load() || sendsMessages(calls[i]) {
			c.inbox.hold() // its own messages follow its reply
		}
		c.beforeCommand(calls[i])
		c.pipeline(ctx, calls[i:i+1])
		c.afterCommand(calls[i])
		c.inbox.beforeReply()
		c.write(c.out)
		c.out = c.out[:0]
		if c.broken != nil || c.closed {
			return
		}
		c.inbox.release()
	}
	c.flushOwnChanges()
}

func sendsMessages(args [][]byte) bool {
	cmd := commands.Called(args)
	return cmd.Has(commands.Replicates) || cmd != nil && (cmd.Name == "EXEC" || cmd.Group == "scripting")
}

// subscriptions lists the commands that change a client's subscriptions.
var subscriptions = map[string]struct {
	kind pubsub.Kind
	ends bool
}{
	"SUBSCRIBE": {kind: pubsub.Channel}, "PSUBSCRIBE": {kind: pubsub.Pattern}, "SSUBSCRIBE": {kind: pubsub.Shard},
	"UNSUBSCRIBE": {pubsub.Channel, true}, "PUNSUBSCRIBE": {pubsub.Pattern, true}, "SUNSUBSCRIBE": {pubsub.Shard, true},
}

// subscribe runs SUBSCRIBE, UNSUBSCRIBE and their variants.
func (c *client) subscribe(name string, args [][]byte) resp.Value {
	how, hub := subscriptions[name], c.server.hub
	confirmations := resp.Value{Kind: resp.Several}
	confirm := func(v resp.Value) { confirmations.Elems = append(confirmations.Elems, v) }
	if how.ends {
		channels := args[1:]
		if len(channels) == 0 {
			channels = hub.Names(&c.inbox, how.kind)
		}
		for _, channel := range channels {
			confirm(pubsub.Unsubscribed(how.kind, channel, c.count(how.kind, hub.Unsubscribe(&c.inbox, how.kind, channel))))
		}
		if len(channels) == 0 {
			confirm(pubsub.Unsubscribed(how.kind, nil, c.count(how.kind, hub.CountsOf(&c.inbox))))
		}
	} else {
		c.server.join(how.kind)
		c.inbox.hold()
		for _, channel := range args[1:] {
			confirm(pubsub.Subscribed(how.kind, channel, c.count(how.kind, hub.Subscribe(&c.inbox, how.kind, channel))))
		}
	}
	if len(confirmations.Elems) == 1 {
		return confirmations.Elems[0]
	}
	return confirmations
}

// count returns the number in a confirmation. Shard channels have their own count.
func (c *client) count(kind pubsub.Kind, n pubsub.Counts) int {
	c.subscribed = n[pubsub.Channel] + n[pubsub.Pattern] + n[pubsub.Shard]
	c.classify()
	if kind == pubsub.Shard {
		return n[pubsub.Shard]
	}
	return n[pubsub.Channel] + n[pubsub.Pattern]
}

// classify sets the client's class of client-output-buffer-limit. A client that monitors counts as a replica.
func (c *client) classify() {
	c.isSubscribed.Store(c.subscribed > 0)
	switch {
	case c.monitors, c.isReplica.Load():
		c.class.Store(replicaClass)
	case c.subscribed > 0:
		c.class.Store(pubsubClass)
	default:
		c.class.Store(normalClass)
	}
}

// monitor runs MONITOR. A second MONITOR gets no reply.
func (c *client) monitor([][]byte) resp.Value {
	if c.monitors {
		return resp.Value{Kind: resp.Several}
	}
	c.server.join(pubsub.Commands)
	c.inbox.hold()
	c.monitors = true
	c.classify()
	c.server.hub.Subscribe(&c.inbox, pubsub.Commands, nil)
	return resp.OK
}

// join subscribes the hub to messages of other processes and logs a failure.
func (s *Server) join(kind pubsub.Kind) {
	err := s.hub.Join(kind)
	if err == nil {
		return
	}
	if suppressed, is := s.failures.shouldLog(err.Error(), time.Now()); is {
		s.config.Logger.Warn("cannot receive messages of other processes on the file", "error", err, "suppressed", suppressed)
	}
}

// guard checks a call against the user's permissions and the state of the connection.
func (c *client) guard(cmd *commands.Command, args [][]byte, at engine.Moment, step func(int)) (v resp.Value, refused bool) {
	if v, refused = c.principal.guard(cmd, args, at, step); refused || !c.getsMessages && at != engine.Exec {
		return v, refused
	}
	if cmd.Name == "MONITOR" && at == engine.Exec {
		return resp.MakeError("ERR MONITOR isn't allowed for DENY BLOCKING client"), true
	}
	inContext := c.subscribed > 0 && !c.resp3
	switch {
	case inContext && cmd.Name == "PING" && len(args) <= 2 && (at == engine.Calling || at == engine.Exec):
		return pushedPong(args), true
	case at != engine.Calling && at != engine.Queueing:
		return v, false
	case inContext && !allowedWhenSubscribed(cmd):
		return resp.MakeError("ERR Can't execute '" + cmd.WireName() + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"), true
	case c.monitors && (cmd.Flags&(commands.Write|commands.ReadOnly) != 0 || cmd.Has(commands.Replicates)):
		return resp.MakeError("ERR Replica can't interact with the keyspace"), true
	}
	return v, false
}

// pushedPong replies to PING while messages may arrive, in a form that the client can distinguish from a message.
func pushedPong(args [][]byte) resp.Value {
	text := resp.EmptyBulk
	if len(args) > 1 {
		text = resp.MakeBulk(args[1])
	}
	return resp.MakeArray(resp.MakeString("pong"), text)
}

func allowedWhenSubscribed(cmd *commands.Command) bool {
	if _, is := subscriptions[cmd.Name]; is {
		return true
	}
	return cmd.Name == "PING" || cmd.Name == "QUIT" || cmd.Name == "RESET"
}

// isPushed reports whether a reply is a message, which CLIENT REPLY does not suppress.
func isPushed(v resp.Value) bool {
	return v.Kind == resp.Push || v.Kind == resp.Several
}

// maySubscribe reports whether the user may keep the subscriptions of s.
func maySubscribe(user *acl.User, hub *pubsub.Hub, s pubsub.Subscriber) bool {
	if user.Unlimited() {
		return true
	}
	for _, kind := range []pubsub.Kind{pubsub.Channel, pubsub.Pattern, pubsub.Shard} {
		for _, name := range hub.Names(s, kind) {
			if !user.AllowsChannel(name, kind == pubsub.Pattern) {
				return false
			}
		}
	}
	return true
}

// closeForbidden closes connections whose users no longer have permission for their subscriptions.
func (s *Server) closeForbidden(p *principal) {
	s.killAll(p.client, func(o *client) bool {
		user := o.user.Load()
		return !maySubscribe(user, s.hub, &o.inbox)
	})
	s.endStreams(func(st *stream) bool { return !st.may(s.hub) })
}
