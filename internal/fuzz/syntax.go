package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// nodeKind says what a node of a parsed syntax stands for.
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

// newer are the words that Redis 7.0 does not know yet, where a choice or an
// option of the command is theirs.
var newer = map[string][]string{
	"BITOP": {"DIFF", "DIFF1", "ANDOR", "ONE"}, "SET": {"IFEQ", "IFNE", "IFDEQ", "IFDNE"}, "HSCAN": {"NOVALUES"}, "SCAN": {"WITHTYPE"},
	"ZRANK": {"WITHSCORE"}, "ZREVRANK": {"WITHSCORE"},
	"ZUNION": {"COUNT"}, "ZINTER": {"COUNT"}, "ZUNIONSTORE": {"COUNT"}, "ZINTERSTORE": {"COUNT"},
	// What nobody can compare is among these: an ID from the clock (*), and waiting.
	"XADD": {"KEEPREF", "IDMPAUTO", "*"}, "XTRIM": {"KEEPREF"},
	"XREAD": {"MAXCOUNT", "MAXSIZE", "BLOCK"}, "XREADGROUP": {"MAXCOUNT", "MAXSIZE", "CLAIM", "BLOCK"},
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

// first is the word that n begins with.
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
