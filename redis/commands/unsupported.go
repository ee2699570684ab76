package commands

// Unsupported holds commands of Redis servers that meowdis does not run, with the flags of
// Redis 8.10 and the traits.
var Unsupported = newTable([]Command{
	{Name: "BACKUP", Group: "server", Arity: 2},
	{Name: "BACKUP ABORT", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP CLEANUP", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP LIST", Group: "server", Arity: 2, Flags: Admin | Stale, Traits: ReadsOnly},
	{Name: "BACKUP SEAL", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP START", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP STATUS", Group: "server", Arity: 2, Flags: Admin | Stale, Traits: ReadsOnly},
	{Name: "HOTKEYS", Group: "server", Arity: -2},
	{Name: "HOTKEYS GET", Group: "server", Arity: 2, Flags: Admin | NoScript, Traits: ReadsOnly},
	{Name: "HOTKEYS RESET", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "HOTKEYS START", Group: "server", Arity: -2, Flags: Admin | NoScript},
	{Name: "HOTKEYS STOP", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "MIGRATE", Group: "generic", Arity: -6, Flags: Write | MovableKeys, Traits: Dangerous, Categories: []string{"keyspace", "dangerous"}},
	{Name: "SCRIPT DEBUG", Group: "scripting", Arity: 3, Flags: NoScript},
})

// Known returns the command named by args, without checking the arity: ours, or one of
// Unsupported, or at least its container. It returns nil if the name is unknown.
func Known(args [][]byte) *Command {
	if len(args) == 0 {
		return nil
	}
	for _, table := range []*Table{Ours, Unsupported} {
		if c := table.Called(args); c != nil {
			return c
		}
	}
	if c := Ours.first(args[0]); c != nil {
		return c
	}
	return Unsupported.first(args[0])
}
