package server

import (
	"context"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// sample holds the numbers of one INFO.
type sample struct {
	at   int64 // Unix ms
	info map[string]float64
}

// maxSamples limits the samples kept, one for each cell of a sparkline.
const maxSamples = 40

// measure describes a row of the activity: a number, or the growth of a counter in a second.
type measure struct {
	name    string
	of      func(now, before map[string]float64, seconds float64) (value float64, ok bool)
	format  func(float64) string
	current func(info map[string]float64) (float64, bool) // without an earlier sample; nil for none
}

// measures lists the rows of the activity. A server that does not report a number has no row for it.
var measures = []measure{
	{"commands", perSecond("total_commands_processed"), eachSecond, level("instantaneous_ops_per_sec")},
	{"hits", hits, percent, func(info map[string]float64) (float64, bool) { return hits(info, map[string]float64{}, 1) }},
	{"memory", gauge("used_memory"), bytes, level("used_memory")},
	{"clients", gauge("connected_clients"), count, level("connected_clients")},
	{"blocked clients", gauge("blocked_clients"), count, level("blocked_clients")},
	{"received", perSecond("total_net_input_bytes"), bytesEachSecond, nil},
	{"sent", perSecond("total_net_output_bytes"), bytesEachSecond, nil},
	{"expired keys", perSecond("expired_keys"), eachSecond, nil},
	{"evicted keys", perSecond("evicted_keys"), eachSecond, nil},
}

func level(field string) func(map[string]float64) (float64, bool) {
	return func(info map[string]float64) (float64, bool) {
		v, ok := info[field]
		return v, ok
	}
}

func gauge(field string) func(now, before map[string]float64, seconds float64) (float64, bool) {
	return func(now, _ map[string]float64, _ float64) (float64, bool) { return level(field)(now) }
}

// perSecond returns the growth of a counter. ok is false after a restart of the server.
func perSecond(field string) func(now, before map[string]float64, seconds float64) (float64, bool) {
	return func(now, before map[string]float64, seconds float64) (float64, bool) {
		v, ok := now[field]
		old, had := before[field]
		return (v - old) / seconds, ok && had && v >= old && seconds > 0
	}
}

// hits returns the share of lookups that found a key. ok is false without a lookup.
func hits(now, before map[string]float64, _ float64) (float64, bool) {
	found, missed := now["keyspace_hits"]-before["keyspace_hits"], now["keyspace_misses"]-before["keyspace_misses"]
	return found / (found + missed), found >= 0 && missed >= 0 && found+missed > 0
}

func eachSecond(v float64) string      { return count(v) + "/s" }
func bytesEachSecond(v float64) string { return bytes(v) + "/s" }
func bytes(v float64) string           { return display.Bytes(int64(v)) }
func count(v float64) string           { return display.Grouped(int64(v + 0.5)) }
func percent(v float64) string         { return strconv.Itoa(int(v*100+0.5)) + "%" }

// readActivity adds the sample of an INFO, and lays out the measures of all samples.
func readActivity(v *view, values []resp.Value, now int64) {
	s := sample{now, map[string]float64{}}
	for line := range strings.Lines(client.Text(values[0])) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			s.info[name] = n
		}
	}
	v.samples = append(v.samples, s)
	v.samples = v.samples[max(len(v.samples)-maxSamples-1, 0):]
	for _, m := range measures {
		if row := m.row(v.samples); row != nil {
			v.rows = append(v.rows, row)
		}
	}
	if len(v.samples) > 1 {
		v.note = "the last " + display.Remaining(max(now-v.samples[0].at, 0)) + ", every " + display.Remaining(refreshPeriod.Milliseconds())
	}
}

// row returns the cells of a measure, or nil if the server does not report it.
func (m measure) row(samples []sample) []string {
	var values []float64
	shown := ""
	for i := 1; i < len(samples); i++ {
		now, before := samples[i], samples[i-1]
		v, ok := m.of(now.info, before.info, float64(now.at-before.at)/1000)
		if !ok {
			v = -1
		}
		if values = append(values, v); ok {
			shown = m.format(v)
		}
	}
	if v, ok := 0.0, false; shown == "" && m.current != nil {
		if v, ok = m.current(samples[len(samples)-1].info); ok {
			shown = m.format(v)
		}
	}
	if shown == "" {
		return nil
	}
	return []string{m.name, shown, screen.Sparkline(values)}
}

// readFile returns facts about the file of the target as rows.
func readFile(ctx context.Context, index client.Index, conn *client.Conn, db int) ([][]string, error) {
	f, err := index.File(ctx)
	if err != nil {
		return nil, err
	}
	wal, err := index.WALSize()
	if err != nil {
		return nil, err
	}
	reclaim := "meowdis vacuum reclaims it"
	if f.FreePages == 0 {
		reclaim = ""
	}
	rows := [][]string{
		{"size", display.Bytes(f.PageSize * f.Pages), ""},
		{"free", display.Bytes(f.PageSize * f.FreePages), reclaim},
		{"write-ahead log", display.Bytes(wal), "changes that are not in the file itself yet"},
		{"journal", f.Journal, ""},
		{"schema", client.Decimal(f.Schema), "version"},
	}
	values, err := conn.Do(ctx, db, client.Command("INFO", "keyspace"))
	if err != nil || values[0].IsError() {
		return rows, err
	}
	for line := range strings.Lines(client.Text(values[0])) {
		name, facts, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || !strings.HasPrefix(name, "db") {
			continue
		}
		numbers := map[string]int64{}
		for pair := range strings.SplitSeq(facts, ",") {
			field, value, _ := strings.Cut(pair, "=")
			numbers[field] = client.Atoi(value)
		}
		rows = append(rows, []string{"database " + name[2:], display.Counted(numbers["keys"], "key", "keys"), display.Grouped(numbers["expires"]) + " expire"})
	}
	return rows, nil
}
