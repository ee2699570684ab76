// Package pubsub delivers messages to those who listen: to channels, to patterns of them and to
// shard channels, as https://redis.io/docs/latest/develop/pubsub/ says, and to those who watch all
// commands, as MONITOR does.
//
// A Hub is that of one process. What other processes have to do with it is asked through
// Hub.SetOthers.
package pubsub
