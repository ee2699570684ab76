// Package pubsub delivers messages to subscribers of channels, patterns and shard channels, as
// https://redis.io/docs/latest/develop/pubsub/ describes, and lines of commands to the clients of MONITOR.
//
// A Hub serves one process. Hub.SetPeers connects it to the hubs of other processes.
package pubsub
