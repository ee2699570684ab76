// Package exit ends a run of the program: errors with their own exit codes, and signals that stop work early.
package exit

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// The exit codes of meowdis. Scripts rely on them: they are documented in the help and in the man pages.
const (
	codeOK     = 0
	codeError  = 1   // a command returned an error reply
	codeUsage  = 2   // invalid command line
	codeTarget = 3   // the target could not be opened or reached, or failed, or a move left out a part
	codeSignal = 128 // plus the number of the signal
)

// Code returns the exit code of a run that ended with err. Only a signal cancels a context here.
func Code(err error) int {
	var usage UsageError
	var stopped StoppedBy
	switch {
	case err == nil:
		return codeOK
	case errors.Is(err, ErrReported):
		return codeError
	case errors.As(err, &usage):
		return codeUsage
	case errors.As(err, &stopped):
		return codeSignal + int(stopped)
	case errors.Is(err, context.Canceled):
		return codeSignal + int(syscall.SIGINT)
	}
	return codeTarget
}

// ErrReported means that a command returned an error reply, which has already been printed.
var ErrReported = errors.New("a command returned an error")

// ErrPartial means that a verb has moved a part, and has already printed the keys that it left out.
var ErrPartial = errors.New("a part was left out")

// Printed reports whether the verb has already printed err.
func Printed(err error) bool { return errors.Is(err, ErrReported) || errors.Is(err, ErrPartial) }

// UsageError is a mistake on the command line: exit code 2.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usagef returns a UsageError with this text. %w keeps its cause.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Usage wraps err in a UsageError.
func Usage(err error) error { return UsageError{err} }
