// Package clustertest runs a Redis Cluster beside a test: masters and replicas on free loopback ports, whose slots the
// test moves and whose nodes it kills.
package clustertest
