package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/timeseries"
)

// ModuleDefaults holds the parameters of CONFIG that new filters and time series start with:
// redis.io/docs/latest/develop/data-types/probabilistic/configuration and …/timeseries/configuration.
type ModuleDefaults struct {
	BloomRate                      float64
	BloomCapacity, BloomExpansion  int64
	CuckooCapacity, CuckooBucket   int64
	CuckooIterations               int64
	CuckooExpansion, CuckooFilters int64

	SeriesRetention, SeriesChunk int64 // ms, bytes
	SeriesPlain                  bool  // chunks are not compressed
	SeriesPolicy                 string
	SeriesIgnoreTime             int64
	SeriesIgnoreValue            float64
	SeriesRules                  []timeseries.PolicyRule
}

var defaultModules = ModuleDefaults{
	BloomRate: 0.01, BloomCapacity: 100, BloomExpansion: 2,
	CuckooCapacity: 1024, CuckooBucket: 2, CuckooIterations: 20, CuckooExpansion: 1, CuckooFilters: 32,
	SeriesChunk: 4096, SeriesPolicy: "block",
}

func (c *Call) modules() *ModuleDefaults {
	if l := c.Env.Limits; l != nil && l.Modules != nil {
		return l.Modules
	}
	return &defaultModules
}

func (c *Call) defaultBloom() bloomOptions {
	m := c.modules()
	return bloomOptions{rate: m.BloomRate, capacity: m.BloomCapacity, expansion: m.BloomExpansion}
}

func (c *Call) defaultCuckoo() cuckooOptions {
	m := c.modules()
	return cuckooOptions{capacity: m.CuckooCapacity, bucketSize: m.CuckooBucket, iterations: m.CuckooIterations, expansion: m.CuckooExpansion}
}

func (c *Call) defaultSeries() seriesOptions {
	m := c.modules()
	policy := duplicatePolicy(max(0, slices.Index(policyNames, m.SeriesPolicy)))
	return seriesOptions{
		retention: m.SeriesRetention, chunkSize: m.SeriesChunk, plain: m.SeriesPlain, policy: policy,
		ignoreTime: m.SeriesIgnoreTime, ignoreValue: m.SeriesIgnoreValue,
	}
}
