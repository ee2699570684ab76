package cmd

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
)

// logOptions holds the format and the level of the log.
type logOptions struct {
	format string
	level  slog.Level
}

func (o *logOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.format, "log-format", "text", "`FORMAT` of the log on stderr: text or json")
	f.TextVar(&o.level, "log-level", slog.LevelInfo, "lowest `LEVEL` that is logged: debug, info, warn or error")
}

func (o *logOptions) logger(to io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: o.level}
	switch o.format {
	case "text":
		return slog.New(slog.NewTextHandler(to, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, options)), nil
	}
	return nil, exit.Usagef("--log-format %s: give text or json", o.format)
}
