// Package job runs slow work off the screen's loop: at most one job for each purpose, each
// with its cost, and all of them cancellable. A job uses only its arguments, and returns
// a message.
package job
