package cmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// liveSample holds the numbers that a target reported at one moment; unknown ones are -1.
type liveSample struct {
	at             time.Time
	facts          map[string]string // of INFO
	keys, expiring int64             // of all databases
	file, log      int64             // bytes of the file and of its write-ahead log
	refusal        string            // the error reply to INFO
}

// take stores the facts, and adds up the keys of all databases.
func (s *liveSample) take(facts map[string]string) {
	s.facts, s.keys, s.expiring = facts, 0, 0
	for name, fact := range facts {
		number, isDB := strings.CutPrefix(name, "db")
		if _, err := strconv.Atoi(number); !isDB || err != nil {
			continue
		}
		for part := range strings.SplitSeq(fact, ",") {
			what, n, _ := strings.Cut(part, "=")
			count, _ := strconv.ParseInt(n, 10, 64)
			switch what {
			case "keys":
				s.keys += count
			case "expires":
				s.expiring += count
			}
		}
	}
}

// fact returns a number of INFO, or -1 if it is missing.
func (s *liveSample) fact(name string) int64 {
	if s == nil {
		return -1
	}
	n, err := strconv.ParseInt(s.facts[name], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// live holds the last two samples and the history of the figures.
type live struct {
	before, now *liveSample
	graphs      map[string][]time.Duration // past values, in the type that spark takes
	problem     string                     // why the last sample failed
}

// maxDrawn limits the samples of a graph.
const maxDrawn = 500

func (l *live) add(s *liveSample) {
	l.before, l.now = l.now, s
	if l.graphs == nil {
		l.graphs = map[string][]time.Duration{}
	}
	for _, f := range l.figures() {
		graph := append(l.graphs[f.name], time.Duration(max(f.level, 0)))
		l.graphs[f.name] = graph[max(0, len(graph)-maxDrawn):]
	}
}

// rate returns the counter's growth per second. ok is false before the second sample and after a restart.
func (l *live) rate(count func(*liveSample) int64) (rate float64, ok bool) {
	if l.before == nil {
		return 0, false
	}
	was, is := count(l.before), count(l.now)
	took := l.now.at.Sub(l.before.at).Seconds()
	if was < 0 || is < was || took <= 0 {
		return 0, false
	}
	return float64(is-was) / took, true
}

func counter(name string) func(*liveSample) int64 {
	return func(s *liveSample) int64 { return s.fact(name) }
}

// figure is one line of the display and one group of JSON fields.
type figure struct {
	name, value, more string
	level             float64 // the value to draw
	json              []resp.Value
}

func (f *figure) add(name string, v resp.Value) { f.json = append(f.json, resp.MakeString(name), v) }

// figures returns the figures that the target reports.
func (l *live) figures() []figure {
	var all []figure
	s := l.now
	number := func(name, field string, n int64, show func(int64) string) *figure {
		f := figure{name: name, value: show(n), level: float64(n)}
		f.add(field, resp.MakeInt(n))
		all = append(all, f)
		return &all[len(all)-1]
	}
	if s.keys >= 0 {
		f := number("keys", "keys", s.keys, display.Grouped)
		if l.before != nil && l.before.keys >= 0 {
			if grown := float64(s.keys-l.before.keys) / s.at.Sub(l.before.at).Seconds(); math.Abs(grown) >= 0.5 {
				f.more = fmt.Sprintf("%+.0f/s", grown)
			}
		}
	}
	if s.refusal == "" && s.keys >= 0 {
		number("expiring", "expiring", s.expiring, display.Grouped)
	}
	if s.file >= 0 {
		f := number("file", "file_bytes", s.file, display.Bytes)
		f.add("log_bytes", resp.MakeInt(s.log))
		f.more = "and " + display.Bytes(s.log) + " of log"
	}
	if n := s.fact("used_memory"); n >= 0 {
		f := number("memory", "memory_bytes", n, display.Bytes)
		if most := s.fact("maxmemory"); most > 0 {
			f.more = "of " + display.Bytes(most)
		}
	}
	if n := s.fact("connected_clients"); n >= 0 {
		f := number("clients", "clients", n, display.Grouped)
		if blocked := s.fact("blocked_clients"); blocked >= 0 {
			f.add("blocked_clients", resp.MakeInt(blocked))
			if blocked > 0 {
				f.more = display.Grouped(blocked) + " blocked"
			}
		}
	}
	all = append(all, l.rates()...)
	return all
}

// rates returns the figures that count events.
func (l *live) rates() []figure {
	var all []figure
	for _, r := range []struct {
		name, field, fact string
		show              func(int64) string
	}{
		{"commands", "commands_per_second", "total_commands_processed", display.Short},
		{"in", "in_bytes_per_second", "total_net_input_bytes", display.Bytes},
		{"out", "out_bytes_per_second", "total_net_output_bytes", display.Bytes},
		{"expired", "expired_per_second", "expired_keys", display.Short},
		{"evicted", "evicted_per_second", "evicted_keys", display.Short},
	} {
		total := l.now.fact(r.fact)
		if total < 0 {
			continue
		}
		f := figure{name: r.name, value: "-", more: r.show(total) + " in all"}
		rate, ok := l.rate(counter(r.fact))
		if r.name == "commands" && ok { // without the INFO of this sample
			rate = max(0, rate-1/l.now.at.Sub(l.before.at).Seconds())
		}
		if ok {
			f.value, f.level = r.show(int64(math.Round(rate)))+"/s", rate
		}
		f.add(r.field, orNull(rate, ok))
		all = append(all, f)
		if r.name == "commands" {
			all = append(all, l.hits()...)
		}
	}
	return all
}

// hits returns the share of key lookups that found a key.
func (l *live) hits() []figure {
	hits, misses := counter("keyspace_hits"), counter("keyspace_misses")
	if hits(l.now) < 0 || misses(l.now) < 0 {
		return nil
	}
	f := figure{name: "hits", value: "-"}
	if all := hits(l.now) + misses(l.now); all > 0 {
		f.more = fmt.Sprintf("%.1f%% in all", 100*float64(hits(l.now))/float64(all))
	}
	found, ok1 := l.rate(hits)
	missed, ok2 := l.rate(misses)
	ok := ok1 && ok2 && found+missed > 0
	if ok {
		f.level = 100 * found / (found + missed)
		f.value = fmt.Sprintf("%.1f%%", f.level)
	}
	f.add("hit_rate", orNull(f.level/100, ok))
	return []figure{f}
}

func orNull(n float64, known bool) resp.Value {
	if !known {
		return resp.Nil
	}
	return resp.MakeDouble(math.Round(n*1000) / 1000)
}

// draw draws the figures and their graphs in lines of at most columns characters.
func (l *live) draw(columns int) []string {
	if l.now == nil {
		return nil
	}
	const name, value, more = 9, 12, 20
	var lines []string
	for _, f := range l.figures() {
		line := display.Fit(f.name, name) + display.FitRight(f.value, value) + "  " + display.Fit(f.more, more)
		if room := columns - name - value - 2 - more - 2; room >= 10 {
			graph := l.graphs[f.name]
			line += " " + spark(graph[max(0, len(graph)-room):])
		}
		lines = append(lines, display.Truncate(strings.TrimRight(line, " "), columns))
	}
	for _, text := range []string{l.missing(), l.problem} {
		if text != "" {
			lines = append(lines, "", display.Truncate(display.Text(text, columns), columns))
		}
	}
	return lines
}

// missing explains why some figures are missing.
func (l *live) missing() string {
	switch {
	case l.now.file >= 0:
		return "A file does not count clients, commands and hits: a server does (meowdis serve)."
	case l.now.refusal != "":
		return "Only the keys are known: INFO returned " + l.now.refusal
	case l.now.fact("total_commands_processed") < 0:
		return "This target reports no other figures."
	}
	return ""
}

// json returns the figures as an object.
func (l *live) json() resp.Value {
	fields := []resp.Value{resp.MakeString("time_ms"), resp.MakeInt(l.now.at.UnixMilli())}
	for _, f := range l.figures() {
		fields = append(fields, f.json...)
	}
	return resp.MakeMap(fields...)
}
