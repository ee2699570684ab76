package server

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/translator"
)

// setting parses a new value of a parameter. It returns the value as CONFIG GET shows it, or an error text.
type setting func(value string) (normal, why string)

func anything(value string) (normal, why string) { return value, "" }

func yesNo(value string) (normal, why string) {
	if normal = strings.ToLower(value); normal != "yes" && normal != "no" {
		return "", "argument must be 'yes' or 'no'"
	}
	return normal, ""
}

func oneOf(words ...string) setting {
	return func(value string) (normal, why string) {
		if normal = strings.ToLower(value); !slices.Contains(words, normal) {
			return "", "argument(s) must be one of the following: " + strings.Join(words, ", ")
		}
		return normal, ""
	}
}

func number(low, high int64) setting {
	return func(value string) (normal, why string) {
		n, ok := commands.ParseInt([]byte(value))
		switch {
		case !ok:
			return "", "argument couldn't be parsed into an integer"
		case n < low || n > high:
			return "", outside(low, high)
		}
		return value, ""
	}
}

func outside(low, high int64) string {
	return fmt.Sprintf("argument must be between %d and %d inclusive", low, high)
}

// units of memory values: k is 1000, kb is 1024.
var units = map[string]uint64{
	"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1000_000, "mb": 1 << 20, "g": 1000_000_000, "gb": 1 << 30,
}

func memory(value string) (normal, why string) {
	value, _, _ = strings.Cut(value, "\x00") // Redis stops at a NUL
	digits := strings.TrimRight(value, "bgkmBGKM")
	unit := units[strings.ToLower(value[len(digits):])]
	n, err := strconv.ParseUint("0"+digits, 10, 64) // a unit alone means 0
	switch {
	case unit == 0 || err != nil && !errors.Is(err, strconv.ErrRange):
		return "", "argument must be a memory value"
	case err != nil || n > math.MaxInt64/unit:
		return "", outside(0, math.MaxInt64)
	}
	return strconv.FormatUint(n*unit, 10), ""
}

// bigMemory parses an unsigned memory value. As in Redis, values over 64 bits become the greatest value.
func bigMemory(value string) (normal, why string) {
	if n, err := strconv.ParseUint(value, 10, 64); errors.Is(err, strconv.ErrRange) || n > math.MaxInt64 {
		return strconv.FormatUint(n, 10), ""
	}
	return memory(value)
}

func memoryOrPercent(value string) (normal, why string) {
	if percent, is := strings.CutSuffix(value, "%"); is {
		switch n, ok := commands.ParseInt([]byte(percent)); {
		case ok && n > 100:
			return "", "percentage argument must be less or equal to 100"
		case ok && n >= 0:
			return value, ""
		}
	}
	if normal, why = memory(value); why != "" {
		why = "argument must be a memory or percent value"
	}
	return normal, why
}

// hostname parses the name of a host.
func hostname(value string) (normal, why string) {
	switch {
	case len(value) >= 256:
		return "", "Hostnames must be less than 256 characters"
	case strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune(alphanumeric+"-.", r) }):
		return "", "Hostnames may only contain alphanumeric characters, hyphens or dots"
	}
	return value, ""
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// nodeName parses the name of a cluster's node.
func nodeName(value string) (normal, why string) {
	if strings.ContainsAny(value, "\x00!#$%&()*+:;<>?@[]^{|}~") {
		return "", "Announced human node name contained invalid character"
	}
	return value, ""
}

// titleVariables matches the variables of proc-title-template. The first group matches the variables that are empty
// here.
var titleVariables = regexp.MustCompile(`\{(?:(title|server-mode|unixsocket)|listen-addr|port|tls-port|config-file)\}`)

// titleTemplate parses proc-title-template. As in Redis, a template that yields an empty title is an error.
func titleTemplate(value string) (normal, why string) {
	title := titleVariables.ReplaceAllStringFunc(value, func(variable string) string {
		if titleVariables.FindStringSubmatch(variable)[1] != "" {
			return ""
		}
		return "0"
	})
	if title == "" || strings.Contains(title, "{") {
		return "", "template format is invalid or contains unknown variables"
	}
	return value, ""
}

// oomScores parses the three numbers of oom-score-adj-values.
func oomScores(value string) (normal, why string) {
	words := strings.Split(value, " ")
	if len(words) != 3 {
		return "", "wrong number of arguments"
	}
	for _, word := range words {
		if n, ok := commands.ParseInt([]byte(word)); !ok || n < -2000 || n > 2000 {
			return "", "Invalid oom-score-adj-values, elements must be between -2000 and 2000."
		}
	}
	return value, ""
}

// collation parses the name of a locale. Only the locales built into the C library exist here.
func collation(value string) (normal, why string) {
	if value != "" && value != "C" && value != "POSIX" {
		return "", "Invalid locale name"
	}
	return value, ""
}

// baseName returns a check for the name of a file without a directory.
func baseName(parameter, what string) setting {
	return func(value string) (normal, why string) {
		switch {
		case value == "":
			return "", parameter + " can't be empty"
		case strings.Contains(value, "/"):
			return "", parameter + " can't be a path, just a " + what
		}
		return value, ""
	}
}

// atLeast returns check for a memory value that may not be below low.
func atLeast(low int64, check setting) setting {
	return func(value string) (normal, why string) {
		normal, why = check(value)
		if n, _ := strconv.ParseInt(normal, 10, 64); why == "" && n < low || why == outside(0, math.MaxInt64) {
			return "", outside(low, math.MaxInt64)
		}
		return normal, why
	}
}

// atMost returns check for a value that may not be above high.
func atMost(high int64, check setting) setting {
	return func(value string) (normal, why string) {
		normal, why = check(value)
		if n, _ := strconv.ParseInt(normal, 10, 64); why == "" && n > high {
			return "", fmt.Sprintf("argument must be at most %d, the longest value here", high)
		}
		return normal, why
	}
}

// clamped returns check for a value that is brought between low and high.
func clamped(low, high int64, check setting) setting {
	return func(value string) (normal, why string) {
		if normal, why = check(value); why != "" {
			return "", why
		}
		n, _ := strconv.ParseInt(normal, 10, 64)
		return strconv.FormatInt(min(max(n, low), high), 10), ""
	}
}

// eventClasses parses notify-keyspace-events and returns the classes in Redis's order. With A the value keeps n, but
// shownClasses hides it.
func eventClasses(value string) (normal, why string) {
	const all = allClasses
	if strings.Trim(value, "A"+all+"KEmn") != "" {
		return "", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
	}
	if strings.Contains(value, "m") {
		return "", "events of missing keys (m) are not supported: reads publish no events"
	}
	has := func(class rune) bool { return strings.ContainsRune(value, class) }
	kept := func(classes string) string {
		return strings.Map(func(class rune) rune {
			if has(class) {
				return class
			}
			return -1
		}, classes)
	}
	if normal = kept(all); has('A') || normal == all {
		return "A" + kept("nKE"), ""
	}
	return normal + kept("n") + kept("KE"), ""
}

// savePoints parses pairs of seconds and changes, separated by single spaces.
func savePoints(value string) (normal, why string) {
	if value == "" {
		return "", ""
	}
	words := strings.Split(value, " ")
	for i, word := range words {
		if n, err := strconv.Atoi(word); err != nil || n < 0 || n == 0 && i%2 == 0 {
			return "", "Invalid save parameters"
		}
	}
	if len(words)%2 != 0 {
		return "", "Invalid save parameters"
	}
	return value, ""
}

// policies accepts Redis's eviction policies.
var policies = oneOf("volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random", "noeviction")

// policy parses maxmemory-policy. Policies that need the last use of a key do not exist here.
func policy(value string) (normal, why string) {
	if normal, why = policies(value); why != "" {
		return "", why
	}
	switch normal {
	case translator.NoEviction, translator.AllKeysRandom, translator.VolatileTTL:
		return normal, ""
	}
	return "", "only noeviction, allkeys-random and volatile-ttl are supported: the last use of keys is not recorded"
}

// percentiles parses latency-tracking-info-percentiles.
func percentiles(value string) (percents []float64) {
	for _, word := range strings.Fields(value) {
		if p, err := strconv.ParseFloat(word, 64); err == nil {
			percents = append(percents, p)
		}
	}
	return percents
}

func checkPercentiles(value string) (normal, why string) {
	if value == "" {
		return "", ""
	}
	var words []string
	for _, word := range strings.Split(value, " ") {
		p, err := strconv.ParseFloat(word, 64)
		switch {
		case err != nil:
			return "", "Invalid latency-tracking-info-percentiles parameters"
		case !(p >= 0 && p <= 100):
			return "", "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
		}
		words = append(words, strconv.FormatFloat(p, 'g', -1, 64))
	}
	return strings.Join(words, " "), ""
}

// rate accepts a rate of errors between 0 and 1.
func rate(value string) (normal, why string) {
	if f, err := strconv.ParseFloat(value, 64); err != nil || !(f > 0 && f < 1) {
		return "", "argument must be between 0 and 1 exclusive"
	}
	return value, ""
}

// nonNegative accepts a finite number from 0 on.
func nonNegative(value string) (normal, why string) {
	if f, err := strconv.ParseFloat(value, 64); err != nil || !(f >= 0) || math.IsInf(f, 0) {
		return "", "argument must be a number from 0 on"
	}
	return value, ""
}

// compactionPolicy accepts the rules of new time series.
func compactionPolicy(value string) (normal, why string) {
	if _, ok := timeseries.ParsePolicy(value); !ok {
		return "", "argument must be aggregation:bucket:retention[:alignment], separated by semicolons, such as max:1M:1h"
	}
	return value, ""
}

// chunkSize accepts the bytes of a chunk of a time series.
func chunkSize(value string) (normal, why string) {
	normal, why = number(48, 1<<20)(value)
	if n, _ := strconv.ParseInt(normal, 10, 64); why == "" && n%8 != 0 {
		return "", "argument must be a multiple of 8"
	}
	return normal, why
}
