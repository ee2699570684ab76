package server

import (
	"fmt"
	"strings"
	"time"
)

// Stream holds the state of replication to another place.
type Stream struct {
	Place     string
	TXID      uint64    // last transaction stored at Place
	At        time.Time // when Place was last up to date; zero for never
	LastError string    // the error, or "" while it works
	Pending   int       // pages not yet sent
}

// Following holds the state of a copy of another file.
type Following struct {
	Place     string
	TXID      uint64    // last transaction in the copy; 0 before the first fetch
	Written   time.Time // when that transaction was committed
	LastPoll  time.Time // when Place was last fetched; zero for never
	LastError string    // the error, or "" while it works
	Copying   bool      // a snapshot is being downloaded
}

// Lease holds the state of the right to write to a place.
type Lease struct {
	Fence    uint64        // fencing number of the holder
	Holder   string        // the server that has it, "" while unknown
	Left     time.Duration // until it ends unless it is renewed
	Failover bool          // another server takes over when it ends
	Err      string        // the reason why this server refuses writes, or ""
}

// Replication holds the state of replication through a place. Each part is nil if it does not apply.
type Replication struct {
	Stream    *Stream
	Following *Following
	Lease     *Lease
}

// throughPlace returns the state of replication through a place.
func (s *Server) throughPlace() Replication {
	if s.config.Replication == nil {
		return Replication{}
	}
	return s.config.Replication()
}

// follows returns the state of a server that is not a master: a copy, or a server whose lease has ended. ok is false for
// a master.
func (r Replication) follows() (now Following, ok bool) {
	switch {
	case r.Following != nil:
		return *r.Following, true
	case r.Lease != nil && r.Lease.Err != "" && r.Stream != nil:
		return Following{Place: r.Stream.Place, TXID: r.Stream.TXID, LastError: r.Lease.Err}, true
	}
	return now, false
}

// isCopy reports whether the server refuses writes for another one.
func (s *Server) isCopy() bool {
	_, ok := s.throughPlace().follows()
	return ok
}

// leaseInfo returns the INFO lines of a lease. Redis has no such lines.
func (l *Lease) leaseInfo() []string {
	if l == nil {
		return nil
	}
	failover := "no"
	if l.Failover {
		failover = "yes"
	}
	return []string{
		field("lease_fence", l.Fence), field("lease_holder", oneLine(l.Holder)), field("lease_ends_in_ms", max(0, l.Left.Milliseconds())),
		field("lease_failover", failover), field("lease_error", oneLine(l.Err)),
	}
}

// streamInfo returns the INFO lines of replication to another place. Redis has no such lines.
func (s *Server) streamInfo() []string {
	now := s.throughPlace().Stream
	if now == nil {
		return nil
	}
	status, last := "ok", int64(-1)
	if now.LastError != "" {
		status = "err"
	}
	if !now.At.IsZero() {
		last = now.At.Unix()
	}
	return []string{
		field("replicate_to", now.Place), field("replicate_status", status), field("replicate_last_time", last),
		field("replicate_txid", now.TXID), field("replicate_pending_pages", now.Pending), field("replicate_last_error", oneLine(now.LastError)),
	}
}

// oneLine joins the lines of text with semicolons.
func oneLine(text string) string {
	return strings.NewReplacer("\r", "", "\n", "; ").Replace(text)
}

// followingInfo returns the INFO lines of a replica whose master is a place. Offsets count transactions, not bytes.
func (s *Server) followingInfo(now Following) []string {
	link, heard, copying := "up", int64(-1), 0
	if now.LastError != "" || now.TXID == 0 {
		link = "down"
	}
	if !now.LastPoll.IsZero() {
		heard = int64(time.Since(now.LastPoll).Seconds())
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
	return append(lines, field("follow_last_error", oneLine(now.LastError)))
}

// streamState returns the state of replication to another place, or the zero value.
func (s *Server) streamState() Stream {
	if now := s.throughPlace().Stream; now != nil {
		return *now
	}
	return Stream{}
}

// followingState returns the state of a copy, or the zero value.
func (s *Server) followingState() Following {
	if now := s.throughPlace().Following; now != nil {
		return *now
	}
	return Following{}
}

// leaseState returns the state of the lease, or the zero value.
func (s *Server) leaseState() Lease {
	if now := s.throughPlace().Lease; now != nil {
		return *now
	}
	return Lease{}
}

// streamMetrics are for a server that streams its file; followingMetrics are for a copy.
var (
	streamMetrics = []metric{
		{"replicate_last_timestamp_seconds", "When the replica was last up to date, 0 for never.", gauge, intValue(func(s *Server) int64 { return seconds(s.streamState().At) })},
		{"replicate_failing", "1 while replication fails.", gauge, intValue(func(s *Server) int { return min(1, len(s.streamState().LastError)) })},
		{"replicate_pending_pages", "Pages not yet replicated.", gauge, intValue(func(s *Server) int { return s.streamState().Pending })},
	}
	leaseMetrics = []metric{
		{"lease_fence", "The fencing number of the server that has the lease.", gauge, intValue(func(s *Server) int64 { return int64(s.leaseState().Fence) })},
		{"lease_refuses_writes", "1 while writes are refused because of the lease.", gauge, intValue(func(s *Server) int { return min(1, len(s.leaseState().Err)) })},
	}
	followingMetrics = []metric{
		{"follow_last_timestamp_seconds", "When the stream was last read, 0 for never.", gauge, intValue(func(s *Server) int64 { return seconds(s.followingState().LastPoll) })},
		{"follow_last_write_timestamp_seconds", "When the copy's last transaction was committed.", gauge, intValue(func(s *Server) int64 { return seconds(s.followingState().Written) })},
		{"follow_failing", "1 while following fails.", gauge, intValue(func(s *Server) int { return min(1, len(s.followingState().LastError)) })},
	}
)

// seconds returns t in Unix seconds, 0 for the zero time.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
