// Package keyevents says which keyspace events a call causes, and in which order:
// https://redis.io/docs/latest/develop/pubsub/keyspace-notifications/
//
// It is pure. It is told what the call was, its reply, and what its keys were before and after.
package keyevents
