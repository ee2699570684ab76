package commands

// Elsewhere are commands of Redis servers that meowdis does not run, as far as others
// have to know what they are about: the flags of Redis 8.10, and the traits.
var Elsewhere = newTable([]Command{
	{Name: "BACKUP", Group: "server", Arity: 2},
	{Name: "BACKUP ABORT", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP CLEANUP", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP LIST", Group: "server", Arity: 2, Flags: Admin | Stale, Traits: Looks},
	{Name: "BACKUP SEAL", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP START", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "BACKUP STATUS", Group: "server", Arity: 2, Flags: Admin | Stale, Traits: Looks},
	{Name: "CLUSTER", Group: "cluster", Arity: -2},
	{Name: "CLUSTER COUNT-FAILURE-REPORTS", Group: "cluster", Arity: 3, Flags: Admin | Loading | Stale, Traits: Looks},
	{Name: "CLUSTER COUNTKEYSINSLOT", Group: "cluster", Arity: 3, Flags: Stale, Traits: Looks},
	{Name: "CLUSTER FAILOVER", Group: "cluster", Arity: -2, Flags: Admin | Stale | NoAsyncLoading, Traits: Dangerous},
	{Name: "CLUSTER GETKEYSINSLOT", Group: "cluster", Arity: 4, Flags: Stale, Traits: Looks},
	{Name: "CLUSTER HELP", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER INFO", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks | Report},
	{Name: "CLUSTER KEYSLOT", Group: "cluster", Arity: 3, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER LINKS", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER MYID", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER MYSHARDID", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER NODES", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks | Report},
	{Name: "CLUSTER REPLICAS", Group: "cluster", Arity: 3, Flags: Admin | Loading | Stale, Traits: Looks},
	{Name: "CLUSTER RESET", Group: "cluster", Arity: -2, Flags: Admin | NoScript | Stale, Traits: Dangerous},
	{Name: "CLUSTER SHARDS", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER SLAVES", Group: "cluster", Arity: 3, Flags: Admin | Loading | Stale, Traits: Looks},
	{Name: "CLUSTER SLOT-STATS", Group: "cluster", Arity: -4, Flags: Loading | Stale, Traits: Looks},
	{Name: "CLUSTER SLOTS", Group: "cluster", Arity: 2, Flags: Loading | Stale, Traits: Looks},
	{Name: "FAILOVER", Group: "server", Arity: -1, Flags: Admin | NoScript | Stale, Traits: Dangerous},
	{Name: "HOTKEYS", Group: "server", Arity: -2},
	{Name: "HOTKEYS GET", Group: "server", Arity: 2, Flags: Admin | NoScript, Traits: Looks},
	{Name: "HOTKEYS RESET", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "HOTKEYS START", Group: "server", Arity: -2, Flags: Admin | NoScript},
	{Name: "HOTKEYS STOP", Group: "server", Arity: 2, Flags: Admin | NoScript},
	{Name: "MEMORY", Group: "server", Arity: -2},
	{Name: "MEMORY MALLOC-STATS", Group: "server", Arity: 2, Traits: Looks},
	{Name: "MEMORY STATS", Group: "server", Arity: 2, Traits: Looks, Replies: aMap},
	{Name: "MIGRATE", Group: "generic", Arity: -6, Flags: Write | MovableKeys, Traits: Dangerous, Categories: []string{"keyspace", "dangerous"}},
	{Name: "MODULE LOAD", Group: "server", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading},
	{Name: "MODULE LOADEX", Group: "server", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading},
	{Name: "MODULE UNLOAD", Group: "server", Arity: 3, Flags: Admin | NoScript | NoAsyncLoading},
	{Name: "READONLY", Group: "cluster", Arity: 1, Flags: Loading | Stale | Fast, Categories: []string{"connection"}},
	{Name: "READWRITE", Group: "cluster", Arity: 1, Flags: Loading | Stale | Fast, Categories: []string{"connection"}},
	{Name: "REPLICAOF", Group: "server", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading, Traits: Dangerous},
	{Name: "SCRIPT DEBUG", Group: "scripting", Arity: 3, Flags: NoScript},
	{Name: "SLAVEOF", Group: "server", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading, Traits: Dangerous},
})

// Known is the command that args name, whatever their number: one of ours, or of a
// server's, or at least its container. It returns nil for one that neither has.
func Known(args [][]byte) *Command {
	if len(args) == 0 {
		return nil
	}
	for _, table := range []*Table{Ours, Elsewhere} {
		if c := table.Called(args); c != nil {
			return c
		}
	}
	if c := Ours.first(args[0]); c != nil {
		return c
	}
	return Elsewhere.first(args[0])
}
