// Package crash kills servers while clients write, and looks at what is left. Two of them
// have one file open, in processes of their own that sweep all the time; clients write by
// the Redis protocol and by REST. Whatever was acknowledged must be there, and what a crash
// cut is whole or absent.
//
//	go test ./internal/crash                     some kills
//	make crash                                   as many as fit in ten minutes
package crash
