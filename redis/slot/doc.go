// Package slot knows the hash slots of Redis Cluster: which slot a key is in, and a tag that puts a key into a slot.
package slot
