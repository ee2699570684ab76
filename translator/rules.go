package translator

// Rules are the rules of a service that differ from Redis's. The zero value follows Redis.
type Rules struct {
	CopyToItself   bool // COPY k k replies 0 instead of an error
	NestedFirst    bool // a recursive JSONPath lists nested matches before the outer one
	ExactTrim      bool // the ~ of XADD and XTRIM, without LIMIT, removes as many entries as =
	FarFieldExpiry bool // an expiry of a field beyond the latest possible one means that one
	CallsReadOnly  bool // FCALL_RO runs functions without the flag no-writes, which must not write
}

// Upstash holds the rules of Upstash's service, by its documentation and its SDK. The last three are reported
// by users of the SDK, and documented nowhere.
var Upstash = Rules{CopyToItself: true, NestedFirst: true, ExactTrim: true, FarFieldExpiry: true, CallsReadOnly: true}
