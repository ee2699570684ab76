package clients

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/worker"
)

// projectDir is where project makes it, "" before.
var projectDir string

// project is a deployable Worker, made once.
var project = sync.OnceValues(func() (dir string, err error) {
	if projectDir, err = os.MkdirTemp("", "meowdis-worker-*"); err != nil {
		return "", err
	}
	return projectDir, makeProject(projectDir)
})

// makeProject writes a Worker, compiled with build tags, into a directory.
func makeProject(dir string, tags ...string) error {
	if err := os.CopyFS(dir, os.DirFS("../../../worker/project")); err != nil {
		return err
	}
	out, err := exec.Command("go", append([]string{"-C", "../../tools", "run", "./packworker", dir}, tags...)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("compiling the Worker: %w\n%s", err, out)
	}
	return err
}

// edge runs a Worker in workerd until the test ends, and returns its URL.
func edge(t testing.TB, dir string, secrets map[string]string, args ...string) string {
	t.Helper()
	nodePackages(t)
	cmd := exec.Command("node", append([]string{"edge.mjs", dir}, args...)...)
	cmd.Dir = "node"
	if secrets == nil {
		secrets = map[string]string{}
	}
	text, err := json.Marshal(secrets)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "EDGE_SECRETS="+string(text))
	log := &capture.Buffer{}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("the Worker ended with %v\n%s", err, log.String())
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, is := strings.CutPrefix(lines.Text(), "REST "); is {
			go io.Copy(log, out)
			return strings.TrimSuffix(url, "/")
		}
	}
	t.Fatalf("the Worker does not say where it is\n%s", log.String())
	return ""
}

// testEdge is a Worker with a database for whoever names one, by a token "test:NAME:ROLE".
func testEdge(t testing.TB) string {
	t.Helper()
	dir, err := project()
	if err != nil {
		t.Fatal(err)
	}
	return edge(t, dir, nil, "test")
}

var whole = flag.Bool("whole", false, "hold a Worker to everything that a store promises, and not to a part of it")

// TestEdge asks a Worker in many ways, and by many databases.
func TestEdge(t *testing.T) {
	url := testEdge(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, url string)
	}{
		{"corpus", edgeCorpus},
		{"tokens", edgeTokens},
		{"at once", edgeAtOnce},
		{"swept", edgeSwept},
		{"fails", edgeFails},
		{"panics", edgePanics},
		{"first form", edgeFirstForm},
		{"store corpus", edgeStoreCorpus},
		{"store", edgeStore},
		{"copies", edgeCopies},
		{"latency", edgeLatency},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, url) })
	}
}

// edgeCorpus plays the transcripts that need no connection on a database each, and some of them by
// each way to send a command.
func edgeCorpus(t *testing.T, url string) {
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, tr := range all {
		if tr.NeedsConnection() || needsSearch(tr) {
			continue
		}
		play := func(way string, send corpus.Way) {
			t.Run(tr.Name+" "+way, func(t *testing.T) { playEdge(t, url, "test:"+tr.Name+way+":token", tr, send) })
		}
		play("body", (*corpus.REST).Body)
		if played++; played <= 5 {
			play("path", (*corpus.REST).Path)
			play("pipeline", (*corpus.REST).Pipeline)
		}
	}
}

// needsSearch reports whether a transcript needs search, which the Worker has with the build tag search.
func needsSearch(tr corpus.Transcript) bool {
	return strings.HasPrefix(tr.Name, "search") || tr.Name == "server_modules"
}

// TestEdgeSearch plays the transcripts of search on a Worker with the build tag search. The paid plan takes 10 MB.
func TestEdgeSearch(t *testing.T) {
	dir := t.TempDir()
	if err := makeProject(dir, "search"); err != nil {
		t.Fatal(err)
	}
	size := len(zipped(t, filepath.Join(dir, worker.Program)))
	if t.Logf("the program has %d KB, compressed", size>>10); size > 5<<20 {
		t.Errorf("the program has %d bytes, compressed", size)
	}
	url := edge(t, dir, nil, "test")
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range all {
		timed := tr.Name == "search_hybrid" || tr.Name == "search_profile" // their replies have times of the Worker's clock
		if needsSearch(tr) && !tr.NeedsConnection() && !timed {
			t.Run(tr.Name, func(t *testing.T) { playEdge(t, url, "test:"+tr.Name+":token", tr, (*corpus.REST).Body) })
		}
	}
}

func playEdge(t *testing.T, url, token string, tr corpus.Transcript, send corpus.Way) {
	now, header := int64(corpus.Start), http.Header{}
	set := func() { header.Set("Test-Clock", fmt.Sprint(now)) }
	set()
	clients := []*corpus.REST{{URL: url, Token: token, Header: header}, {URL: url, Token: token, Header: header}}
	tr.PlayREST(t, func(ms int64) { now += ms; set() }, send, clients)
}

// zipped returns the contents of the files, compressed as Cloudflare counts them.
func zipped(t *testing.T, names ...string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	w.Close()
	return packed.Bytes()
}

// maxProgram is what the free plan takes, compressed.
const maxProgram = 3 << 20

// TestEdgeSize holds the program to that.
func TestEdgeSize(t *testing.T) {
	dir, err := project()
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(dir, "src", "*.js"))
	if err != nil {
		t.Fatal(err)
	}
	size := len(zipped(t, scripts...)) + len(zipped(t, filepath.Join(dir, worker.Program)))
	t.Logf("the Worker has %d KB, compressed", size>>10)
	if size > maxProgram-4<<10 { // the settings need some room
		t.Errorf("the Worker has %d bytes, compressed: more than leaves room below %d", size, maxProgram)
	}
}
