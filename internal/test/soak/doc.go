// Package soak has servers work under what befalls them in the field, in processes of
// their own, and checks what is left. Clients write by the Redis protocol and by REST,
// and know what was acknowledged: it must be there, and what was cut is whole or absent.
//
// TestCrash kills two servers that have one file open and sweep all the time, again and
// again. What all clients did to some shared keys must have been linearizable.
// TestSoak has a crowd use one server: besides those who write, some use every type, wait for
// each other at lists and channels, ask for more than there is room for, hang up in the middle, or
// never read; another
// process locks the file, and the server is killed and started again. It must answer no
// error that is not meant, take no more and more memory, and leave a sound file.
//
//	go test ./internal/test/soak                      some kills, a small crowd
//	make crash                                   as many kills as fit in ten minutes
//	make soak                                    1000 clients, some minutes
package soak
