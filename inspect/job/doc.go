// Package job runs what is slow off the screen's loop: one job at a time for each
// purpose, each with its cost, and every one can be cancelled. A job gets what it works
// with, and hands back a message.
package job
