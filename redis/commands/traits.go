package commands

// Traits are properties of a command that its flags do not cover. A subcommand also has its
// container's traits.
type Traits uint16

const (
	// ReadsOnly commands change neither the data nor the server, though their flags do not show
	// it.
	ReadsOnly Traits = 1 << iota
	// Dangerous commands destroy much at once, or change or stop the server: the user may want a
	// confirmation.
	Dangerous
	// ChangesServer commands change the server and no key.
	ChangesServer
	// OfConnection commands concern only the client's connection.
	OfConnection
	// NeedsConnection commands cannot be one request: they act on a connection, or wait on it.
	NeedsConnection
	// Repeatable commands have the same effect and reply when run twice. SET is repeatable without
	// the options that depend on the old value.
	Repeatable
	// AnswersOK commands reply OK on success.
	AnswersOK
	// Scripts commands run code, which may write keys that the call does not name.
	Scripts
	// OpensStream commands turn the connection into a stream of messages, each a reply.
	OpensStream
	// Unpaired commands do not give one reply per call: none, several, or a stream.
	Unpaired
	// Report commands reply with a text for users.
	Report
	// Replicates commands may be sent to replicas, though they write nothing. Read-only scripts
	// may not run them.
	Replicates
)

// Has reports whether the command has a trait. It returns false for a nil command.
func (c *Command) Has(t Traits) bool { return c != nil && c.Traits&t != 0 }

// ChangesNothing reports whether the command changes neither the data nor the server.
func (c *Command) ChangesNothing() bool {
	switch {
	case c.Has(ReadsOnly) || c.Flags&ReadOnly != 0:
		return true
	case c.Group == "scripting": // a script may do anything
		return false
	case c.Flags == 0 && len(c.subs) > 0: // the subcommand is unknown
		return false
	}
	return c.Flags&(Write|Admin|PubSub) == 0 && !c.Has(Dangerous|ChangesServer)
}
