// Package glob matches keys, channels, commands and parameter names with Redis's patterns.
package glob

// Match reports whether s matches a Redis pattern: * for any bytes (a slash is an ordinary
// byte), ? for one byte, [a-z] and [^a-z], and a backslash before a literal byte. With fold,
// ASCII letters match in any case. Like Redis, it lets the empty string match the empty
// pattern alone; a caller whose "*" means everything must check for it.
//
// It takes at most len(pattern)*len(s) steps: when a * fails, only the last one needs to be
// extended, since any other match of an earlier * leaves it less of s.
func Match(pattern, s []byte, fold bool) bool { return MatchCounted(pattern, s, fold, nil) }

// stepsPerCall is the number of steps that MatchCounted takes between two calls of step.
const stepsPerCall = 1 << 10

// MatchCounted is like Match, and calls step, if not nil, regularly with the number of steps
// since the last call.
func MatchCounted(pattern, s []byte, fold bool, step func(n int)) bool {
	matches, steps := match(pattern, s, fold, step)
	if step != nil {
		step(steps)
	}
	return matches
}

// match implements MatchCounted, and also returns the number of steps not yet reported.
func match(pattern, s []byte, fold bool, step func(n int)) (matches bool, steps int) {
	if len(s) == 0 {
		return len(pattern) == 0, 0
	}
	p, star, mark := 0, -1, 0
	for i := 0; i < len(s); {
		if steps++; steps >= stepsPerCall && step != nil {
			step(steps)
			steps = 0
		}
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, i
			p++
			continue
		}
		n, ok := matchOne(pattern[p:], s[i], fold)
		if steps += n; ok {
			p += n
			i++
			continue
		}
		if star < 0 {
			return false, steps
		}
		mark++
		p, i = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
		steps++
	}
	return p == len(pattern), steps
}

// matchOne matches one byte with the first element of the pattern, and returns the length of
// that element.
func matchOne(pattern []byte, c byte, fold bool) (int, bool) {
	if len(pattern) == 0 {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c, fold)
	case '\\':
		if len(pattern) > 1 {
			return 2, sameByte(pattern[1], c, fold)
		}
	}
	return 1, sameByte(pattern[0], c, fold)
}

// matchClass is matchOne for "[…]". A class without "]" extends to the end of the pattern. The
// ends of a range may stand in either order, and are signed, like C's char where Redis runs.
func matchClass(pattern []byte, c byte, fold bool) (int, bool) {
	i, found := 1, false
	not := i < len(pattern) && pattern[i] == '^'
	if not {
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			found = found || pattern[i] == c
		case i+2 < len(pattern) && pattern[i+1] == '-':
			low, high, x := pattern[i], pattern[i+2], c
			if int8(low) > int8(high) {
				low, high = high, low
			}
			if fold {
				low, high, x = lower(low), lower(high), lower(x)
			}
			found = found || int8(low) <= int8(x) && int8(x) <= int8(high)
			i += 2
		default:
			found = found || sameByte(pattern[i], c, fold)
		}
	}
	return min(i+1, len(pattern)), found != not
}

func sameByte(a, b byte, fold bool) bool {
	return a == b || fold && lower(a) == lower(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// MatchKey reports whether KEYS and the SCAN family return the key for this pattern: "*"
// matches everything, even the empty key.
func MatchKey(pattern, key []byte) bool { return MatchKeyCounted(pattern, key, nil) }

// MatchKeyCounted is like MatchKey, and calls step as MatchCounted does.
func MatchKeyCounted(pattern, key []byte, step func(n int)) bool {
	return len(pattern) == 1 && pattern[0] == '*' || MatchCounted(pattern, key, false, step)
}

// Range returns the range of keys that can match the pattern: from its literal prefix up to
// but not including to, which is nil if the range has no end. Without wildcards, the range
// holds one key.
func Range(pattern []byte) (from, to []byte) {
	from = []byte{}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*', '?', '[':
			return from, After(from)
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
		}
		from = append(from, pattern[i])
	}
	return from, append(from[:len(from):len(from)], 0)
}

// After returns the least string greater than every string with the prefix, or nil if none
// exists.
func After(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			next := append([]byte(nil), prefix[:i+1]...)
			next[i]++
			return next
		}
	}
	return nil
}
