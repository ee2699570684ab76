package translator

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

var seriesTranslations = translations{
	{"TS.CREATE", tsCreate},
	{"TS.ALTER", tsAlter},
	{"TS.ADD", tsAdd},
	{"TS.MADD", tsMadd},
	{"TS.INCRBY", tsIncrby(1)},
	{"TS.DECRBY", tsIncrby(-1)},
	{"TS.DEL", tsDel},
	{"TS.CREATERULE", tsCreaterule},
	{"TS.DELETERULE", tsDeleterule},
	{"TS.GET", tsGet},
	{"TS.READ", tsRead},
	{"TS.RANGE", tsRange(false)},
	{"TS.REVRANGE", tsRange(true)},
	{"TS.MGET", tsMget},
	{"TS.MRANGE", tsMrange(false)},
	{"TS.MREVRANGE", tsMrange(true)},
	{"TS.NRANGE", tsNrange(false)},
	{"TS.NREVRANGE", tsNrange(true)},
	{"TS.QUERYINDEX", tsQueryindex},
	{"TS.QUERYLABELS", tsQuerylabels},
	{"TS.INFO", tsInfo},
}

const seriesType = keytype.Series

// The replies to calls for a missing key, or one of another type.
var (
	seriesMissing   = seriesError("the key does not exist")
	seriesWrongType = resp.MakeError("ERR WRONGTYPE Operation against a key holding the wrong kind of value")
	notSeries       = seriesError("the key is not a TSDB key")
)

func seriesError(text string) resp.Value { return resp.MakeError("ERR TSDB: " + text) }

// duplicatePolicy says what happens to a sample at the time of another one. Its number is the one in dump files.
type duplicatePolicy byte

const (
	policyUnset duplicatePolicy = iota
	policyBlock
	policyLast
	policyFirst
	policyMin
	policyMax
	policySum
)

var policyNames = []string{"", "block", "last", "first", "min", "max", "sum"}

// seriesOptions holds the properties of a series.
type seriesOptions struct {
	retention   int64 // ms, 0 for no limit
	chunkSize   int64 // bytes
	plain       bool  // its chunks are not compressed in dump files
	policy      duplicatePolicy
	ignoreTime  int64 // ms
	ignoreValue float64
}

// series holds the series at a key, or the one that a call creates there, with the changes of the call.
type series struct {
	seriesOptions
	sampleChanges
	call  *Call
	key   []byte
	work  *store.Work
	last  timeseries.Sample // the zero value without samples
	count int64             // of stored samples

	stored   bool               // the series exists
	hidden   int64              // the result of expired before the changes
	isTarget bool               // of a compaction rule
	rules    []*compactionRule  // whose source the series is
	labels   []timeseries.Label // of a new series
	targets  []*series          // new ones, of its rules
}

// sampleChanges holds the samples that a call has read, added, changed and deleted.
type sampleChanges struct {
	known   map[int64]bool    // times of stored samples that the call has read
	values  map[int64]float64 // their values
	samples map[int64]float64 // added or changed ones
	times   []int64           // the keys of samples, in order of their first change
	sorted  []int64           // times, sorted; see sortedTimes
	added   int64             // samples that are new

	dropped [][2]int64 // ranges of times whose samples are deleted
}

func noChanges() sampleChanges {
	return sampleChanges{known: map[int64]bool{}, samples: map[int64]float64{}}
}

const (
	sqlSeries = `SELECT k.type, CAST(s.retention AS TEXT), s.chunk_size, s.plain, s.policy, CAST(s.ignore_time AS TEXT), s.ignore_value,
		CAST(s.last_at AS TEXT), s.last_value, k.count, EXISTS (SELECT 1 FROM series_rules WHERE target_id = k.id)
		FROM keys k LEFT JOIN series s ON s.key_id = k.id WHERE ` + live

	sqlSaveSeries = `INSERT INTO series(key_id, retention, chunk_size, plain, policy, ignore_time, ignore_value, last_at, last_value)
		VALUES(` + thisID + `, CAST(?3 AS INTEGER), ?4, ?5, ?6, CAST(?7 AS INTEGER), ?8, CAST(?9 AS INTEGER), ?10)
		ON CONFLICT(key_id) DO UPDATE SET retention = excluded.retention, chunk_size = excluded.chunk_size, policy = excluded.policy,
			ignore_time = excluded.ignore_time, ignore_value = excluded.ignore_value, last_at = excluded.last_at, last_value = excluded.last_value`

	sqlPutSample  = `INSERT INTO samples(key_id, at, value) VALUES(` + thisID + `, CAST(?3 AS INTEGER), ?4) ON CONFLICT(key_id, at) DO UPDATE SET value = excluded.value`
	sqlPutSamples = `INSERT INTO samples(key_id, at, value) SELECT ` + thisID + `, j.value ->> 0, CAST(j.value ->> 1 AS REAL) FROM json_each(?3) j
		WHERE true ON CONFLICT(key_id, at) DO UPDATE SET value = excluded.value`
	sqlDropSamples = `DELETE FROM samples WHERE key_id = ` + thisID + ` AND at BETWEEN CAST(?3 AS INTEGER) AND CAST(?4 AS INTEGER)`
	// A shorter retention, or a sample after a long pause, can expire millions of samples at once. Each write deletes
	// only some, so that other clients do not wait.
	sqlDropExpired = `DELETE FROM samples WHERE key_id = ` + thisID + ` AND at IN
		(SELECT at FROM samples WHERE key_id = ` + thisID + ` AND at < CAST(?3 AS INTEGER) ORDER BY at LIMIT 1000)`

	// sqlFindLast sets the last sample from the stored ones.
	sqlFindLast = `UPDATE series SET last_at = ifnull((SELECT max(at) FROM samples WHERE key_id = series.key_id), 0),
		last_value = (SELECT value FROM (SELECT at, value FROM samples WHERE key_id = series.key_id UNION ALL SELECT -1, 0) ORDER BY at DESC LIMIT 1)
		WHERE key_id = ` + thisID

	sqlDropLabels = `DELETE FROM series_labels WHERE key_id = ` + thisID
	sqlPutLabel   = `INSERT INTO series_labels(key_id, position, name, value) VALUES(` + thisID + `, ?3, ?4, ?5)`
	sqlLabels     = `SELECT name, value FROM series_labels WHERE key_id = ` + liveID + ` ORDER BY position`

	sqlSamplesAt = `SELECT CAST(at AS TEXT), value FROM samples WHERE key_id = ` + liveID + ` AND at IN (SELECT value FROM json_each(?4))`
	sqlSampleAt  = `SELECT CAST(at AS TEXT), value FROM samples WHERE key_id = ` + liveID + ` AND at = CAST(?4 AS INTEGER)`
)

// openSeries reads the series at key, or none for a missing key, and calls next; other is the reply for a key of another
// type.
func (c *Call) openSeries(key []byte, other resp.Value, next func(s *series) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		s, bad := c.seriesOf(key, r.Rows[0], r.Rows[1], other)
		if bad.IsError() {
			return answer(bad)
		}
		s.work = r.Work
		return next(s)
	}, c.seriesStmts(key)...)
}

// seriesStmts returns the two statements whose rows seriesOf decodes.
func (c *Call) seriesStmts(key []byte) []store.Stmt {
	return []store.Stmt{c.stmt(sqlSeries, key), c.stmt(sqlRules, key)}
}

func (c *Call) seriesOf(key []byte, head, rules []store.Row, other resp.Value) (s *series, bad resp.Value) {
	s = &series{call: c, key: key, seriesOptions: c.defaultSeries(), sampleChanges: noChanges()}
	if len(head) == 0 {
		return s, bad
	}
	row := head[0]
	if string(row[0].Bytes()) != seriesType {
		return nil, other
	}
	if row[2].Kind() == store.Null {
		return nil, damagedKey
	}
	s.stored = true
	s.retention, s.chunkSize, s.plain, s.policy = row[1].Int(), row[2].Int(), row[3].Int() != 0, duplicatePolicy(row[4].Int())
	s.ignoreTime, s.ignoreValue = row[5].Int(), row[6].Float()
	s.last = timeseries.Sample{At: row[7].Int(), Value: sampleValue(row[8])}
	s.count, s.isTarget = row[9].Int(), row[10].Int() != 0
	for _, row := range rules {
		s.rules = append(s.rules, ruleOf(row))
	}
	s.hidden = s.expired()
	return s, bad
}

// sampleValue decodes the value of a sample. NULL stands for NaN, which SQLite lacks.
func sampleValue(v store.Value) float64 {
	if v.Kind() == store.Null {
		return math.NaN()
	}
	return v.Float()
}

func storedValue(f float64) store.Value {
	if math.IsNaN(f) {
		return store.Value{}
	}
	return store.Float(f)
}

// oldest returns the time of the oldest sample that queries show.
func (s *series) oldest() int64 {
	if s.retention == 0 {
		return 0
	}
	return max(0, s.last.At-s.retention)
}

// put adds or replaces a sample.
func (s *series) put(at timeseries.Sample) {
	s.work.Grow(64)
	if _, ok := s.samples[at.At]; !ok {
		s.times = append(s.times, at.At)
		if !s.known[at.At] {
			s.added++
		}
	}
	s.samples[at.At] = at.Value
	if at.At >= s.last.At || s.count+s.added == 1 {
		s.last = at
	}
}

// drop deletes the stored sample at a time.
func (s *series) drop(at int64) {
	s.work.Grow(2 * stmtMemory)
	s.dropped = append(s.dropped, [2]int64{at, at})
}

// isDropped reports whether the call deletes the stored sample at a time.
func (s *series) isDropped(at int64) bool {
	return slices.ContainsFunc(s.dropped, func(d [2]int64) bool { return at >= d[0] && at <= d[1] })
}

// samplesPerStmt limits the samples of a statement.
const samplesPerStmt = 1000

// stmts returns the statements that store the changes.
func (s *series) stmts() (stmts []store.Stmt) {
	c := s.call
	named := c.key(s.key)[:2:2]
	with := func(sql string, more ...store.Value) store.Stmt {
		return store.Stmt{SQL: sql, Args: append(named, more...)}
	}
	if !s.stored {
		stmts = append(stmts, c.purge(s.key), c.ensure(s.key, seriesType))
	}
	stmts = append(stmts, with(sqlCountChanged, store.Int(s.added), store.Int(c.Env.Now)),
		with(sqlSaveSeries, store.Digits(s.retention), store.Int(s.chunkSize), boolValue(s.plain), store.Int(int64(s.policy)),
			store.Digits(s.ignoreTime), store.Float(s.ignoreValue), store.Digits(s.last.At), storedValue(s.last.Value)))
	for i, l := range s.labels {
		s.work.Grow(stmtMemory)
		stmts = append(stmts, with(sqlPutLabel, store.Int(int64(i)), store.Bytes([]byte(l.Name)), store.Bytes([]byte(l.Value))))
	}
	// The expired samples that earlier calls have left must stay hidden after a deletion, or with a longer retention.
	end := s.expired()
	if (len(s.dropped) > 0 || end < s.hidden) && s.hidden > 0 {
		stmts = append(stmts, with(sqlDropSamples, store.Digits(0), store.Digits(s.hidden-1)), c.countRemoved(s.key))
	}
	for _, d := range s.dropped {
		stmts = append(stmts, with(sqlDropSamples, store.Digits(d[0]), store.Digits(d[1])), c.countRemoved(s.key))
	}
	for times := s.times; len(times) > 0; {
		n := min(len(times), samplesPerStmt)
		if n == 1 {
			stmts = append(stmts, with(sqlPutSample, store.Digits(times[0]), storedValue(s.samples[times[0]])))
		} else {
			stmts = append(stmts, with(sqlPutSamples, s.samplesJSON(times[:n])))
		}
		times = times[n:]
	}
	if len(s.dropped) > 0 {
		stmts = append(stmts, with(sqlFindLast))
	}
	if end > 0 {
		stmts = append(stmts, with(sqlDropExpired, store.Digits(end)), c.countRemoved(s.key))
	}
	return stmts
}

// expired returns the time before which samples have expired: neither a query nor the open bucket of a rule sees them.
func (s *series) expired() int64 {
	end := s.oldest()
	for _, r := range s.rules {
		if r.open {
			end = min(end, r.start)
		}
	}
	return end
}

// samplesJSON returns a list of [time, value].
func (s *series) samplesJSON(times []int64) store.Value {
	s.work.Grow(int64(len(times)) * 48)
	list := make([]byte, 0, len(times)*48)
	for _, at := range times {
		list = append(strconv.AppendInt(append(list, ",["...), at, 10), ',')
		switch v := s.samples[at]; {
		case math.IsNaN(v):
			list = append(list, "null"...)
		case v == 0 && math.Signbit(v):
			list = append(list, "-0.0"...)
		case math.IsInf(v, 0): // JSON has no infinity, and SQLite reads a number that is too large as one
			list = strconv.AppendInt(list, int64(math.Copysign(9, v)), 10)
			list = append(list, "e999"...)
		default:
			list = appendScore(list, v)
		}
		list = append(list, ']')
	}
	list[0] = '['
	return store.TextBytes(append(list, ']'))
}

// boolValue returns 1 or 0.
func boolValue(b bool) store.Value {
	if b {
		return store.Int(1)
	}
	return store.Int(0)
}

// seriesChange holds the options of a call: the properties that it gives, and the labels.
type seriesChange struct {
	apply  []func(*seriesOptions)
	labels []timeseries.Label
	label  bool // LABELS was given
}

// parseSeriesOptions parses the options of a call that creates or alters a series, in Redis's order.
func (c *Call) parseSeriesOptions() (o seriesChange, bad resp.Value) {
	if bad = o.parseLabels(c); bad.IsError() {
		return o, bad
	}
	for _, parse := range []func(*Call) (func(*seriesOptions), resp.Value){parseRetention, parseChunkSize, parseEncoding, parsePolicy, parseIgnore} {
		set, bad := parse(c)
		if bad.IsError() {
			return o, bad
		}
		if set != nil {
			o.apply = append(o.apply, set)
		}
	}
	return o, bad
}

func (o seriesChange) to(s *seriesOptions) {
	for _, set := range o.apply {
		set(s)
	}
}

func (o *seriesChange) parseLabels(c *Call) (bad resp.Value) {
	at := c.option("LABELS")
	if at == 0 {
		return bad
	}
	o.label = true
	for i := at + 1; i+1 < len(c.Args); i += 2 {
		name, value := string(c.Args[i]), string(c.Args[i+1])
		if name == "" || value == "" || strings.ContainsAny(value, "(),") {
			return seriesError("Couldn't parse LABELS")
		}
		o.labels = append(o.labels, timeseries.Label{Name: name, Value: value})
	}
	return bad
}

func parseRetention(c *Call) (func(*seriesOptions), resp.Value) {
	at := c.option("RETENTION")
	if at == 0 {
		return nil, resp.Value{}
	}
	n, ok := c.intAt(at + 1)
	switch {
	case !ok:
		return nil, seriesError("Couldn't parse RETENTION")
	case n < 0:
		return nil, resp.MakeError("TSDB: Couldn't parse RETENTION")
	}
	return func(s *seriesOptions) { s.retention = n }, resp.Value{}
}

// intAt parses argument i, which may be missing.
func (c *Call) intAt(i int) (int64, bool) {
	if i >= len(c.Args) {
		return 0, false
	}
	return parseInt(c.Args[i])
}

func parseChunkSize(c *Call) (func(*seriesOptions), resp.Value) {
	at := c.option("CHUNK_SIZE")
	if at == 0 {
		return nil, resp.Value{}
	}
	n, ok := c.intAt(at + 1)
	switch {
	case !ok:
		return nil, seriesError("Couldn't parse CHUNK_SIZE")
	case n%8 != 0 || n < 48 || n > 1<<20:
		return nil, seriesError("CHUNK_SIZE value must be a multiple of 8 in the range [48 .. 1048576]")
	}
	return func(s *seriesOptions) { s.chunkSize = n }, resp.Value{}
}

func parseEncoding(c *Call) (func(*seriesOptions), resp.Value) {
	plain := c.option("UNCOMPRESSED") > 0
	if at := c.option("ENCODING"); at > 0 {
		switch {
		case at+1 == len(c.Args):
			return nil, commands.WrongArity(c.Command)
		case !c.is(at+1, "COMPRESSED") && !c.is(at+1, "UNCOMPRESSED"):
			return nil, seriesError("unknown ENCODING parameter")
		}
		plain = c.is(at+1, "UNCOMPRESSED")
	}
	return func(s *seriesOptions) { s.plain = plain }, resp.Value{}
}

func parsePolicy(c *Call) (func(*seriesOptions), resp.Value) {
	policy, bad := c.policyOption("DUPLICATE_POLICY")
	if policy == policyUnset {
		return nil, bad
	}
	return func(s *seriesOptions) { s.policy = policy }, bad
}

// policyOption parses the option word. It returns policyUnset for a missing one.
func (c *Call) policyOption(word string) (duplicatePolicy, resp.Value) {
	at := c.option(word)
	switch {
	case at == 0:
		return policyUnset, resp.Value{}
	case at+1 == len(c.Args):
		return policyUnset, seriesError("Couldn't parse " + word)
	}
	for i, name := range policyNames {
		if i > 0 && strings.EqualFold(name, string(c.Args[at+1])) {
			return duplicatePolicy(i), resp.Value{}
		}
	}
	return policyUnset, seriesError("Unknown " + word)
}

func parseIgnore(c *Call) (func(*seriesOptions), resp.Value) {
	at := c.option("IGNORE")
	if at == 0 {
		return nil, resp.Value{}
	}
	ms, ok := c.intAt(at + 1)
	if !ok || at+2 >= len(c.Args) {
		return nil, seriesError("Couldn't parse IGNORE")
	}
	value, ok := parseFloat(c.Args[at+2])
	switch {
	case !ok:
		return nil, seriesError("Couldn't parse IGNORE")
	case ms < 0 || value < 0:
		return nil, seriesError("IGNORE arguments cannot be negative")
	}
	return func(s *seriesOptions) { s.ignoreTime, s.ignoreValue = ms, value }, resp.Value{}
}

func tsCreate(c *Call) Plan {
	o, bad := c.parseSeriesOptions()
	if bad.IsError() {
		return answer(bad)
	}
	exists := seriesError("key already exists")
	return c.openSeries(c.Args[1], exists, func(s *series) Plan {
		if s.stored {
			return answer(exists)
		}
		o.to(&s.seriesOptions)
		s.labels = o.labels
		return write(always(resp.OK), s.stmts()...)
	})
}

func tsAlter(c *Call) Plan {
	o, bad := c.parseSeriesOptions()
	if bad.IsError() {
		return answer(bad)
	}
	return c.openSeries(c.Args[1], seriesWrongType, func(s *series) Plan {
		if !s.stored {
			return answer(seriesMissing)
		}
		o.to(&s.seriesOptions)
		var stmts []store.Stmt
		if o.label {
			s.labels = o.labels
			stmts = append(stmts, store.Stmt{SQL: sqlDropLabels, Args: c.sharedKey(s.key)[:2:2]})
		}
		return write(always(resp.OK), append(stmts, s.stmts()...)...)
	})
}
