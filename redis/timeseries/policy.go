package timeseries

import (
	"strconv"
	"strings"
)

// PolicyRule describes a compaction rule that a new series gets by the parameter ts-compaction-policy. Times are in ms.
type PolicyRule struct {
	Aggregator               Aggregator
	Bucket, Retention, Align int64
}

// Target returns the key of the series that the rule of a source writes.
func (r PolicyRule) Target(source []byte) []byte {
	key := append([]byte{}, source...)
	key = append(append(append(key, '_'), strings.ToUpper(r.Aggregator.String())...), '_')
	key = strconv.AppendInt(key, r.Bucket, 10)
	if r.Align != 0 {
		key = strconv.AppendInt(append(key, '_'), r.Align, 10)
	}
	return key
}

// ParsePolicy parses rules such as max:1M:1h;avg:2h:10d:10m, separated by semicolons: an aggregator, the duration of a
// bucket, a retention, and an alignment. The empty policy has no rules.
func ParsePolicy(policy string) (rules []PolicyRule, ok bool) {
	for part := range strings.SplitSeq(policy, ";") {
		if part == "" {
			continue
		}
		fields := strings.Split(part, ":")
		if len(fields) != 3 && len(fields) != 4 {
			return nil, false
		}
		var r PolicyRule
		if r.Aggregator, ok = ParseAggregator(fields[0]); !ok {
			return nil, false
		}
		for i, to := range []*int64{&r.Bucket, &r.Retention, &r.Align}[:len(fields)-1] {
			if *to, ok = parsePeriod(fields[1+i]); !ok {
				return nil, false
			}
		}
		if r.Bucket == 0 {
			return nil, false
		}
		rules = append(rules, r)
	}
	return rules, true
}

// parsePeriod parses a number with a unit: m for milliseconds, s, M for minutes, h, or d. 0 needs no unit.
func parsePeriod(text string) (ms int64, ok bool) {
	if text == "0" {
		return 0, true
	}
	if text == "" {
		return 0, false
	}
	unit := map[byte]uint64{'m': 1, 's': 1000, 'M': 60_000, 'h': 3_600_000, 'd': 86_400_000}[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 64)
	if err != nil || unit == 0 || n > 1<<62/unit {
		return 0, false
	}
	return int64(n * unit), true
}
