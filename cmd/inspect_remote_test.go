package cmd_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// oneOfEach is a key of every type that every server has, with what the inspector
// shows of it.
const oneOfEach = `SET app:text 'hello there'
HSET app:hash name Ann
RPUSH app:list first second
SADD app:set red
ZADD app:zset 1.5 bob
XADD app:stream 1-1 kind login
`

var eachShown = [][2]string{
	{"app:text", "hello there"}, {"app:hash", "Ann"}, {"app:list", "second"}, {"app:set", "red"}, {"app:zset", "bob"}, {"app:stream", "kind=login"},
}

// restWithRights is an endpoint that speaks as Upstash does, whose token may not
// run some commands.
func restWithRights(t *testing.T, refused func(*commands.Command) bool) string {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	session := engine.New(file).Session()
	for line := range strings.Lines(oneOfEach) {
		call, _ := resp.SplitLine(strings.TrimSpace(line))
		if v, err := session.Do(t.Context(), call...); err != nil || v.IsError() {
			t.Fatal(line, err, v)
		}
	}
	var mu sync.Mutex
	run := func(r *http.Request, words []string) resp.Value {
		if command := commands.Lookup(words[0]); command != nil && refused(command) {
			return resp.MakeError("NOPERM this user has no permissions to run the '" + strings.ToLower(words[0]) + "' command or its subcommand")
		}
		var call [][]byte
		for _, w := range words {
			call = append(call, []byte(w))
		}
		mu.Lock()
		defer mu.Unlock()
		v, err := session.Do(r.Context(), call...)
		if err != nil {
			return resp.MakeError("ERR " + err.Error())
		}
		return v
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var calls [][]string
		body, err := io.ReadAll(r.Body)
		if json.Unmarshal(body, &calls) != nil {
			calls = [][]string{nil}
			err = json.Unmarshal(body, &calls[0])
		}
		if err != nil || r.Header.Get("Authorization") != "Bearer "+restToken || r.Header.Get("Upstash-Response-Format") != "resp2" {
			http.Error(w, `{"error":"WRONGPASS invalid or missing auth token"}`, http.StatusUnauthorized)
			return
		}
		var out []byte
		for _, words := range calls {
			out = resp.Append2(out, run(r, words))
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(out)
	}))
	t.Cleanup(web.Close)
	return "-t " + web.URL + " --token " + restToken
}

// realRedis is a real server with oneOfEach and the users few, who may read little
// up, app, who may read what begins with app:, and reader, who may not write.
func realRedis(t *testing.T) *oracle.Server {
	t.Helper()
	server := oracle.Start(t)
	conn := server.Dial(t)
	for line := range strings.Lines(oneOfEach + `SET theirs secret
ACL SETUSER few on >pw ~* +@all -scan -keys -dbsize -info -memory -object
ACL SETUSER app on >pw ~app:* +@all
ACL SETUSER reader on >pw ~* +@read +@connection +info
`) {
		call, _ := resp.SplitLine(strings.TrimSpace(line))
		if v := conn.Do(call...); v.IsError() {
			t.Fatal(line, string(v.Str))
		}
	}
	return server
}

func (s *screen) inspects(args string) {
	s.t.Helper()
	s.check(s.Run("clear; meowdis inspect " + args + "; echo it has ended"))
}

// opens opens a key by its name.
func (s *screen) opens(key string) {
	s.t.Helper()
	s.check(s.Press("o"))
	s.shows("Open a key")
	s.check(s.Type(key))
	s.check(s.Press("Enter"))
}

// TestInspectWithFewRights opens keys by name where they may not be listed.
func TestInspectWithFewRights(t *testing.T) {
	t.Parallel()
	server := realRedis(t)
	for name, target := range map[string]string{
		"redis": "-t unix://few:pw@" + server.Socket,
		"rest": restWithRights(t, func(c *commands.Command) bool {
			name, _, _ := strings.Cut(c.Name, " ")
			return slices.Contains([]string{"SCAN", "KEYS", "DBSIZE", "INFO", "MEMORY", "OBJECT", "CONFIG", "TYPE"}, name)
		}),
	} {
		for _, size := range [][2]int{{40, 12}, {80, 24}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := openScreen(t, size[0], size[1])
				s.inspects(target)
				s.shows("SCAN is refused: o opens a key")
				s.shows("? keys")
				for _, v := range eachShown {
					s.opens(v[0])
					s.shows(v[1])
					s.check(s.Press("Escape"))
				}
				s.shows("KEY  ")
				s.check(s.Press("C-p"))
				s.shows("Actions")
				s.check(s.Type("follow"))
				s.check(s.Press("Enter"))
				s.shows("Following changes.")
				s.opens("app:hash")
				s.shows("Ann")
				s.check(s.Press("i"))
				s.shows("not permitted")
				s.check(s.Press("Escape", "q"))
			})
		}
	}
}

// TestInspectWithoutWriting browses as a user who may not write, and says so when
// the person tries.
func TestInspectWithoutWriting(t *testing.T) {
	t.Parallel()
	server := realRedis(t)
	for name, target := range map[string]string{
		"redis": "-t unix://reader:pw@" + server.Socket,
		"rest": restWithRights(t, func(c *commands.Command) bool {
			return c.Flags&commands.Write != 0 || c.Name == "SCAN" || c.Name == "KEYS"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s := openScreen(t, 80, 24)
			s.inspects(target)
			s.shows("q quit") // it reads keys now
			s.opens("app:set")
			s.shows("red")
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			s.check(s.Press("d"))
			s.shows("Delete red of app:set?")
			s.check(s.Press("y"))
			s.shows("NOPERM")
			s.check(s.Press("R"))
			s.shows("1 member")
			s.check(s.Press("q"))
		})
	}
}

// TestInspectKeysOfOneUser lists all keys, of which the user may read some.
func TestInspectKeysOfOneUser(t *testing.T) {
	t.Parallel()
	s := openScreen(t, 100, 24)
	s.inspects("-t unix://app:pw@" + realRedis(t).Socket)
	s.shows("▸ app:")
	s.shows("closed")
	s.check(s.Press("G"))
	s.shows("Not permitted to read this key.")
	s.check(s.Press("g", "Enter"))
	s.shows("▌ ▾ app:")
	s.shows("hash")
	s.check(s.Press("j"))
	s.shows("Ann")
	s.check(s.Press("q"))
}

// proxy stands between the inspector and a server, and holds replies back or
// breaks down as the test says.
type proxy struct {
	t      *testing.T
	listen func() (net.Listener, error)
	server string
	hold   sync.RWMutex // locked: no reply comes through
	asked  chan struct{}

	mu    sync.Mutex
	in    net.Listener
	conns []net.Conn
}

func newProxy(t *testing.T, server *oracle.Server, listen func() (net.Listener, error)) *proxy {
	p := &proxy{t: t, server: server.Socket, listen: listen, asked: make(chan struct{}, 1)}
	p.up()
	t.Cleanup(p.down)
	return p
}

func (p *proxy) up() {
	in, err := p.listen()
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in = in
	go func() {
		for {
			client, err := in.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("unix", p.server)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	go func() {
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			select {
			case p.asked <- struct{}{}:
			default:
			}
			server.Write(buf[:n])
		}
	}()
	defer client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		p.hold.RLock()
		client.Write(buf[:n])
		p.hold.RUnlock()
	}
}

// down is the server gone.
func (p *proxy) down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in.Close()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// stall keeps replies back from now on, and forgets what was asked before.
func (p *proxy) stall() {
	p.hold.Lock()
	select {
	case <-p.asked:
	default:
	}
}

// waits waits until the server was asked for something.
func (p *proxy) waits() {
	select {
	case <-p.asked:
	case <-time.After(patience):
		p.t.Fatal("the server was asked nothing")
	}
}

// unixProxy listens on a socket of its own.
func unixProxy(t *testing.T) (p *proxy, target string) {
	dir, err := os.MkdirTemp("", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "sock")
	return newProxy(t, realRedis(t), func() (net.Listener, error) { return net.Listen("unix", path) }), "-t unix://" + path
}

// TestInspectSlowServer moves, stops and goes on while a server does not answer;
// afterwards every reply still belongs to its command.
func TestInspectSlowServer(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			p, target := unixProxy(t)
			s := openScreen(t, size[0], size[1])
			s.inspects(target)
			s.shows("▸ app:")
			s.shows("7 keys")
			s.check(s.Press("`"))
			s.shows("app:zset")

			p.stall()
			s.check(s.Press("R"))
			p.waits()
			s.shows("1s")
			s.shows("command")
			s.check(s.Press("g", "j"))
			s.shows("▌ app:list")
			s.check(s.Press("Escape"))
			s.shows("Stopped.")
			p.hold.Unlock()
			for _, v := range eachShown {
				s.opens(v[0])
				s.shows(v[1])
				s.check(s.Press("Escape"))
			}

			p.stall()
			s.opens("theirs")
			s.shows("loading")
			s.check(s.Press("Escape"))
			s.shows("KEY")
			s.opens("app:set")
			s.shows("loading")
			p.hold.Unlock()
			s.shows("red")

			p.stall()
			s.check(s.Press("R"))
			p.waits()
			s.check(s.Press("q"))
			_, err := s.WaitFor("it has ended")
			p.hold.Unlock()
			s.check(err)
		})
	}
}

// TestInspectServerThatSaysNothing waits where everybody sees it, and can be ended.
func TestInspectServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	p, target := unixProxy(t)
	p.stall()
	defer p.hold.Unlock()
	s := openScreen(t, 80, 24)
	s.inspects(strings.Replace(target, "unix://", "unix://reader:pw@", 1))
	s.shows("Waiting for the server. Press ^C to stop.")
	s.check(s.Press("C-c"))
	s.lastLine("$")
}

// TestInspectServerThatDies goes on when the server is there again.
func TestInspectServerThatDies(t *testing.T) {
	t.Parallel()
	p, target := unixProxy(t)
	s := openScreen(t, 100, 24)
	s.inspects(target)
	s.shows("▸ app:")
	p.down()
	s.check(s.Press("R"))
	s.shows("✗ reaching")
	s.shows("▸ app:")
	s.opens("app:hash")
	s.shows("not loaded")
	p.up()
	s.check(s.Press("R"))
	s.shows("Ann")
	s.check(s.Press("Escape", "`"))
	s.shows("app:zset")
	s.check(s.Press("q"))
}

// TestInspectCluster shows the keys of all masters.
func TestInspectCluster(t *testing.T) {
	t.Parallel()
	c := steadyCluster(t, 2)
	c.Masters[0].Do("SET", "b", "tom")   // slot 3300
	c.Masters[1].Do("SET", "a", "kitty") // slot 15495
	s := openScreen(t, 200, 24)
	s.inspects("-t redis://" + c.Masters[0].Address)
	s.shows("2 keys")
	s.check(s.Press("q"))
}

// TestInspectOverTLS gives a password and a database in the URL.
func TestInspectOverTLS(t *testing.T) {
	t.Parallel()
	cert, file := certificate(t)
	server := realRedis(t)
	conn := server.Dial(t)
	conn.Do([]byte("SELECT"), []byte("3"))
	conn.Do([]byte("SET"), []byte("third"), []byte("of three"))
	p := newProxy(t, server, func() (net.Listener, error) {
		return tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	})
	s := openScreen(t, 100, 24, "SSL_CERT_FILE="+file)
	s.inspects("rediss://reader:pw@" + p.in.Addr().String() + "/3")
	s.shows("of three")
	s.shows("db 3")
	screen, err := s.Screen()
	s.check(err)
	if strings.Contains(screen, "pw@") {
		t.Errorf("the screen shows the password:\n%s", screen)
	}
	s.check(s.Press("q"))
}

// certificate makes a certificate for 127.0.0.1, and a file that trusts it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}
