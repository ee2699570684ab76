package commands

// Traits are what programs around a command have to know of it, and its flags do not
// say. A subcommand has those of its container, too.
type Traits uint16

const (
	// ReadsOnly leaves the data and the server as they are, though its flags do not say so.
	ReadsOnly Traits = 1 << iota
	// Dangerous destroys much at once, or changes or stops the server: the user may
	// want to be asked before it runs.
	Dangerous
	// ChangesServer changes the server and no key.
	ChangesServer
	// OfConnection is about the client's connection and nothing else.
	OfConnection
	// NeedsConnection cannot be one request: it acts on a connection, or waits at it.
	NeedsConnection
	// Repeatable leaves and answers the same when it runs twice. A SET does so without
	// the options that look at what is there.
	Repeatable
	// AnswersOK answers the status OK when all is well.
	AnswersOK
	// Scripts runs code, which may write other keys than the call names.
	Scripts
	// OpensStream makes the connection a stream of messages, which each are a reply.
	OpensStream
	// Unpaired does not answer one reply to one call: none, several, or a stream.
	Unpaired
	// Report answers a text for people.
	Report
	// Replicates may be passed on to replicas, though it writes nothing: scripts that only read may
	// not run it.
	Replicates
)

// Has reports whether the command has a trait. It is false for a nil command.
func (c *Command) Has(t Traits) bool { return c != nil && c.Traits&t != 0 }

// LeavesAll reports whether the command leaves the data and the server as they are.
func (c *Command) LeavesAll() bool {
	switch {
	case c.Has(ReadsOnly) || c.Flags&ReadOnly != 0:
		return true
	case c.Group == "scripting": // a script does what it likes
		return false
	case c.Flags == 0 && len(c.subs) > 0: // its subcommand is unknown
		return false
	}
	return c.Flags&(Write|Admin|PubSub) == 0 && !c.Has(Dangerous|ChangesServer)
}
