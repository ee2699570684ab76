package tenants_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/server/tenants"
)

// Clients of many tenants share few open files, which are closed and opened all the time, while tenants are added and
// removed. No acknowledged write is lost, and no client reads another tenant's data.
func TestRace(t *testing.T) {
	const most, clients = 3, 8
	all, each := 8, 30
	if testing.Short() {
		all, each = 5, 12
	}
	h := open(t, most, names(all)...)
	written := make([]atomic.Int64, all)
	var running sync.WaitGroup
	stop := make(chan struct{})
	running.Go(func() { // files are closed at any time
		for {
			select {
			case <-stop:
				return
			default:
				h.Rest()
			}
			if n := h.OpenFiles(); n > most {
				t.Errorf("%d files are open", n)
			}
		}
	})
	running.Go(func() { // tenants are added and removed
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprint("guest", i)
			token, err := h.book.Add(t.Context(), name, tenants.Limits{})
			if err != nil {
				t.Error(err)
				return
			}
			if p := h.stranger(); p.do("AUTH", token) != "OK" || p.do("SET", "mine", name) != "OK" || p.do("DBSIZE") != "(integer) 1" {
				t.Errorf("%s has no database of its own", name)
			}
			if err := h.book.Remove(t.Context(), name); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var working sync.WaitGroup
	for range clients {
		working.Go(func() {
			conns := map[int]*peer{}
			for range each {
				i := rand.IntN(all)
				name := fmt.Sprint("t", i)
				switch rand.IntN(6) {
				case 0:
					if status, body := h.get(h.token[name], "/incr/n"); status != 200 {
						t.Errorf("INCR over REST answers %d %s", status, body)
					}
					written[i].Add(1)
					continue
				case 1:
					delete(conns, i)
				}
				if conns[i] == nil {
					conns[i] = h.of(name)
				}
				p := conns[i]
				switch rand.IntN(3) {
				case 0:
					p.want("OK", "MULTI")
					p.want("QUEUED", "INCR", "n")
					p.want("QUEUED", "SET", "name", name)
					if got := p.do("EXEC"); !strings.HasPrefix(got, "1) (integer) ") {
						t.Errorf("EXEC answers %s", got)
					}
				case 1:
					if got := p.do("EVAL", "redis.call('SET', 'name', ARGV[1]) return redis.call('INCR', 'n')", "0", name); !strings.HasPrefix(got, "(integer) ") {
						t.Errorf("EVAL answers %s", got)
					}
				default:
					if got := p.do("INCR", "n"); !strings.HasPrefix(got, "(integer) ") {
						t.Errorf("INCR answers %s", got)
					}
				}
				written[i].Add(1)
				if got := p.do("GET", "name"); got != strconv.Quote(name) && got != "(nil)" {
					t.Errorf("%s reads the name %s", name, got)
				}
			}
		})
	}
	working.Wait()
	close(stop)
	running.Wait()
	for i := range all {
		want := fmt.Sprintf("%q", fmt.Sprint(written[i].Load()))
		if got := h.of(fmt.Sprint("t", i)).do("GET", "n"); got != want && written[i].Load() > 0 {
			t.Errorf("t%d has counted %s, and %s were acknowledged", i, got, want)
		}
	}
	h.eventually("no guest is in memory", func() bool {
		h.Rest()
		return h.Live() <= all
	})
}
