// Package timeseries defines what Redis's time series compute: aggregations over buckets of time, filters of labels,
// compressed chunks, and the text of a value.
//
// Timestamps are Unix ms. The facts are from redis.io/docs/latest/develop/data-types/timeseries/ and the reference of the
// TS commands.
package timeseries
