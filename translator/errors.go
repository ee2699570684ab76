package translator

import "github.com/meowdis/meowdis/redis/resp"

// These errors of Redis are the replies of more than one command, byte for byte.
const (
	errEmptyCommand      = "ERR empty command"
	errSyntax            = "ERR syntax error"
	errNotInteger        = "ERR value is not an integer or out of range"
	errNotFloat          = "ERR value is not a valid float"
	errOutOfRange        = "ERR value is out of range"
	errMustBePositive    = "ERR value is out of range, must be positive"
	errOverflow          = "ERR increment or decrement would overflow"
	errIncrementInfinite = "ERR increment would produce NaN or Infinity"
	errNoSuchKey         = "ERR no such key"
	errIndexRange        = "ERR index out of range"
	errStringTooLong     = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	errOffset            = "ERR offset is out of range"
	errDBIndex           = "ERR DB index is out of range"
	errInvalidCursor     = "ERR invalid cursor"
	errIndexOrder        = "ERR the database is damaged: an index is out of order"
	errNoNegation        = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	errSameObject        = "ERR source and destination objects are the same"
)

var (
	wrongType  = resp.MakeError("WRONGTYPE Operation against a key holding the wrong kind of value")
	notInteger = resp.MakeError(errNotInteger)
	overflow   = resp.MakeError(errOverflow)
	noSuchKey  = resp.MakeError(errNoSuchKey)
)

// invalidExpire returns the error for a TTL that is not positive or overflows.
func invalidExpire(c *Call) Plan {
	return fail("ERR invalid expire time in '" + c.lowerName() + "' command")
}
