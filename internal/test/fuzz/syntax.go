package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/test/oracle"
)

// nodeKind is the kind of a syntax node.
type nodeKind int

const (
	literal     nodeKind = iota // an option's name, in text
	placeholder                 // an argument, named by text
	sequence                    // all kids in order
	choice                      // one of the kids
	optional                    // the kid or nothing
	repeated                    // the kid any number of times
)

// node is a part of a command's syntax.
type node struct {
	kind nodeKind
	text string
	kids []node
}

// parseSyntax reads the notation of redis.io, such as
//
//	key [NX|XX] [LIMIT offset count] <LEFT|RIGHT> member [member ...]
//
// Words in capitals are literal.
func parseSyntax(text string) (node, error) {
	for _, mark := range []string{"[", "]", "<", ">", "|", "..."} {
		text = strings.ReplaceAll(text, mark, " "+mark+" ")
	}
	p := syntaxParser{words: strings.Fields(text)}
	n, err := p.alternatives("")
	if err != nil {
		return n, fmt.Errorf("the syntax %q: %w", text, err)
	}
	return n, nil
}

// newer maps words to the first version that knows them: for each command, the words of its
// choices or options that are missing in older servers.
var newer = map[string]map[string]oracle.Version{
	"BITOP": {"DIFF": "8.2", "DIFF1": "8.2", "ANDOR": "8.2", "ONE": "8.2"},
	"SET":   {"IFEQ": "8.4", "IFNE": "8.4", "IFDEQ": "8.4", "IFDNE": "8.4"},
	"SCAN":  {"WITHTYPE": never}, "HSCAN": {"NOVALUES": "7.4"},
	"ZRANK": {"WITHSCORE": "7.2"}, "ZREVRANK": {"WITHSCORE": "7.2"},
	"ZUNION": {"COUNT": "8.8"}, "ZINTER": {"COUNT": "8.8"}, "ZUNIONSTORE": {"COUNT": "8.8"}, "ZINTERSTORE": {"COUNT": "8.8"},
	"XADD":       {"KEEPREF": "8.2", "DELREF": "8.2", "ACKED": "8.2", "IDMPAUTO": "8.6", "IDMP": "8.6", "*": never}, // an ID from the clock
	"XTRIM":      {"KEEPREF": "8.2", "DELREF": "8.2", "ACKED": "8.2"},
	"VSIM":       {"WITHATTRIBS": "8.2", "EPSILON": never},              // see excludedOptions
	"XREAD":      {"MAXCOUNT": "8.8", "MAXSIZE": "8.8", "BLOCK": never}, // waits
	"XREADGROUP": {"MAXCOUNT": "8.8", "MAXSIZE": "8.8", "CLAIM": "8.4", "BLOCK": never},
}

// never is later than any version: the word is not compared with any server.
const never oracle.Version = "99"

// unknown returns the words of the command that the server does not know.
func unknown(name string, server oracle.Version) (words []string) {
	for word, since := range newer[name] {
		if server.Before(since) {
			words = append(words, word)
		}
	}
	return words
}

// without returns n without the alternatives and options that begin with one of
// the words.
func (n node) without(words []string) node {
	var kids []node
	for _, kid := range n.kids {
		if n.kind == choice || kid.kind == optional {
			if slices.Contains(words, kid.first()) {
				continue
			}
		}
		kids = append(kids, kid.without(words))
	}
	n.kids = kids
	return n
}

// first returns the first word of n.
func (n node) first() string {
	if len(n.kids) == 0 {
		return n.text
	}
	return n.kids[0].first()
}

type syntaxParser struct {
	words []string
}

// alternatives reads sequences with | between them, up to the word that closes
// them.
func (p *syntaxParser) alternatives(closing string) (node, error) {
	all := node{kind: choice}
	current := node{kind: sequence}
	for {
		if len(p.words) == 0 {
			if closing != "" {
				return all, fmt.Errorf("%s is missing", closing)
			}
			break
		}
		word := p.words[0]
		p.words = p.words[1:]
		if word == closing {
			break
		}
		switch word {
		case "|":
			all.kids = append(all.kids, current)
			current = node{kind: sequence}
		case "[", "<":
			kid, err := p.group(word)
			if err != nil {
				return all, err
			}
			current.kids = append(current.kids, kid)
		case "]", ">":
			return all, fmt.Errorf("a %s too many", word)
		case "...":
			current = node{kind: sequence, kids: []node{{kind: repeated, kids: []node{current}}}}
		default:
			kind := placeholder
			if strings.ToUpper(word) == word {
				kind = literal
			}
			current.kids = append(current.kids, node{kind: kind, text: word})
		}
	}
	if len(all.kids) == 0 {
		return current, nil
	}
	all.kids = append(all.kids, current)
	return all, nil
}

func (p *syntaxParser) group(opening string) (node, error) {
	if opening == "<" {
		return p.alternatives(">")
	}
	inner, err := p.alternatives("]")
	if len(inner.kids) == 1 && inner.kids[0].kind == repeated {
		return inner.kids[0], err // "[key ...]" is repeated any number of times, none included
	}
	return node{kind: optional, kids: []node{inner}}, err
}
