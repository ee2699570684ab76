// Package bus carries messages between the processes that share a file: each that listens has a unix
// socket in a directory beside it, FILE-bus, which only the owner of the file may enter.
//
// There is no process in the middle. One that publishes asks each socket that is there, with a
// connection that stays, and waits for the answers of all together no longer than three
// seconds: a process that does not answer is not waited for again until it has caught up, and with
// 32 MB that wait for it the connection is closed. What is asked are the calls of pubsub.Hub.Answer, as a Redis
// client sends them. A process that begins to listen has the others look at the directory again
// before it says that it listens, so that none of their messages is missing from then on.
//
// A socket whose process was killed refuses connections: who finds it removes it. It appears under
// its name only when it accepts them.
package bus
