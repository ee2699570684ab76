package commands

// subscribing holds the traits of the commands that subscribe.
const subscribing = ReadsOnly | OfConnection | NeedsConnection | OpensStream

// The publish/subscribe commands, and MONITOR, which turns commands into messages. Messages
// are not stored.
var pubsubCommands = []Command{
	{
		Name: "SUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -2, Flags: PubSub | sessionFlags,
		Traits:  subscribing,
		Summary: "Subscribes to channels",
		Syntax:  "channel [channel ...]",
	},
	{
		Name: "UNSUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -1, Flags: PubSub | sessionFlags,
		Traits:  ReadsOnly | NeedsConnection | Unpaired,
		Summary: "Unsubscribes from channels, or from all",
		Syntax:  "[channel [channel ...]]",
	},
	{
		Name: "PSUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -2, Flags: PubSub | sessionFlags,
		Traits:  subscribing,
		Summary: "Subscribes to the channels that match patterns",
		Syntax:  "pattern [pattern ...]",
	},
	{
		Name: "PUNSUBSCRIBE", Group: "pubsub", Since: "2.0.0", Arity: -1, Flags: PubSub | sessionFlags,
		Traits:  ReadsOnly | NeedsConnection | Unpaired,
		Summary: "Unsubscribes from patterns, or from all",
		Syntax:  "[pattern [pattern ...]]",
	},
	{
		Name: "SSUBSCRIBE", Group: "pubsub", Since: "7.0.0", Arity: -2, Flags: PubSub | sessionFlags,
		Traits:  subscribing,
		Summary: "Subscribes to shard channels, which patterns do not match",
		Syntax:  "shardchannel [shardchannel ...]", Keys: []KeySpec{keysFrom(NotKey, 1, -1, 1)},
	},
	{
		Name: "SUNSUBSCRIBE", Group: "pubsub", Since: "7.0.0", Arity: -1, Flags: PubSub | sessionFlags,
		Traits:  ReadsOnly | NeedsConnection | Unpaired,
		Summary: "Unsubscribes from shard channels, or from all",
		Syntax:  "[shardchannel [shardchannel ...]]", Keys: []KeySpec{keysFrom(NotKey, 1, -1, 1)},
	},
	{
		Name: "PUBLISH", Group: "pubsub", Since: "2.0.0", Arity: 3, Flags: PubSub | Loading | Stale | Fast,
		Traits:  Replicates,
		Summary: "Sends a message to a channel and returns the number of its receivers",
		Syntax:  "channel message",
	},
	{
		Name: "SPUBLISH", Group: "pubsub", Since: "7.0.0", Arity: 3, Flags: PubSub | Loading | Stale | Fast,
		Traits:  Replicates,
		Summary: "Sends a message to a shard channel and returns the number of its receivers",
		Syntax:  "shardchannel message", Keys: []KeySpec{oneKey(NotKey, 1)},
	},
	{
		Name: "PUBSUB", Group: "pubsub", Since: "2.8.0", Arity: -2,
		Summary: "Commands about channels and their subscribers",
	},
	{
		Name: "PUBSUB CHANNELS", Group: "pubsub", Since: "2.8.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: ReadsOnly, Replies: []Reply{{Columns: []string{"channel"}}},
		Summary: "Lists the channels with subscribers, all or by pattern",
		Syntax:  "[pattern]",
	},
	{
		Name: "PUBSUB HELP", Group: "pubsub", Since: "6.2.0", Arity: 2, Flags: Loading | Stale,
		Traits:     ReadsOnly,
		Summary:    "Lists the subcommands",
		Categories: []string{},
	},
	{
		Name: "PUBSUB NUMPAT", Group: "pubsub", Since: "2.8.0", Arity: 2, Flags: PubSub | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Counts the patterns that have subscribers",
	},
	{
		Name: "PUBSUB NUMSUB", Group: "pubsub", Since: "2.8.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: ReadsOnly, Replies: subscribers,
		Summary: "Counts the subscribers of channels",
		Syntax:  "[channel [channel ...]]",
	},
	{
		Name: "PUBSUB SHARDCHANNELS", Group: "pubsub", Since: "7.0.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: ReadsOnly, Replies: []Reply{{Columns: []string{"channel"}}},
		Summary: "Lists the shard channels with subscribers, all or by pattern",
		Syntax:  "[pattern]",
	},
	{
		Name: "PUBSUB SHARDNUMSUB", Group: "pubsub", Since: "7.0.0", Arity: -2, Flags: PubSub | Loading | Stale,
		Traits: ReadsOnly, Replies: subscribers,
		Summary: "Counts the subscribers of shard channels",
		Syntax:  "[shardchannel [shardchannel ...]]",
	},
	{
		Name: "MONITOR", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | sessionFlags,
		Traits:  subscribing,
		Summary: "Shows the commands of all clients as they run",
	},
}
