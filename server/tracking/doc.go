// Package tracking knows which clients are to be told when keys change, so that they can keep what
// they have read: https://redis.io/docs/latest/develop/reference/client-side-caching/
//
// A Table is told what is read and what changes, and tells the clients. It is pure: whoever owns the
// connections sends the messages.
package tracking
