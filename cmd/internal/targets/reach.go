package targets

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/remote"
)

// Reach holds the flags for connections to servers, the same for every verb.
type Reach struct {
	tls     profile.TLS
	timeout flags.Interval

	jump     sshHost
	ip4, ip6 bool     // only addresses of that version
	thisNode bool     // one node of a cluster, not the cluster
	replicas bool     // read from the replicas of a cluster
	mapped   []string // FROM=TO, for addresses that the nodes of a cluster announce
}

// AddFlags adds the flags.
func (o *Reach) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	AddTLSFlags(cmd, &o.tls)
	f.Var(&o.timeout, "timeout", "give up on a server after `DURATION` without a reply (default 30s)")
	f.Var(&o.jump, "ssh", "connect to servers through `HOST`, with ssh: [USER@]HOST[:PORT]")
	f.BoolVarP(&o.ip4, "ipv4", "4", false, "connect to IPv4 addresses only")
	f.BoolVarP(&o.ip6, "ipv6", "6", false, "connect to IPv6 addresses only")
	f.BoolVar(&o.thisNode, "this-node", false, "use one node of a Redis Cluster, with its keys")
	f.BoolVar(&o.replicas, "replicas", false, "read from replicas of a Redis Cluster, whose data may be older")
	f.StringArrayVar(&o.mapped, "cluster-map", nil, "connect to TO instead of FROM, which nodes of a Redis Cluster announce: `FROM=TO`, hosts or addresses")
	flags.InTopic(f, topic, "timeout", "ssh", "ipv4", "ipv6", "this-node", "replicas", "cluster-map")
	for _, name := range []string{"timeout", "ssh", "cluster-map"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

// SetTimeout sets the default of --timeout.
func (o *Reach) SetTimeout(d time.Duration) { o.timeout = flags.Interval(d) }

// Timeout returns the value of --timeout, 0 by default.
func (o *Reach) Timeout() time.Duration { return time.Duration(o.timeout) }

// AddTLSFlags adds the TLS flags, which profile add saves, too.
func AddTLSFlags(cmd *cobra.Command, t *profile.TLS) {
	f := cmd.Flags()
	f.StringVar(&t.CACert, "cacert", "", "trust only the authorities in `FILE` (PEM), for rediss:// and https://")
	f.StringVar(&t.CACertDir, "cacertdir", "", "trust only the authorities in the files (PEM) of `DIR`, and of --cacert")
	cmd.MarkFlagDirname("cacertdir")
	f.StringVar(&t.Cert, "cert", "", "`FILE` (PEM) with the client's certificate")
	f.StringVar(&t.Key, "key", "", "`FILE` (PEM) with the key of that certificate")
	f.StringVar(&t.SNI, "sni", "", "`HOST` that the server's certificate must name, instead of the URL's")
	f.BoolVar(&t.Insecure, "insecure", false, "trust any certificate")
	for _, name := range []string{"cacert", "cert", "key"} {
		cmd.MarkFlagFilename(name, "pem", "crt", "key")
	}
	flags.InTopic(f, topic, "cacert", "cacertdir", "cert", "key", "sni", "insecure")
	cmd.RegisterFlagCompletionFunc("sni", cobra.NoFileCompletions)
}

// to returns the connection options for the target: the flags, or else the settings of its profile.
func (o *Reach) to(t Target) remote.Options {
	kept := t.Settings.TLS
	ip := ""
	if o.ip4 != o.ip6 {
		ip = "6"
		if o.ip4 {
			ip = "4"
		}
	}
	var credentials remote.CredentialsFunc
	if t.credentials != nil {
		credentials = t.credentials.get
	}
	return remote.Options{
		IP: ip, Dial: o.dialer(t), Credentials: credentials,
		Timeout: time.Duration(o.timeout),
		TLS: remote.TLS{
			CACert: cmp.Or(o.tls.CACert, kept.CACert), CACertDir: cmp.Or(o.tls.CACertDir, kept.CACertDir), Cert: cmp.Or(o.tls.Cert, kept.Cert), Key: cmp.Or(o.tls.Key, kept.Key),
			SNI: cmp.Or(o.tls.SNI, kept.SNI), Insecure: o.tls.Insecure || kept.Insecure,
		},
	}
}

// CheckTLS returns an error if a file that t names is invalid.
func CheckTLS(t profile.TLS) error {
	return (&Reach{tls: t}).to(Target{}).TLS.Check()
}
