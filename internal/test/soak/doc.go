// Package soak runs servers, in processes of their own, under the failures of the field, and
// checks the result. Clients write over the Redis protocol and REST, and record acknowledged
// writes: these must exist, and an interrupted write is complete or absent.
//
// TestCrash repeatedly kills two servers that have the same file open and sweep all the time.
// All operations of all clients on some shared keys must be linearizable. TestSoak runs many
// clients on one server. Besides the writers, some use every type, wait for each other at lists
// and channels, request more memory than available, disconnect in the middle, or never read.
// Another process locks the file, and the server is killed and restarted. It must reply only
// with expected errors, not use more and more memory, and leave a valid file.
//
//	go test ./internal/test/soak                      some kills, a small crowd
//	make crash                                   ten minutes of kills
//	make soak                                    1000 clients, some minutes
package soak
