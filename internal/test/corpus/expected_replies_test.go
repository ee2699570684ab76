package corpus_test

import (
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

const differing = `# Shorter since 8.0.
> ZSCORE k a
"0.1"
!before 8.0
"0.10000000000000001"

> ZCARD k
(integer) 1
> ZMSCORE k a b
1) "0.1"
2) (nil)
!before 8.0
1) "0.10000000000000001"
2) (nil)
> ZRANK k a
`

func TestBefore(t *testing.T) {
	tr, err := corpus.Parse("differing", differing)
	if err != nil {
		t.Fatal(err)
	}
	short, long := resp.MakeBulk([]byte("0.1")), resp.MakeBulk([]byte("0.10000000000000001"))
	for _, c := range []struct {
		version     oracle.Version
		short, long bool
	}{{"7.0.15", false, true}, {"7.2.4", true, true}, {"7.4", true, true}, {"8.0", true, false}, {"8.0.2", true, false}, {"8.10", true, false}} {
		on := tr.On(c.version)
		if got := on.Steps[0].Matches(short); got != c.short {
			t.Errorf("%s answers the short form: %v", c.version, got)
		}
		if got := on.Steps[0].Matches(long); got != c.long {
			t.Errorf("%s answers the long form: %v", c.version, got)
		}
		if !on.Steps[1].Matches(resp.MakeInt(1)) || on.Steps[1].Matches(resp.MakeInt(2)) {
			t.Errorf("%s answers something else where the versions agree", c.version)
		}
	}
}

// TestUpdateOfDifferences writes what servers of both versions answer.
func TestUpdateOfDifferences(t *testing.T) {
	tr, err := corpus.Parse("differing", differing)
	if err != nil {
		t.Fatal(err)
	}
	short, long := resp.MakeBulk([]byte("0.1")), resp.MakeBulk([]byte("0.10000000000000001"))
	one, two := resp.MakeInt(1), resp.MakeInt(2)
	for _, c := range []struct {
		version oracle.Version
		replies []resp.Value // to the four steps
		want    string
	}{
		{"8.0.2", []resp.Value{short, one, resp.MakeArray(short, resp.Nil), one}, differing + "(integer) 1\n"},
		{"7.0.15", []resp.Value{short, two, resp.MakeArray(long, long), one}, `# Shorter since 8.0.
> ZSCORE k a
"0.1"

> ZCARD k
(integer) 1
!before 8.0
(integer) 2
> ZMSCORE k a b
1) "0.1"
2) (nil)
!before 8.0
1) "0.10000000000000001"
2) "0.10000000000000001"
> ZRANK k a
(integer) 1
`},
		{"8.0.2", []resp.Value{long, two, short, one}, `# Shorter since 8.0.
> ZSCORE k a
"0.10000000000000001"

> ZCARD k
(integer) 2
> ZMSCORE k a b
"0.1"
!before 8.0
1) "0.10000000000000001"
2) (nil)
> ZRANK k a
(integer) 1
`},
	} {
		steps := make([]corpus.Step, len(tr.Steps))
		for i, s := range tr.Steps {
			steps[i] = s.Answered(c.version, c.replies[i])
		}
		if got := tr.Update(differing, steps); got != c.want {
			t.Errorf("updated by %s:\n%s\nwant\n%s", c.version, got, c.want)
		}
	}
}
