// Package keyevents returns the keyspace events that a call causes, in Redis's order:
// https://redis.io/docs/latest/develop/pubsub/keyspace-notifications/
//
// It is pure. Its input is the call, its reply, and the state of its keys before and after.
package keyevents
