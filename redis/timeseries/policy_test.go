package timeseries

import (
	"fmt"
	"testing"
)

func TestParsePolicy(t *testing.T) {
	for policy, want := range map[string]string{
		"":                            "[] true",
		"max:1M:1h":                   "[{max 60000 3600000 0}] true",
		"avg:2h:10d:10m;TWA:5s:0;":    "[{avg 7200000 864000000 10} {twa 5000 0 0}] true",
		"max:1M":                      "[] false",
		"max:0s:1h":                   "[] false",
		"max:1:1h":                    "[] false",
		"max:1M:1x":                   "[] false",
		"most:1M:1h":                  "[] false",
		"max:9223372036854775807d:1h": "[] false",
		"max::1h":                     "[] false",
		"max:-1s:1h":                  "[] false",
	} {
		rules, ok := ParsePolicy(policy)
		if got := fmt.Sprint(rules, ok); got != want {
			t.Errorf("%q: %s, want %s", policy, got, want)
		}
	}
	if rules, _ := ParsePolicy("std.p:1s:0:5m"); string(rules[0].Target([]byte("k"))) != "k_STD.P_1000_5" {
		t.Errorf("%s", rules[0].Target([]byte("k")))
	}
}
