package commands

// listens is what the commands that begin to listen have in common.
const listens = Looks | OfConnection | NeedsConnection | Listens

// The commands of messages, which are not stored, and MONITOR, which makes messages of commands.
var pubsubCommands = []Command{
	{
		Name: "SUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -2, Flags: PubSub | session,
		Traits:  listens,
		Summary: "Listens to channels",
		Syntax:  "channel [channel ...]",
	},
	{
		Name: "UNSUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -1, Flags: PubSub | session,
		Traits:  Looks | NeedsConnection | Unpaired,
		Summary: "Stops to listen to channels, or to all",
		Syntax:  "[channel [channel ...]]",
	},
	{
		Name: "PSUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -2, Flags: PubSub | session,
		Traits:  listens,
		Summary: "Listens to the channels that match patterns",
		Syntax:  "pattern [pattern ...]",
	},
	{
		Name: "PUNSUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -1, Flags: PubSub | session,
		Traits:  Looks | NeedsConnection | Unpaired,
		Summary: "Stops to listen by patterns, or by all",
		Syntax:  "[pattern [pattern ...]]",
	},
	{
		Name: "SSUBSCRIBE", Group: "pubsub", Since: "7.0.0", Arity: -2, Flags: PubSub | session,
		Traits:  listens,
		Summary: "Listens to shard channels, which patterns do not reach",
		Syntax:  "shardchannel [shardchannel ...]", Keys: []KeySpec{keysFrom(NotKey, 1, -1, 1)},
	},
	{
		Name: "SUNSUBSCRIBE", Group: "pubsub", Since: "7.0.0", Arity: -1, Flags: PubSub | session,
		Traits:  Looks | NeedsConnection | Unpaired,
		Summary: "Stops to listen to shard channels, or to all",
		Syntax:  "[shardchannel [shardchannel ...]]", Keys: []KeySpec{keysFrom(NotKey, 1, -1, 1)},
	},
	{
		Name: "PUBLISH", Group: "pubsub", Since: "2.0.0", Arity: 3, Flags: PubSub | Loading | Stale | Fast,
		Traits:  Replicates,
		Summary: "Sends a message to those who listen to a channel, and counts them",
		Syntax:  "channel message",
	},
	{
		Name: "SPUBLISH", Group: "pubsub", Since: "7.0.0", Arity: 3, Flags: PubSub | Loading | Stale | Fast,
		Traits:  Replicates,
		Summary: "Sends a message to those who listen to a shard channel, and counts them",
		Syntax:  "shardchannel message", Keys: []KeySpec{oneKey(NotKey, 1)},
	},
	{
		Name: "PUBSUB", Group: "pubsub", Since: "2.8.0", Arity: -2,
		Summary: "Holds the commands about who listens",
	},
	{
		Name: "PUBSUB CHANNELS", Group: "pubsub", Since: "2.8.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: Looks, Replies: []Reply{{Columns: []string{"channel"}}},
		Summary: "Lists the channels that somebody listens to, or those that match a pattern",
		Syntax:  "[pattern]",
	},
	{
		Name: "PUBSUB HELP", Group: "pubsub", Since: "6.2.0", Arity: 2, Flags: Loading | Stale,
		Traits:     Looks,
		Summary:    "Lists the subcommands",
		Categories: []string{},
	},
	{
		Name: "PUBSUB NUMPAT", Group: "pubsub", Since: "2.8.0", Arity: 2, Flags: PubSub | Loading | Stale,
		Traits:  Looks,
		Summary: "Counts the patterns that somebody listens by",
	},
	{
		Name: "PUBSUB NUMSUB", Group: "pubsub", Since: "2.8.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: Looks, Replies: subscribers,
		Summary: "Counts those who listen to channels",
		Syntax:  "[channel [channel ...]]",
	},
	{
		Name: "PUBSUB SHARDCHANNELS", Group: "pubsub", Since: "7.0.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: Looks, Replies: []Reply{{Columns: []string{"channel"}}},
		Summary: "Lists the shard channels that somebody listens to, or those that match a pattern",
		Syntax:  "[pattern]",
	},
	{
		Name: "PUBSUB SHARDNUMSUB", Group: "pubsub", Since: "7.0.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: Looks, Replies: subscribers,
		Summary: "Counts those who listen to shard channels",
		Syntax:  "[shardchannel [shardchannel ...]]",
	},
	{
		Name: "MONITOR", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | session,
		Traits:  listens,
		Summary: "Shows the commands of all clients as they run",
	},
}
