//go:build !wasip1 || search

package translator

import (
	"fmt"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// profile measures a query for FT.PROFILE: redis.io/docs/latest/commands/ft.profile.
type profile struct {
	clock             func() int64 // ns
	limited           bool         // LIMITED
	began, last       int64
	parsing, creation int64
	stages            []stage
}

// stage measures a part of the work on the documents.
type stage struct {
	name string
	rows int
	took int64 // ns
}

// stage ends a stage of the query that returned a number of rows. It does nothing without FT.PROFILE.
func (f *finder) stage(name string, rows int) {
	if p := f.profile; p != nil {
		p.stages = append(p.stages, stage{name, rows, p.lap()})
	}
}

// lap returns the time since the last call.
func (p *profile) lap() int64 {
	now := p.clock()
	took := now - p.last
	p.last = now
	return took
}

// parsed ends the parsing of the query.
func (p *profile) parsed() {
	if p != nil {
		p.parsing = p.lap()
	}
}

// part returns the profile of a part that begins now, nil without FT.PROFILE.
func (p *profile) part() *profile {
	if p == nil {
		return nil
	}
	now := p.clock()
	return &profile{clock: p.clock, limited: p.limited, began: now, last: now}
}

// resumed returns p after parts of it have ended, whose time it does not count again.
func (p *profile) resumed() *profile {
	if p != nil {
		p.lap()
	}
	return p
}

// created ends the steps before documents are read.
func (p *profile) created() {
	if p != nil {
		p.creation = p.lap()
	}
}

// profiledCalls lists what FT.PROFILE runs.
var profiledCalls = []struct {
	name string
	run  func(c *Call, ix *searchIndex, words [][]byte, p *profile, w *store.Work) Plan
}{
	{"SEARCH", (*Call).profileSearch}, {"AGGREGATE", (*Call).profileAggregate}, {"HYBRID", (*Call).profileHybrid},
}

func ftProfile(c *Call) Plan {
	d := &definition{words: c.Args[2:]}
	p := &profile{clock: c.Env.Timer.Clock}
	if p.clock == nil {
		p.clock = func() int64 { return 0 }
	}
	p.began = p.clock()
	p.last = p.began
	for _, of := range profiledCalls {
		if !d.is(of.name) {
			continue
		}
		p.limited = d.is("LIMITED")
		if !d.is("QUERY") {
			return fail("The QUERY keyword is expected")
		}
		if of.name != "HYBRID" && !d.more() {
			return answer(commands.WrongArity(c.Command))
		}
		return c.withIndex(c.Args[1], noSuchIndex(c.Args[1]), func(ix *searchIndex, w *store.Work) Plan {
			return of.run(c, ix, d.words[d.at:], p, w)
		})
	}
	return fail("No `SEARCH`, `AGGREGATE`, or `HYBRID` provided")
}

const noCursorProfile = "FT.PROFILE does not support cursor"

func (c *Call) profileSearch(ix *searchIndex, words [][]byte, p *profile, w *store.Work) Plan {
	q, bad := parseSearch(words[0], words[1:], ix, c.searchSettings())
	if bad != "" {
		return fail(bad)
	}
	return c.search(ix, q, p, w)
}

func (c *Call) profileAggregate(ix *searchIndex, words [][]byte, p *profile, w *store.Work) Plan {
	q, bad := parseAggregate(words[0], words[1:], ix, c.searchSettings(), c.Random())
	if bad == "" && q.cursor != nil {
		bad = noCursorProfile
	}
	if bad != "" {
		return fail(bad)
	}
	return c.aggregate(ix, q, p, w)
}

func (c *Call) profileHybrid(ix *searchIndex, words [][]byte, p *profile, w *store.Work) Plan {
	q, bad := parseHybrid(words, c.searchSettings(), c.Random())
	if bad == "" && q.cursor != nil {
		bad = noCursorProfile
	}
	if bad != "" {
		return fail(bad)
	}
	return c.hybrid(ix, q, p, w)
}

// profiled adds the profile to a reply, unless it is an error.
func (f *finder) profiled(v resp.Value) resp.Value {
	if f.profile == nil {
		return v
	}
	return withProfile(v, f.searchProfile(), resp.EmptyMap)
}

// profiledHybrid adds the profiles of the two searches of FT.HYBRID, and of the steps after them.
func (f *finder) profiledHybrid(v resp.Value, searches [2]resp.Value) resp.Value {
	p, str := f.profile, resp.MakeString
	if p == nil {
		return v
	}
	steps := p.times(f.late)
	steps.Elems = append(steps.Elems, str("Result processors profile"), p.stagesReply())
	return withProfile(v, resp.MakeMap(str("SEARCH"), searches[0], str("VSIM"), searches[1]), steps)
}

// withProfile adds a profile to a reply, unless it is an error.
func withProfile(v, shard, coordinator resp.Value) resp.Value {
	if v.IsError() {
		return v
	}
	str := resp.MakeString
	all := resp.MakeMap(str("Shards"), resp.MakeArray(shard), str("Coordinator"), coordinator)
	in3 := v
	if v.RESP3 != nil {
		in3 = *v.RESP3
	}
	in3 = resp.MakeMap(str("Results"), in3, str("Profile"), all)
	v.RESP3 = nil
	v = resp.MakeArray(v, all)
	v.RESP3 = &in3
	return v
}

// searchProfile returns the profile of the search, the zero value without FT.PROFILE.
func (f *finder) searchProfile() resp.Value {
	p, str := f.profile, resp.MakeString
	if p == nil {
		return resp.Value{}
	}
	v := p.times(f.late)
	v.Elems = append(v.Elems, str("Iterators profile"), f.iterators(), str("Result processors profile"), p.stagesReply())
	return v
}

// iterators describes the clauses of the query.
func (f *finder) iterators() resp.Value {
	str, clauses := resp.MakeString, f.profile.iterators(f.program.Profile())
	knn, is := f.tree.(*query.KNN)
	if !is {
		return clauses
	}
	v := resp.MakeMap(str("Type"), str("VECTOR"), str("Vector search mode"), str("STANDARD_KNN"))
	if _, all := knn.Filter.(*query.All); !all {
		v.Elems[3] = str("HYBRID_ADHOC_BF")
		v.Elems = append(v.Elems, str("Child iterator"), clauses)
	}
	return v
}

// times returns the times of a profile.
func (p *profile) times(late bool) resp.Value {
	str, warning := resp.MakeString, "None"
	if late {
		warning = timedOut
	}
	return resp.MakeMap(str("Total profile time"), p.ms(p.clock()-p.began), str("Parsing time"), p.ms(p.parsing),
		str("Pipeline creation time"), p.ms(p.creation), str("Warning"), resp.MakeArray(str(warning)))
}

// stagesReply returns the stages of a profile.
func (p *profile) stagesReply() resp.Value {
	str, stages := resp.MakeString, resp.EmptyArray
	for _, s := range p.stages {
		stages.Elems = append(stages.Elems, resp.MakeMap(str("Type"), str(s.name), str("Time"), p.ms(s.took), str("Results processed"), resp.MakeInt(int64(s.rows))))
	}
	return stages
}

// ms returns a duration in ms.
func (p *profile) ms(ns int64) resp.Value { return resp.MakeDouble(float64(ns/1000) / 1000) }

// iterators describes the clauses of the query. Their time is part of the stage Index.
func (p *profile) iterators(c *inverted.Profile) resp.Value {
	str := resp.MakeString
	v := resp.MakeMap(str("Type"), str(c.Type))
	add := func(name string, value resp.Value) { v.Elems = append(v.Elems, str(name), value) }
	if c.Type == "UNION" {
		add("Query type", str("UNION"))
	}
	if c.Term != "" {
		add("Term", str(c.Term))
	}
	add("Number of reading operations", resp.MakeInt(int64(c.Reads)))
	add("Estimated number of matches", resp.MakeInt(int64(c.Estimate)))
	switch {
	case len(c.Children) == 0:
	case c.Type == "NOT" || c.Type == "OPTIONAL":
		add("Child iterator", p.iterators(c.Children[0]))
	case c.Type == "UNION" && p.limited:
		add("Child iterators", str(fmt.Sprintf("The number of iterators in the union is %d", len(c.Children))))
	default:
		children := resp.EmptyArray
		for _, child := range c.Children {
			children.Elems = append(children.Elems, p.iterators(child))
		}
		add("Child iterators", children)
	}
	return v
}
