package change

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Pattern maps old key names to new ones.
type Pattern struct {
	from  *regexp.Regexp
	to    string   // replacement for a regular expression
	parts []string // for a glob: the texts around the wildcards of the new name
	whole bool     // from matches the whole name
}

// ParsePattern parses a pattern. from is one of: a glob, each of whose wildcards matches
// the text that the wildcard at the same position in to inserts; a text, which is replaced
// wherever it occurs in a name; or a regular expression between slashes, whose groups to
// inserts as $1, $2, and so on.
func ParsePattern(from, to string) (p Pattern, err error) {
	switch inner, ok := strings.CutPrefix(from, "/"); {
	case from == "":
		return p, errors.New("enter the text to replace: user:*, a text, or /a regular expression/")
	case ok && len(inner) > 1 && strings.HasSuffix(inner, "/"):
		p.from, err = regexp.Compile(strings.TrimSuffix(inner, "/"))
		p.to = to
		return p, err
	case !strings.ContainsAny(from, "*?"):
		p.from, p.to = regexp.MustCompile(regexp.QuoteMeta(from)), strings.ReplaceAll(to, "$", "$$")
		return p, nil
	}
	texts, signs := aroundWildcards(from)
	p.whole = true
	if p.parts, _ = aroundWildcards(to); len(p.parts) > len(texts) {
		return p, fmt.Errorf("the new name has %d wildcards, and the old one %d", len(p.parts)-1, len(texts)-1)
	}
	source := `(?s)\A` + regexp.QuoteMeta(texts[0])
	for i, sign := range signs {
		source += map[byte]string{'*': "(.*?)", '?': "(.)"}[sign] + regexp.QuoteMeta(texts[i+1])
	}
	p.from, err = regexp.Compile(source + `\z`)
	return p, err
}

// aroundWildcards splits a glob into the texts around its wildcards, and the wildcards.
func aroundWildcards(glob string) (texts []string, signs []byte) {
	for {
		i := strings.IndexAny(glob, "*?")
		if i < 0 {
			return append(texts, glob), signs
		}
		texts, signs, glob = append(texts, glob[:i]), append(signs, glob[i]), glob[i+1:]
	}
}

// Apply returns the new name for name; name itself if the pattern does not match.
func (p Pattern) Apply(name string) string {
	if !p.whole {
		return p.from.ReplaceAllString(name, p.to)
	}
	found := p.from.FindStringSubmatch(name)
	if found == nil {
		return name
	}
	var b strings.Builder
	for i, part := range p.parts {
		if i > 0 {
			b.WriteString(found[i])
		}
		b.WriteString(part)
	}
	return b.String()
}
