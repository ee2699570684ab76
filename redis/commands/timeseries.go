package commands

// The commands of time series: redis.io/docs/latest/commands/?group=timeseries.

var timeSeriesCommands = []Command{
	{
		Name: "TS.CREATE", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | DenyOOM | Module, Categories: sketchFast("timeseries"),
		Traits:  AnswersOK,
		Summary: "Creates a time series",
		Syntax:  "key" + seriesOptions, Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TS.ALTER", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | DenyOOM | Module, Categories: []string{"timeseries"},
		Traits:  AnswersOK,
		Summary: "Changes the retention, the labels and other properties of a time series",
		Syntax:  "key [RETENTION retentionPeriod] [CHUNK_SIZE size] [DUPLICATE_POLICY <BLOCK|FIRST|LAST|MIN|MAX|SUM>] [IGNORE ignoreMaxTimediff ignoreMaxValDiff] [LABELS [label value [label value ...]]]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TS.ADD", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"timeseries"},
		Summary: "Adds a sample to a time series, which it creates if it is missing",
		Syntax:  "key timestamp value [RETENTION retentionPeriod] [ENCODING <COMPRESSED|UNCOMPRESSED>] [CHUNK_SIZE size] [DUPLICATE_POLICY <BLOCK|FIRST|LAST|MIN|MAX|SUM>] [ON_DUPLICATE <BLOCK|FIRST|LAST|MIN|MAX|SUM>] [IGNORE ignoreMaxTimediff ignoreMaxValDiff] [LABELS label value [label value ...]]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TS.MADD", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"timeseries"},
		Summary: "Adds samples to existing time series",
		Syntax:  "key timestamp value [key timestamp value ...]", Keys: []KeySpec{keysFrom(RW, 1, -1, 3)},
	},
	{
		Name: "TS.INCRBY", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: []string{"timeseries"},
		Summary: "Adds a sample whose value is the last one plus a number",
		Syntax:  "key addend [TIMESTAMP timestamp]" + seriesOptions, Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TS.DECRBY", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: []string{"timeseries"},
		Summary: "Adds a sample whose value is the last one minus a number",
		Syntax:  "key subtrahend [TIMESTAMP timestamp]" + seriesOptions, Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TS.DEL", Group: "module", Since: "1.6.0", Arity: 4, Flags: Write | Module, Categories: []string{"timeseries"},
		Summary: "Deletes the samples between two times",
		Syntax:  "key fromTimestamp toTimestamp", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TS.CREATERULE", Group: "module", Since: "1.0.0", Arity: -5, Flags: Write | Module | Fast, Categories: []string{"timeseries"},
		Traits:  AnswersOK,
		Summary: "Creates a rule that compacts a time series into another one",
		Syntax:  "sourceKey destKey AGGREGATION aggregator bucketDuration [alignTimestamp]",
		Keys:    []KeySpec{oneKey(RO, 1), oneKey(RW, 2)},
	},
	{
		Name: "TS.DELETERULE", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | Module, Categories: sketchFast("timeseries"),
		Traits:  AnswersOK,
		Summary: "Deletes a rule",
		Syntax:  "sourceKey destKey", Keys: []KeySpec{oneKey(RO, 1), oneKey(RW, 2)},
	},
	{
		Name: "TS.GET", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module, Categories: sketchFast("timeseries"),
		Summary: "Returns the last sample of a time series",
		Syntax:  "key [LATEST]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TS.READ", Group: "module", Since: "8.10.0", Arity: -3, Flags: ReadOnly | Module | Blocking, Categories: []string{"timeseries"}, Tips: dontCache,
		Summary: "Returns the samples since a time, or waits for them",
		Syntax:  "key timestamp [BLOCK milliseconds min_count] [MAX_COUNT max_count]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TS.RANGE", Group: "module", Since: "1.0.0", Arity: -4, Flags: ReadOnly | Module, Categories: []string{"timeseries"},
		Summary: "Returns the samples between two times, or their aggregations",
		Syntax:  "key fromTimestamp toTimestamp" + seriesRange, Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TS.REVRANGE", Group: "module", Since: "1.4.0", Arity: -4, Flags: ReadOnly | Module, Categories: []string{"timeseries"},
		Summary: "Returns the samples between two times, the newest first",
		Syntax:  "key fromTimestamp toTimestamp" + seriesRange, Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TS.MGET", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: []string{"timeseries"}, Tips: dontCache,
		Summary: "Returns the last sample of each time series that a filter finds",
		Syntax:  "[LATEST] [WITHLABELS|SELECTED_LABELS label [label ...]] FILTER filterExpr [filterExpr ...]",
	},
	{
		Name: "TS.MRANGE", Group: "module", Since: "1.0.0", Arity: -4, Flags: ReadOnly | Module, Categories: []string{"timeseries"}, Tips: dontCache,
		Summary: "Returns the samples between two times of each time series that a filter finds",
		Syntax:  "fromTimestamp toTimestamp" + seriesMany,
	},
	{
		Name: "TS.MREVRANGE", Group: "module", Since: "1.4.0", Arity: -4, Flags: ReadOnly | Module, Categories: []string{"timeseries"}, Tips: dontCache,
		Summary: "Returns the samples between two times of each time series that a filter finds, the newest first",
		Syntax:  "fromTimestamp toTimestamp" + seriesMany,
	},
	{
		Name: "TS.QUERYINDEX", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module, Categories: []string{"timeseries"}, Tips: dontCache,
		Summary: "Returns the keys of the time series that a filter finds",
		Syntax:  "filterExpr [filterExpr ...]",
	},
	{
		Name: "TS.QUERYLABELS", Group: "module", Since: "8.10.0", Arity: -2, Flags: ReadOnly | Module, Categories: []string{"timeseries"}, Tips: dontCache,
		Summary: "Returns the names of the labels, or the values of one, of all time series or those that a filter finds",
		Syntax:  "<LABELS|VALUES label> [FILTER filterExpr [filterExpr ...]]",
	},
	{
		Name: "TS.NRANGE", Group: "module", Since: "8.10.0", Arity: -5, Flags: ReadOnly | Module | MovableKeys, Categories: []string{"timeseries"},
		Summary: "Returns the samples between two times of several time series, joined by time",
		Syntax:  "numkeys key [key ...] fromTimestamp toTimestamp" + seriesJoin, Keys: []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "TS.NREVRANGE", Group: "module", Since: "8.10.0", Arity: -5, Flags: ReadOnly | Module | MovableKeys, Categories: []string{"timeseries"},
		Summary: "Returns the samples between two times of several time series, joined by time, the newest first",
		Syntax:  "numkeys key [key ...] fromTimestamp toTimestamp" + seriesJoin, Keys: []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "TS.INFO", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module, Categories: sketchFast("timeseries"), Tips: dontCache,
		Replies: properties,
		Summary: "Returns the properties of a time series",
		Syntax:  "key [DEBUG]", Keys: []KeySpec{oneKey(RO, 1)},
	},
}

// Parts of the syntax that several commands share.
const (
	seriesOptions = " [RETENTION retentionPeriod] [ENCODING <COMPRESSED|UNCOMPRESSED>] [CHUNK_SIZE size] [DUPLICATE_POLICY <BLOCK|FIRST|LAST|MIN|MAX|SUM>] [IGNORE ignoreMaxTimediff ignoreMaxValDiff] [LABELS label value [label value ...]]"
	seriesBuckets = " [COUNT count] [[ALIGN align] AGGREGATION aggregators bucketDuration [BUCKETTIMESTAMP <START|-|END|+|MID|~>] [EMPTY]]"
	seriesRange   = " [LATEST] [FILTER_BY_TS timestamp [timestamp ...]] [FILTER_BY_VALUE min max]" + seriesBuckets
	seriesJoin    = " [LATEST] [FILTER_BY_TS timestamp [timestamp ...]] [FILTER_BY_VALUE min max] [COUNT count] [[ALIGN align] AGGREGATION aggregators [aggregators ...] bucketDuration [BUCKETTIMESTAMP <START|-|END|+|MID|~>] [EMPTY]]"
	seriesMany    = " [LATEST] [FILTER_BY_TS timestamp [timestamp ...]] [FILTER_BY_VALUE min max] [WITHLABELS|SELECTED_LABELS label [label ...]]" + seriesBuckets +
		" [EXCLUDEEMPTY] FILTER filterExpr [filterExpr ...] [GROUPBY label REDUCE reducer]"
)
