package remote

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// reason wraps a network error with a message for users.
type reason struct {
	says string
	err  error
}

func (r *reason) Error() string { return r.says }
func (r *reason) Unwrap() error { return r.err }

// Lost reports whether err says that a server could not be reached or that it closed the connection, as a server does
// that restarts.
func Lost(err error) bool {
	for _, lost := range []error{ErrUnreachable, errClosed, errLost, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// explain returns err with a message that says what to check. It returns unknown errors unchanged.
func explain(err error) error {
	var host *net.DNSError
	var cert *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var timeout net.Error
	var op *net.OpError
	says := ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		says = "connection refused: is the server running?"
	case errors.As(err, &host):
		says = "the host name " + host.Name + " is not known: check the URL"
	case errors.As(err, &cert):
		says = "its certificate cannot be trusted: " + cert.Err.Error()
	case errors.As(err, &header), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		says = "it does not speak TLS: give redis:// or http:// if that is meant"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		says = "it does not answer: check the address and the network"
	case errors.Is(err, syscall.ENOENT):
		says = "the socket does not exist"
	case errors.Is(err, syscall.EACCES):
		says = "you have no permission to use it"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		says = "it cannot be reached: is the network up?"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		says = "the connection was closed: does it speak this protocol?"
	case errors.As(err, &op) && strings.Contains(op.Err.Error(), "certificate required"):
		says = op.Err.Error() + ": give the client's with --cert and --key"
	case errors.As(err, &op):
		says = op.Err.Error()
	default:
		return err
	}
	return &reason{says, err}
}
