package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator/vector"
)

// components is the dimension of the vectors in similar.
const components = 384

// similar times VSIM in meowdis and redis-server's exact search, for each quantization, and
// checks that both find the same elements.
func similar(o *options, parent string) error {
	dir, err := os.MkdirTemp(parent, "vsim")
	if err != nil {
		return err
	}
	var clients []*client
	for _, r := range []rival{rivals(o)[0], redisServer} {
		server, err := start(r, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		defer server.stop()
		conn, err := net.Dial("tcp", "127.0.0.1:"+server.port)
		if err != nil {
			return err
		}
		defer conn.Close()
		clients = append(clients, &client{conn, resp.NewReader(conn)})
	}
	if _, err := clients[1].do("VCARD", "none"); err != nil {
		return fmt.Errorf("%w: this redis-server has no vector sets, which came with 8.0 (%v)", errNotMeasured, err)
	}
	fmt.Fprintf(o.out, "The 10 nearest of %d vectors of %d components, median of %d queries:\n\n", o.vectors, components, repeats)
	fmt.Fprint(o.out, "| | meowdis, `VSIM` | redis-server, `VSIM … TRUTH` | meowdis : Redis |\n|---|---:|---:|---:|\n")
	for _, kind := range []string{"NOQUANT", "Q8", "BIN"} {
		took, err := compareSimilar(clients, kind, o.vectors)
		if err != nil {
			return fmt.Errorf("VSIM of %s: %w", kind, err)
		}
		fmt.Fprintf(o.out, "| %s | %s | %s | %.2f× |\n", kind, round(took[0]), round(took[1]), ratio(took[0], took[1]))
	}
	fmt.Fprintln(o.out)
	return nil
}

// compareSimilar returns the median time of a query of each client.
func compareSimilar(clients []*client, kind string, n int) ([2]time.Duration, error) {
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		v := randomVector(draw)
		for _, c := range clients {
			if _, err := c.do("VADD", kind, "FP32", v, strconv.Itoa(i), kind); err != nil {
				return [2]time.Duration{}, err
			}
		}
	}
	var took [2][]time.Duration
	for range repeats {
		v := randomVector(draw)
		var found [2][]string
		for i, c := range clients {
			began := time.Now()
			reply, err := c.do("VSIM", kind, "FP32", v, "TRUTH")
			if err != nil {
				return [2]time.Duration{}, err
			}
			took[i] = append(took[i], time.Since(began))
			for _, e := range reply.Elems {
				found[i] = append(found[i], string(e.Str))
			}
		}
		if kind != "BIN" && !slices.Equal(found[0], found[1]) { // bits often have equal distances
			return [2]time.Duration{}, fmt.Errorf("meowdis found %s and redis-server %s", strings.Join(found[0], " "), strings.Join(found[1], " "))
		}
	}
	return [2]time.Duration{median(took[0]), median(took[1])}, nil
}

func randomVector(draw *rand.Rand) string {
	v := make([]float32, components)
	for i := range v {
		v[i] = float32(draw.NormFloat64())
	}
	return string(vector.Format(v))
}

// client is a connection to a server.
type client struct {
	conn net.Conn
	r    *resp.Reader
}

// do runs a command; an error reply is an error.
func (c *client) do(args ...string) (resp.Value, error) {
	if _, err := c.conn.Write(resp.AppendCommand(nil, words(args)...)); err != nil {
		return resp.Value{}, err
	}
	reply, err := c.r.ReadReply()
	if err == nil && reply.IsError() {
		err = errors.New(string(reply.Str))
	}
	return reply, err
}
