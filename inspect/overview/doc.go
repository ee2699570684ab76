// Package overview is the room of the inspector that only tells: the data set at a glance,
// and all about a key.
package overview
