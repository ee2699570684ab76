package server

import (
	"cmp"
	"strings"
	"time"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// view shows a target's replies as a table.
type view struct {
	name      string
	calls     [][][]byte                           // nil: the view shows only a stream
	followUp  func(values []resp.Value) [][][]byte // returns follow-up commands; nil for none
	read      func(v *view, values []resp.Value, now int64)
	emptyText string // the text without rows

	heads   []string
	right   []bool // right-aligned columns
	rows    [][]string
	ids     []string // the argument that stands for each row in commands
	note    string
	samples []sample // of the activity, oldest first
	loaded  bool     // replies have arrived
	err     error    // why the view is empty
}

// maxRows limits the rows shown of a view.
const maxRows = 1000

// Indexes of the views.
const (
	activityView = iota
	clientsView
	slowView
	channelsView
	monitorView
	memoryView
)

func views() []*view {
	return []*view{
		activityView: {
			name: "Activity", calls: [][][]byte{client.Command("INFO")}, read: readActivity,
			heads: []string{"WHAT", "NOW", ""}, right: []bool{false, true},
		},
		clientsView: {
			name: "Clients", calls: [][][]byte{client.Command("CLIENT", "LIST"), client.Command("CLIENT", "ID")}, read: readClients,
			heads: []string{"ID", "ADDRESS", "COMMAND", "IDLE", "AGE", "DB", "USER", "NAME", "LIBRARY"}, right: []bool{true, false, false, true, true, true},
		},
		slowView: {
			name: "Slow log", calls: [][][]byte{client.Command("SLOWLOG", "GET", client.Decimal(maxRows))}, read: readSlow, emptyText: "No command was slow.",
			heads: []string{"AGO", "TOOK", "COMMAND", "CLIENT"}, right: []bool{true, true},
		},
		channelsView: {
			name: "Channels", calls: [][][]byte{client.Command("PUBSUB", "CHANNELS"), client.Command("PUBSUB", "NUMPAT")}, followUp: countSubscribers, read: readChannels,
			emptyText: "No channel has subscribers. Press p to listen to a pattern, such as * for all channels.",
			heads:     []string{"SUBSCRIBERS", "CHANNEL"}, right: []bool{true},
		},
		monitorView: {
			name: "Monitor", emptyText: "Press ⏎ to see every command as it runs. This slows a server down.",
			heads: []string{"TIME", "DB", "CLIENT", "COMMAND"}, right: []bool{false, true},
		},
		memoryView: {
			name: "Memory", calls: [][][]byte{client.Command("INFO", "memory"), client.Command("MEMORY", "STATS"), client.Command("MEMORY", "DOCTOR")}, read: readMemory,
			heads: []string{"WHAT", "VALUE"}, right: []bool{false, true},
		},
	}
}

// setReplies reads the replies. If the first is an error, the view has no rows.
func (v *view) setReplies(values []resp.Value, now int64) {
	v.rows, v.ids, v.note = nil, nil, ""
	if v.err = client.ReplyError(values[0]); v.err != nil && (v.name != "Memory" || values[1].IsError()) {
		return
	}
	v.err = nil
	v.read(v, values, now)
	if n := len(v.rows); n > maxRows {
		v.rows = v.rows[:maxRows]
		v.note = "the first " + display.Grouped(maxRows) + " of " + display.Grouped(int64(n))
	}
}

// readClients parses the lines of CLIENT LIST: "id=3 addr=127.0.0.1:50188 …".
func readClients(v *view, values []resp.Value, _ int64) {
	own := ""
	if len(values) > 1 && !values[1].IsError() {
		own = client.Text(values[1])
	}
	for line := range strings.Lines(client.Text(values[0])) {
		c := map[string]string{}
		for _, pair := range strings.Fields(line) {
			name, value, _ := strings.Cut(pair, "=")
			c[name] = value
		}
		if c["id"] == "" {
			continue
		}
		command := c["cmd"]
		if c["id"] == own {
			command += ownMark
		}
		v.ids = append(v.ids, c["id"])
		library := strings.TrimSpace(c["lib-name"] + " " + c["lib-ver"])
		v.rows = append(v.rows, []string{c["id"], c["addr"], command, seconds(c["idle"]), seconds(c["age"]), c["db"], c["user"], c["name"], library})
	}
	v.note = display.Counted(int64(len(v.rows)), "client", "clients")
}

// ownMark follows the command of the inspector's own connection.
const ownMark = " (inspector)"

// seconds formats a number of seconds.
func seconds(n string) string { return display.Remaining(client.Atoi(n) * 1000) }

// readSlow parses the entries of SLOWLOG GET: id, time, µs, command, address, name.
func readSlow(v *view, values []resp.Value, now int64) {
	for _, e := range values[0].Elems {
		if len(e.Elems) < 4 {
			continue
		}
		call := make([][]byte, len(e.Elems[3].Elems))
		for i, w := range e.Elems[3].Elems {
			call[i] = []byte(client.Text(w))
		}
		row := []string{display.Remaining(max(now-client.Number(e.Elems[1])*1000, 0)), micros(client.Number(e.Elems[2])), screen.CallText(call, 4096), ""}
		if len(e.Elems) > 5 {
			row[3] = strings.TrimSpace(client.Text(e.Elems[4]) + " " + client.Text(e.Elems[5]))
		}
		v.rows = append(v.rows, row)
	}
}

func micros(n int64) string {
	d := time.Duration(n) * time.Microsecond
	if d >= time.Millisecond {
		d = d.Round(10 * time.Microsecond)
	}
	return d.String()
}

// maxCounted limits the channels passed to NUMSUB.
const maxCounted = 1000

func countSubscribers(values []resp.Value) [][][]byte {
	channels := values[0].Elems
	if len(channels) == 0 {
		return nil
	}
	call := client.Command("PUBSUB", "NUMSUB")
	for _, c := range channels[:min(len(channels), maxCounted)] {
		call = append(call, []byte(client.Text(c)))
	}
	return [][][]byte{call}
}

func readChannels(v *view, values []resp.Value, _ int64) {
	v.note = display.Counted(int64(len(values[0].Elems)), "channel", "channels")
	if n := client.Number(values[1]); n > 0 && !values[1].IsError() {
		v.note += ", and " + display.Counted(n, "pattern", "patterns")
	}
	if len(values) < 3 {
		return
	}
	type channel struct {
		name string
		n    int64
	}
	var all []channel
	for counts := values[2].Elems; len(counts) > 1; counts = counts[2:] {
		all = append(all, channel{client.Text(counts[0]), client.Number(counts[1])})
	}
	smallsort.Sort(all, func(a, b channel) int {
		return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.name, b.name))
	})
	for _, c := range all {
		v.ids = append(v.ids, c.name)
		v.rows = append(v.rows, []string{display.Grouped(c.n), c.name})
	}
}

// readMemory parses INFO memory, MEMORY STATS and MEMORY DOCTOR.
func readMemory(v *view, values []resp.Value, _ int64) {
	seen := map[string]bool{}
	add := func(name, value string) {
		if value != "" && !seen[name] {
			seen[name] = true
			v.rows = append(v.rows, []string{name, value})
		}
	}
	if !values[0].IsError() {
		for line := range strings.Lines(client.Text(values[0])) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
			if ok && !strings.HasSuffix(name, "_human") {
				add(strings.ReplaceAll(name, "_", " "), memorySize(name, value))
			}
		}
	}
	for stats := values[1].Elems; len(stats) > 1; stats = stats[2:] {
		name := client.Text(stats[0])
		if len(stats[1].Elems) == 0 {
			add(name, memorySize(name, client.Text(stats[1])))
			continue
		}
		for parts := stats[1].Elems; len(parts) > 1; parts = parts[2:] {
			inner := name + " " + client.Text(parts[0])
			add(inner, memorySize(inner, client.Text(parts[1])))
		}
	}
	if len(values) > 2 && !values[2].IsError() {
		v.note = strings.TrimSpace(strings.SplitN(client.Text(values[2]), "\n", 2)[0])
	}
}

// memorySize formats a number of INFO or MEMORY STATS; most are bytes.
func memorySize(name, value string) string {
	if strings.Trim(value, "0123456789") != "" || value == "" {
		return value
	}
	for _, part := range []string{"count", "ratio", "percent", "perc", "number", "defrag", "pending", "freed", "keys", "running"} {
		if strings.Contains(name, part) && !strings.HasSuffix(name, "bytes") {
			return display.Grouped(client.Atoi(value))
		}
	}
	return display.Bytes(client.Atoi(value))
}

// parseMonitorLine splits a line of MONITOR: TIME [DB CLIENT] "COMMAND" "ARG"…
func parseMonitorLine(line string) []string {
	at, rest, ok := strings.Cut(line, " [")
	source, words, ok2 := strings.Cut(rest, "] ")
	db, addr, ok3 := strings.Cut(source, " ")
	if !ok || !ok2 || !ok3 {
		return []string{"", "", "", line}
	}
	if call, err := resp.SplitLine(words); err == nil && len(call) > 0 {
		words = screen.CallText(call, maxLineBytes)
	}
	whole, fraction, _ := strings.Cut(at, ".")
	at = time.Unix(client.Atoi(whole), 0).Format("15:04:05") + "." + (fraction + "000")[:3]
	return []string{at, db, addr, words}
}
