// Package cmdfile reads files of commands: lines in redis-cli's quoting, or the Redis protocol.
package cmdfile
