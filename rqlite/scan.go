package rqlite

import "strings"

// word is a piece of SQL that matters here: a keyword or a name in upper case, a parameter, or a
// punctuation mark.
type word struct {
	text       string
	start, end int
	depth      int // of parentheses; an opening or closing one is at the depth outside of it
}

// words are the pieces of sql, without literals, quoted names, numbers and comments, which may hold
// anything and mean nothing here.
func words(sql string) (all []word) {
	depth := 0
	for i := 0; i < len(sql); {
		start, c := i, sql[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			i = skipQuoted(sql, i, c)
			all = append(all, word{"''", start, i, depth})
		case c == '[':
			i = after(sql, i, "]")
			all = append(all, word{"''", start, i, depth})
		case strings.HasPrefix(sql[i:], "--"):
			i = after(sql, i, "\n")
		case strings.HasPrefix(sql[i:], "/*"):
			i = after(sql, i, "*/")
		case c == '?' || isLetter(c) || isDigit(c):
			for i++; i < len(sql) && (isLetter(sql[i]) || isDigit(sql[i])); i++ {
			}
			all = append(all, word{strings.ToUpper(sql[start:i]), start, i, depth})
		default:
			i++
			if c == ')' {
				depth--
			}
			if c > ' ' {
				all = append(all, word{sql[start:i], start, i, depth})
			}
			if c == '(' {
				depth++
			}
		}
	}
	return all
}

// skipQuoted is where the literal ends that begins at i; a doubled quote is one of its characters.
func skipQuoted(sql string, i int, quote byte) int {
	for i++; i < len(sql); i++ {
		if sql[i] == quote {
			if i+1 < len(sql) && sql[i+1] == quote {
				i++
				continue
			}
			return i + 1
		}
	}
	return i
}

// after is where what begins at i ends, with mark.
func after(sql string, i int, mark string) int {
	if n := strings.Index(sql[i:], mark); n >= 0 {
		return i + n + len(mark)
	}
	return len(sql)
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
