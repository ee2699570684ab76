package rqlite

import "strings"

// word holds a token of SQL: a keyword or a name in upper case, a parameter, or a punctuation mark.
type word struct {
	text       string
	start, end int
	depth      int // of parentheses; a parenthesis itself has the depth outside of it
}

// words returns the tokens of sql. It drops comments, and replaces literals and quoted names by ”, because
// their contents do not matter.
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

// skipQuoted returns the end of the literal that begins at i. A doubled quote is part of the literal.
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

// after returns the position after the next mark, or the end of sql if mark is missing.
func after(sql string, i int, mark string) int {
	if n := strings.Index(sql[i:], mark); n >= 0 {
		return i + n + len(mark)
	}
	return len(sql)
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
