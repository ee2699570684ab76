// Package follow applies the replication stream of a Redis server to a session.
//
// An Applier collects commands in batches. Each batch takes effect in one transaction together with the position in the
// stream that it reaches, which is a key of the target (position.go). After a failure the key shows whether the last batch
// took effect, so each command takes effect exactly once.
//
// The package imports no client: the caller reads the stream, and reconnects.
package follow
