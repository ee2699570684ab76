package targets

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/remote"
)

// Reach are the flags that say how servers are reached, the same for every
// verb that may talk to one.
type Reach struct {
	tls     profile.TLS
	timeout flags.Interval

	allKeys  bool // the verb reads all keys
	thisNode bool // of this node, if it belongs to a cluster
}

// AddFlags adds the flags.
func (o *Reach) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	AddTLSFlags(cmd, &o.tls)
	f.Var(&o.timeout, "timeout", "give up on a server after `SECONDS` without a reply (default 30)")
	cmd.RegisterFlagCompletionFunc("timeout", cobra.NoFileCompletions)
}

// AddTLSFlags adds the flags of connections with TLS, which a profile keeps, too.
func AddTLSFlags(cmd *cobra.Command, t *profile.TLS) {
	f := cmd.Flags()
	f.StringVar(&t.CACert, "cacert", "", "trust only the authorities in `FILE` (PEM), for rediss:// and https://")
	f.StringVar(&t.Cert, "cert", "", "`FILE` (PEM) with the client's certificate")
	f.StringVar(&t.Key, "key", "", "`FILE` (PEM) with the key of that certificate")
	f.StringVar(&t.SNI, "sni", "", "`HOST` that the server's certificate must name, instead of the URL's")
	f.BoolVar(&t.Insecure, "insecure", false, "trust any certificate")
	for _, name := range []string{"cacert", "cert", "key"} {
		cmd.MarkFlagFilename(name, "pem", "crt", "key")
	}
	cmd.RegisterFlagCompletionFunc("sni", cobra.NoFileCompletions)
}

// to says how the target is reached: as the flags say, and else as its profile does.
func (o *Reach) to(t Target) remote.Options {
	kept := t.Settings.TLS
	return remote.Options{
		Timeout: time.Duration(o.timeout),
		TLS: remote.TLS{
			CACert: cmp.Or(o.tls.CACert, kept.CACert), Cert: cmp.Or(o.tls.Cert, kept.Cert), Key: cmp.Or(o.tls.Key, kept.Key),
			SNI: cmp.Or(o.tls.SNI, kept.SNI), Insecure: o.tls.Insecure || kept.Insecure,
		},
	}
}

// CheckTLS reports what is wrong with the files that t names.
func CheckTLS(t profile.TLS) error {
	return (&Reach{tls: t}).to(Target{}).TLS.Check()
}
