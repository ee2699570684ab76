package cmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
)

// healthOptions holds the flags and the argument of health.
type healthOptions struct {
	url      string
	insecure bool
	json     bool
	timeout  flags.Interval
}

func newHealth(s *streams) *cobra.Command {
	o := &healthOptions{url: "http://" + defaultHTTP, timeout: flags.Interval(5 * time.Second)}
	cmd := &cobra.Command{
		Use:     "health [FLAGS] [URL]",
		GroupID: groupInspect,
		Short:   "Check whether a meowdis server can read and write",
		Long: `Asks a server of "meowdis serve" whether it can read and write its file, for
containers and monitors. It prints ok, or exits with code 3. It requests
/healthz, served on the REST and metrics addresses, and needs no token.`,
		Example: `  meowdis health
  meowdis health --insecure https://127.0.0.1:8379`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.url = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.insecure, "insecure", false, "trust any certificate")
	f.Var(&o.timeout, "timeout", "wait at most `DURATION` for the reply")
	return cmd
}

func (o *healthOptions) run(ctx context.Context, s *streams) error {
	u, err := url.Parse(o.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return exit.Usagef("%s is not a REST address: give http://HOST:PORT or https://HOST:PORT", o.url)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.timeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("healthz").String(), nil)
	if err != nil {
		return exit.Usage(err)
	}
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: o.insecure}}}
	answer, err := web.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("asking %s: no reply within %v", u.Host, o.timeout)
	case err != nil:
		return fmt.Errorf("asking %s: %w", u.Host, errors.Unwrap(err))
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
	says := strings.TrimSpace(string(text))
	if o.json {
		err = printJSON(s.out, healthResult{o.url, answer.StatusCode == http.StatusOK, says})
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is unhealthy: %s: %s", u.Host, answer.Status, says)
	}
	if !o.json {
		_, err = fmt.Fprintln(s.out, says)
	}
	return err
}

// healthResult defines the JSON output of health. It is printed if a server replied.
type healthResult struct {
	URL     string `json:"url"`
	Healthy bool   `json:"healthy"`
	Says    string `json:"says"`
}
