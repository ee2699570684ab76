package query

import "testing"

// Redis documentation, Stemming: a term is searched with its stem, unless it is quoted. Query dialects, FT.EXPLAINCLI: or
// negated.
func TestExpand(t *testing.T) {
	n, err := parse(t, 2, `@title:(going => {$weight: 2;} home) -going "going" "the end"`)
	if err != nil {
		t.Fatal(err)
	}
	n = Expand(n, func(t *Term) []*Term {
		if t.Text != "going" {
			return nil
		}
		return []*Term{{Text: "+go", Base: Base{Fields: []string{"body"}}}, {Text: "go"}}
	})
	want := `INTERSECT { @title:INTERSECT { @title:UNION { @title:going @body:+go(expanded) @title:go(expanded) } => { $weight: 2; } ` +
		`@title:home } NOT{ going } going EXACT { the end } }`
	if got := flat(n); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
