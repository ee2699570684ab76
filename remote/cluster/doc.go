// Package cluster is a session on a Redis Cluster. It sends each command to the node that has the command's keys,
// commands about all keys to all masters, and SCAN slot by slot, so that verbs need not know that the keys are spread.
//
// docs/design/clusters.md has the invariants.
package cluster
