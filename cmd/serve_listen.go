package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/server"
)

const (
	defaultHTTP = "127.0.0.1:8379"
	defaultRESP = "127.0.0.1:6379"
)

// addressOptions holds the addresses of a server. Each flag may be repeated.
type addressOptions struct {
	http, https, resp, respTLS, storage, storageTLS, metrics []string
	socketMode                                               fileMode
}

func (o *addressOptions) addFlags(f *pflag.FlagSet) {
	o.socketMode = 0o600
	f.StringArrayVar(&o.http, "http", nil, "`ADDRESS` to serve REST on")
	f.StringArrayVar(&o.https, "https", nil, "`ADDRESS` to serve REST on over TLS")
	f.StringArrayVar(&o.resp, "resp", nil, "`ADDRESS` to serve the Redis protocol on")
	f.StringArrayVar(&o.respTLS, "resp-tls", nil, "`ADDRESS` to serve the Redis protocol on over TLS")
	f.StringArrayVar(&o.storage, "storage", nil, "`ADDRESS` to serve the file's tables on, for --storage-url")
	f.StringArrayVar(&o.storageTLS, "storage-tls", nil, "`ADDRESS` to serve the file's tables on over TLS")
	f.StringArrayVar(&o.metrics, "metrics", nil, "`ADDRESS` to serve /metrics and /healthz on, without a token")
	f.Var(&o.socketMode, "socket-mode", "`MODE` of new unix sockets")
}

// fileMode reads a flag's permissions, in octal digits.
type fileMode fs.FileMode

func (m *fileMode) String() string { return fmt.Sprintf("%04o", uint32(*m)) }
func (m *fileMode) Type() string   { return "mode" }

func (m *fileMode) Set(text string) error {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o777 {
		return fmt.Errorf("give permissions in octal digits, such as 0660")
	}
	*m = fileMode(n)
	return nil
}

// storageEndpoint names a face that serves the file's tables.
const storageEndpoint = "storage"

// endpoint is one listener with the protocol that it serves.
type endpoint struct {
	name, scheme string
	listener     net.Listener
	serve        func(context.Context, net.Listener) error
}

func (f endpoint) url() string {
	if addr := f.listener.Addr(); addr.Network() == "unix" {
		return "unix://" + addr.String()
	}
	return f.scheme + "://" + f.listener.Addr().String()
}

// endpointFlag describes a flag that adds faces. systemd's sockets use its name, too.
type endpointFlag struct {
	name      string
	addresses []string
	face      endpoint
	secure    bool
}

// listen opens the listeners of the flags and takes over systemd's. Without any it serves both protocols on their
// default ports, over TLS if there is a certificate.
func (o *addressOptions) listen(srv *server.Server, secure *server.TLS) (faces []endpoint, err error) {
	inherited, err := activation.ListenersWithNames()
	if err != nil {
		return nil, fmt.Errorf("taking over the sockets of systemd: %w", err)
	}
	if o.any() && secure != nil && len(o.https)+len(o.respTLS)+len(o.storageTLS)+len(inherited) == 0 {
		return nil, exit.Usagef("a certificate is only for --https, --resp-tls and --storage-tls")
	}
	flags := o.flags(srv, secure != nil, len(inherited) > 0)
	defer func() {
		if err != nil {
			closeAll(faces)
		}
	}()
	for _, f := range flags {
		listeners := inherited[f.name]
		delete(inherited, f.name)
		for _, address := range f.addresses {
			ln, err := o.listenOn(address)
			if err != nil {
				return faces, err
			}
			listeners = append(listeners, ln)
		}
		for _, ln := range listeners {
			if f.secure && secure == nil {
				ln.Close()
				return faces, exit.Usagef("--%s needs a certificate: --tls-cert and --tls-key, or --tls-self-signed", f.name)
			}
			if f.secure {
				ln = secure.Listener(ln)
			}
			f.face.listener = ln
			faces = append(faces, f.face)
		}
	}
	for name := range inherited {
		return faces, exit.Usagef("unknown systemd socket %q: set FileDescriptorName= to http, https, resp, resp-tls, storage, storage-tls or metrics", name)
	}
	return faces, nil
}

// flags returns the flags with their addresses and protocols.
func (o *addressOptions) flags(srv *server.Server, certificate, inherited bool) []endpointFlag {
	all := []endpointFlag{
		{"http", o.http, endpoint{name: "REST", scheme: "http", serve: srv.ServeREST}, false},
		{"https", o.https, endpoint{name: "REST", scheme: "https", serve: srv.ServeREST}, true},
		{"resp", o.resp, endpoint{name: "RESP", scheme: "redis", serve: srv.ServeRESP}, false},
		{"resp-tls", o.respTLS, endpoint{name: "RESP", scheme: "rediss", serve: srv.ServeRESP}, true},
		{"storage", o.storage, endpoint{name: storageEndpoint, scheme: "http", serve: srv.ServeStorage}, false},
		{"storage-tls", o.storageTLS, endpoint{name: storageEndpoint, scheme: "https", serve: srv.ServeStorage}, true},
		{"metrics", o.metrics, endpoint{name: "metrics", scheme: "http", serve: srv.ServeMetrics}, false},
	}
	if o.any() || inherited {
		return all
	}
	overREST, overRESP := &all[0], &all[2]
	if certificate {
		overREST, overRESP = &all[1], &all[3]
	}
	overREST.addresses, overRESP.addresses = []string{defaultHTTP}, []string{defaultRESP}
	return all
}

// any reports whether a flag gives an address.
func (o *addressOptions) any() bool {
	return len(o.http)+len(o.https)+len(o.resp)+len(o.respTLS)+len(o.storage)+len(o.storageTLS) > 0
}

func closeAll(faces []endpoint) {
	for _, f := range faces {
		f.listener.Close()
	}
}

// unixScheme begins the address of a socket.
const unixScheme = "unix:"

// listenOn opens a listener. Its error suggests an alternative.
func (o *addressOptions) listenOn(address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, unixScheme); ok {
		return listenOnSocket(strings.TrimPrefix(path, "//"), fs.FileMode(o.socketMode))
	}
	full := bindAddress(address)
	_, port, err := net.SplitHostPort(full)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		return nil, exit.Usagef("%s is not an address to serve on: give HOST:PORT, :PORT, PORT or unix:PATH", address)
	}
	listener, err := net.Listen("tcp", full)
	var host *net.DNSError
	why := ""
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		why = "the address is in use: stop the other process, or give another port with --http and --resp"
	case errors.Is(err, syscall.EACCES):
		why = "no permission: ports below 1024 are reserved for the system"
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &host):
		why = "this machine does not have that address"
	default:
		return nil, fmt.Errorf("serving on %s: %w", full, err)
	}
	return nil, fmt.Errorf("serving on %s: %s", full, why)
}

// listenOnSocket creates a unix socket with the mode. It replaces a socket without a listening process.
func listenOnSocket(path string, mode fs.FileMode) (ln net.Listener, err error) {
	if path == "" {
		return nil, exit.Usagef("unix: is not an address to serve on: give unix:PATH")
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		other, err := net.Dial("unix", path)
		if err == nil {
			other.Close()
			return nil, fmt.Errorf("serving on %s: another process listens on it", path)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(path)
		}
	}
	free := onlyForOwner()
	ln, err = net.Listen("unix", path)
	free()
	if err == nil {
		err = os.Chmod(path, mode)
	}
	switch {
	case err == nil:
		return ln, nil
	case ln != nil:
		ln.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		err = errors.New("a file of that name exists")
	}
	var system *os.SyscallError
	if errors.As(err, &system) {
		err = system.Err
	}
	return nil, fmt.Errorf("serving on %s: %w", path, atomicfile.Pathless(err))
}

// bindAddress parses HOST:PORT, :PORT or PORT. Without a host it returns the loopback interface, so that other
// machines can connect only if the user asks for it.
func bindAddress(address string) string {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	return address
}
