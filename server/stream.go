package server

import (
	"fmt"
	"strings"
	"time"
)

// Stream is how the stream of the file to another place is doing.
type Stream struct {
	Place   string
	TXID    uint64    // the last transaction that is there
	At      time.Time // when all was there; zero for never
	Failing string    // why it is not, "" when it is
	Pending int       // pages that wait
}

// Following is how a copy of another file is doing.
type Following struct {
	Place   string
	TXID    uint64    // the last transaction that is in the copy; 0 before the first look
	Written time.Time // when that was written to the file
	Heard   time.Time // when the place was last looked at; zero for never
	Failing string    // why not since, "" when it was
	Copying bool      // a large part of the file is on its way
}

// streamInfo are INFO's lines of a stream, which Redis does not have.
func (s *Server) streamInfo() []string {
	if s.config.Stream == nil {
		return nil
	}
	now := s.config.Stream()
	status, last := "ok", int64(-1)
	if now.Failing != "" {
		status = "err"
	}
	if !now.At.IsZero() {
		last = now.At.Unix()
	}
	return []string{
		field("replicate_to", now.Place), field("replicate_status", status), field("replicate_last_time", last),
		field("replicate_txid", now.TXID), field("replicate_pending_pages", now.Pending), field("replicate_last_error", oneLine(now.Failing)),
	}
}

// oneLine is a text that may have several.
func oneLine(text string) string {
	return strings.NewReplacer("\r", "", "\n", "; ").Replace(text)
}

// followingInfo are INFO's lines of a copy: those of a replica, whose master is a place. A transaction
// counts as a byte does there.
func (s *Server) followingInfo(now Following) []string {
	link, heard, copying := "up", int64(-1), 0
	if now.Failing != "" || now.TXID == 0 {
		link = "down"
	}
	if !now.Heard.IsZero() {
		heard = int64(time.Since(now.Heard).Seconds())
	}
	if now.Copying {
		copying = 1
	}
	lines := []string{
		"role:slave", field("master_host", now.Place), "master_port:0", field("master_link_status", link),
		field("master_last_io_seconds_ago", heard), field("master_sync_in_progress", copying),
		field("slave_read_repl_offset", now.TXID), field("slave_repl_offset", now.TXID),
		"replica_full_sync_buffer_size:0", "replica_full_sync_buffer_peak:0",
	}
	if link == "down" {
		lines = append(lines, field("master_link_down_since_seconds", heard))
	}
	lines = append(lines, "slave_priority:100", "slave_read_only:1", "replica_announced:1")
	if !now.Written.IsZero() {
		lines = append(lines, fmt.Sprintf("follow_last_write_time:%d", now.Written.Unix()))
	}
	return append(lines, field("follow_last_error", oneLine(now.Failing)))
}

// streamMetrics are those of a server that streams its file, and followingMetrics those of a copy.
var (
	streamMetrics = []metric{
		{"replicate_last_timestamp_seconds", "When the place of the stream last had all, 0 for never.", gauge, of(func(s *Server) int64 { return seconds(s.config.Stream().At) })},
		{"replicate_failing", "1 while the file cannot be streamed.", gauge, of(func(s *Server) int { return min(1, len(s.config.Stream().Failing)) })},
		{"replicate_pending_pages", "Pages of the file that wait to be streamed.", gauge, of(func(s *Server) int { return s.config.Stream().Pending })},
	}
	followingMetrics = []metric{
		{"follow_last_timestamp_seconds", "When the stream was last looked at, 0 for never.", gauge, of(func(s *Server) int64 { return seconds(s.config.Following().Heard) })},
		{"follow_last_write_timestamp_seconds", "When the master wrote what the copy has.", gauge, of(func(s *Server) int64 { return seconds(s.config.Following().Written) })},
		{"follow_failing", "1 while the copy cannot follow.", gauge, of(func(s *Server) int { return min(1, len(s.config.Following().Failing)) })},
	}
)

// seconds is a time as Unix seconds, 0 for none.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
