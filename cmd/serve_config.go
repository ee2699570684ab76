package cmd

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/conf"
	"github.com/meowdis/meowdis/server"
)

// configFile holds a configuration file in the syntax of redis.conf. Flags take precedence over it.
type configFile struct {
	path   string     // absolute once readConfig has run
	given  string     // as given on the command line
	file   *conf.File // nil without one
	except []string   // parameters that flags set
}

// readConfig reads the file, and sets the options whose flags are not given.
func (o *serveOptions) readConfig(f *pflag.FlagSet) (err error) {
	if o.conf.path == "" {
		return nil
	}
	path, err := filepath.Abs(o.conf.path)
	if err != nil {
		return err
	}
	file, err := server.ReadConfigFile(path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.conf.path, atomicfile.Pathless(err))
	}
	o.conf.given, o.conf.path, o.conf.file = o.conf.path, path, file
	given := func(flag string) bool { return f.Changed(flag) }
	for flag, name := range parameterFlags {
		if given(flag) {
			o.conf.except = append(o.conf.except, name)
		}
	}
	own, err := setFlags(f, file.Directives())
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.conf.given, err)
	}
	o.conf.except = append(o.conf.except, own...)
	said := map[string][]string{}
	for _, d := range file.Directives() {
		said[d.Name] = d.Args
	}
	if file := said["aclfile"]; len(file) == 1 && o.aclFile == "" {
		o.aclFile = file[0]
	}
	if on := said["cluster-enabled"]; len(on) == 1 && strings.EqualFold(on[0], "yes") {
		o.cluster = true
	}
	mode := fileMode(0)
	if perm := said["unixsocketperm"]; len(perm) == 1 && !given("socket-mode") && mode.Set(perm[0]) == nil {
		o.addresses.socketMode = mode
	}
	defer func() {
		if err == nil && len(o.addresses.https)+len(o.addresses.respTLS) > 0 {
			err = o.tls.applyDirectives(said)
		}
	}()
	if o.addresses.any() {
		return nil
	}
	return o.addresses.applyDirectives(said)
}

// parameterFlags maps flags to the parameters that they set, too.
var parameterFlags = map[string]string{
	"max-clients": "maxclients", "requirepass": "requirepass", "requirepass-file": "requirepass", "timeout": "command-time-limit",
}

// applyDirectives sets the addresses of the RESP listeners.
func (o *addressOptions) applyDirectives(said map[string][]string) (err error) {
	if port := said["tls-port"]; len(port) > 0 {
		if o.respTLS, err = boundAddresses(port, said["bind"]); err != nil {
			return err
		}
	}
	if o.resp, err = boundAddresses(said["port"], said["bind"]); err != nil {
		return err
	}
	if socket := said["unixsocket"]; len(socket) == 1 && socket[0] != "" {
		o.resp = append(o.resp, unixScheme+socket[0])
	}
	return nil
}

// boundAddresses returns the addresses of the directives port and bind; none if both are missing or the port is 0. It
// skips an address with a leading - if the machine does not have it.
func boundAddresses(port, bind []string) (addresses []string, err error) {
	switch {
	case len(port) == 0 && len(bind) == 0 || len(port) == 1 && port[0] == "0":
		return nil, nil
	case len(port) > 1:
		return nil, exit.Usagef("port takes one value")
	case len(port) == 0:
		port = []string{"6379"}
	}
	if len(bind) == 0 || len(bind) == 1 && bind[0] == "" {
		return []string{port[0]}, nil
	}
	for _, host := range bind {
		host, optional := strings.CutPrefix(host, "-")
		switch host {
		case "*":
			host = "0.0.0.0"
		case "::*":
			host = "::"
		}
		if optional && !available(host) {
			continue
		}
		addresses = append(addresses, net.JoinHostPort(host, port[0]))
	}
	return addresses, nil
}

// available reports whether the machine can listen on the host.
func available(host string) bool {
	ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return false
	}
	ln.Close()
	return true
}

// configure applies the file's parameters to the server.
func (c *configFile) configure(srv *server.Server) error {
	if c.file == nil {
		return nil
	}
	if err := srv.Configure(c.file, c.except...); err != nil {
		return fmt.Errorf("reading %s: %w", c.given, err)
	}
	return nil
}
