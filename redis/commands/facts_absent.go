//go:build wasip1

package commands

// facts returns what COMMAND DOCS says in the Worker, whose program has no room for more: the arguments.
func (c *Command) facts() *facts { return &facts{args: c.SyntaxTree()} }
