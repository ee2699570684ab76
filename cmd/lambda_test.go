package cmd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

// platform is the other's side of a function: it hands events out, and takes the responses.
type platform struct {
	events  chan string
	answers chan events.LambdaFunctionURLResponse
}

func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/invocation/next") {
		select {
		case e := <-p.events:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "1")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", "9999999999999")
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn")
			io.WriteString(w, e)
		case <-r.Context().Done():
		}
		return
	}
	var answer events.LambdaFunctionURLResponse
	json.NewDecoder(r.Body).Decode(&answer)
	p.answers <- answer
	w.WriteHeader(http.StatusAccepted)
}

// TestLambda runs the program as a function, which finds its storage when that is there.
func TestLambda(t *testing.T) {
	t.Parallel()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	storage := server.New(server.Config{Engine: engine.New(file), Storage: server.Storage{Apply: file.Apply, Columns: file.Columns, Token: "purr"}}).Storage()
	var down atomic.Bool
	down.Store(true)
	tables := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		storage.ServeHTTP(w, r)
	}))
	defer tables.Close()
	p := &platform{make(chan string), make(chan events.LambdaFunctionURLResponse)}
	web := httptest.NewServer(p)
	defer web.Close()
	run := exec.Command("meowdis", "lambda")
	run.Env = append(os.Environ(), "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(web.URL, "http://"), "HOME="+t.TempDir(),
		"MEOWDIS_STORAGE_URL="+tables.URL, "MEOWDIS_STORAGE_TOKEN=purr", "MEOWDIS_TOKEN=meow")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer run.Wait()
	defer run.Process.Kill()
	invoke := func(body string, status int, want string) {
		t.Helper()
		e := events.LambdaFunctionURLRequest{Version: "2.0", RawPath: "/", Body: body, Headers: map[string]string{"authorization": "Bearer meow"}}
		e.RequestContext.HTTP.Method = http.MethodPost
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		late := time.After(patience)
		select {
		case p.events <- string(text):
		case <-late:
			t.Fatal("the function does not ask")
		}
		select {
		case a := <-p.answers:
			if a.StatusCode != status || a.Body != want {
				t.Errorf("%s: %d %s", body, a.StatusCode, a.Body)
			}
		case <-late:
			t.Fatal("the function does not answer")
		}
	}
	invoke(`["GET","cat"]`, 503, `{"error":"ERR the storage cannot be reached: see the function's log"}`)
	down.Store(false)
	invoke(`["SET","cat","tom"]`, 200, `{"result":"OK"}`)
	invoke(`["GET","cat"]`, 200, `{"result":"tom"}`)
}
