package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
)

// demoFile names the file that demo makes by default.
const demoFile = "shop.sqlite"

func newDemo(s *streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "demo [FLAGS] [FILE]",
		GroupID: groupSetUp,
		Short:   "Make a file with 22,000 keys of every type to try things on",
		Long: `Makes a file, by default ` + demoFile + `, with the keys of a shop: users, sessions,
orders, carts, queues, logs, a ranking, places, vectors. FILE must be new.`,
		Example: "  meowdis demo\n  meowdis demo /tmp/try.sqlite",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDemo(cmd.Context(), s, cmp.Or(first(args), demoFile), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// demoResult defines the JSON output of demo.
type demoResult struct {
	File string `json:"file"`
	Keys int64  `json:"keys"`
}

func runDemo(ctx context.Context, s *streams, path string, asJSON bool) (err error) {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	o := &targets.Options{Spec: targets.FileSpec(path)}
	t, err := o.File(s.getenv)
	switch {
	case err != nil:
		return err
	case t.Path == local.Memory:
		return exit.Usagef("%s keeps nothing: name a file", t.Path)
	case !t.IsNew():
		return exit.Usagef("%s already exists: name a new file, meowdis demo FILE", path)
	}
	began := time.Now()
	c, err := o.Connect(ctx, t, toWrite, false)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	shop := &demoShop{ctx: ctx, conn: c}
	shop.fill()
	if shop.err != nil {
		return shop.err
	}
	keys, err := c.Do(ctx, []byte("DBSIZE"))
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(s.out, demoResult{t.Path, keys.Int})
	}
	_, err = fmt.Fprintf(s.out, `%[1]s: %[2]s keys of every type, in %.1[3]f s. Try:
  meowdis inspect %[4]s
  meowdis stats %[4]s
  meowdis repl %[4]s        # and there: ZREVRANGE ranking 0 9 WITHSCORES
`, t.Path, display.Grouped(keys.Int), time.Since(began).Seconds(), path)
	return err
}

// demoShop writes the keys of the demonstration, in batches.
type demoShop struct {
	ctx   context.Context
	conn  *targets.Conn
	calls [][][]byte
	err   error
}

// add adds a command. Its words are strings and numbers.
func (d *demoShop) add(words ...any) {
	call := make([][]byte, len(words))
	for i, w := range words {
		call[i] = fmt.Append(nil, w)
	}
	const batch = 2000
	if d.calls = append(d.calls, call); len(d.calls) == batch {
		d.send()
	}
}

func (d *demoShop) send() {
	if d.err != nil || len(d.calls) == 0 {
		return
	}
	replies, err := d.conn.Pipeline(d.ctx, d.calls)
	for i, v := range replies {
		if v.HasError() {
			err = errors.Join(err, fmt.Errorf("%s: %s", d.calls[i], v.Str))
		}
	}
	d.calls, d.err = d.calls[:0], err
}

var demoCities = []struct {
	name      string
	long, lat float64
}{{"Bern", 7.45, 46.95}, {"Oslo", 10.75, 59.91}, {"Kyoto", 135.77, 35.01}, {"Lima", -77.03, -12.05}}

const (
	demoUsers  = 10_000
	demoOrders = demoUsers / 10
	demoDims   = 8 // of vectors
)

// fill writes all keys. It draws no random numbers, so every demonstration has the same values.
func (d *demoShop) fill() {
	for i := 1; i <= demoUsers; i++ {
		city := demoCities[i%len(demoCities)].name
		d.add("HSET", fmt.Sprintf("user:%d", i), "name", fmt.Sprintf("Ann%d", i), "city", city)
		d.add("SET", fmt.Sprintf("session:%04x", i*3), fmt.Sprintf(`{"user":%d,"page":%d}`, i, i%28), "EX", 30+i*9)
		d.add("ZADD", "ranking", i*i%9973, fmt.Sprintf("user:%d", i))
	}
	for i := 1; i <= demoOrders; i++ {
		d.order(i)
	}
	d.catalogue()
	d.send()
}

// order writes an order with its cart, and its entries in the queue and the log.
func (d *demoShop) order(i int) {
	user, city := i*10, demoCities[i%len(demoCities)]
	order, cart := fmt.Sprintf("order:%d", user), fmt.Sprintf("cart:%d", user)
	d.add("SET", order, fmt.Sprintf(`{"user":%d,"paid":%t,"total":{"amount":%d.9,"currency":"EUR"},"ship":{"city":%q,"zip":%d}}`,
		user, i%3 > 0, user%97, city.name, 3000+i))
	d.add("RPUSH", "queue:mail", order)
	d.add("XADD", "log:"+city.name, fmt.Sprintf("%d-0", 1_700_000_000_000+i*1000), "order", user, "state", []string{"new", "packed", "sent"}[i%3])
	d.add("SADD", "city:"+city.name, fmt.Sprintf("user:%d", user))
	d.add("HSET", cart, "pears", 2, "apples", i%7+1)
	d.add("EXPIRE", cart, 3600+i*3)
	if i%10 == 0 {
		d.add("HEXPIRE", cart, 600+i, "FIELDS", 1, "pears") // an offer that ends
	}
	d.add("PFADD", "visitors:today", user)
	d.add("SETBIT", "active:today", user, 1)
	d.add("ARSET", "stock:levels", i, i%40)
}

// catalogue writes the keys that exist once or for each product.
func (d *demoShop) catalogue() {
	for _, city := range demoCities {
		d.add("GEOADD", "shops", city.long, city.lat, city.name)
		d.add("XGROUP", "CREATE", "log:"+city.name, "packers", 0)
		d.add("XREADGROUP", "GROUP", "packers", "tom", "COUNT", 5, "STREAMS", "log:"+city.name, ">")
	}
	for i := 1; i <= 100; i++ {
		d.add("JSON.SET", fmt.Sprintf("product:%d", i), "$", fmt.Sprintf(`{"name":"Fruit %d","price":%d.5,"tags":["fresh","no. %d"],"stock":{"Bern":%d,"Oslo":%d}}`,
			i, i%9+1, i, i%13, i%7))
		vector := []any{"VADD", "taste", "VALUES", demoDims}
		for n := range demoDims {
			vector = append(vector, fmt.Sprintf("%.4f", math.Sin(float64(i*(n+1)))))
		}
		d.add(append(vector, fmt.Sprintf("product:%d", i))...)
	}
	d.add("SET", "greeting", "Welcome to the shop")
}
