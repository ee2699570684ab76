package cmd

import (
	"context"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/meowdis/meowdis/server"
)

// tellSystemd notifies systemd when the server is ready and when it stops, and at the watchdog's interval while it
// works. Without systemd it does nothing.
func tellSystemd(ctx context.Context, srv *server.Server, log *slog.Logger) {
	tell := func(state string) bool {
		told, err := daemon.SdNotify(false, state)
		if err != nil {
			log.Warn("notifying systemd", "state", state, "error", err)
		}
		return told
	}
	if !tell(daemon.SdNotifyReady) {
		return
	}
	defer tell(daemon.SdNotifyStopping)
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(interval / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		looking, cancel := context.WithTimeout(ctx, interval/3)
		if err := srv.Reads(looking); err == nil {
			tell(daemon.SdNotifyWatchdog)
		} else if ctx.Err() == nil {
			log.Error("the file cannot be read in time", "error", err)
		}
		cancel()
	}
}
