package cmd_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/cmd"
)

// call is one run of meowdis in a process that stays, and done its end.
type call struct {
	Dir  string
	Env  []string // added to the environment of the process
	Args []string
}

type done struct {
	Code           int
	Stdout, Stderr string
}

// resident is a process that runs meowdis again and again. Starting one takes ten times as long as most verbs that
// refuse something.
type resident struct {
	t   *testing.T
	in  *json.Encoder
	out *json.Decoder
}

// startResident starts the process, with a program before it that changes its rights.
func startResident(t *testing.T, before ...string) *resident {
	t.Helper()
	args := append(before, "resident")
	c := exec.Command(args[0], args[1:]...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr // of a panic
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &resident{t, json.NewEncoder(in), json.NewDecoder(out)}
}

// do runs meowdis to its end. It has no stdin.
func (r *resident) do(c call) (d done) {
	r.t.Helper()
	err := r.in.Encode(c)
	if err == nil {
		err = r.out.Decode(&d)
	}
	if err != nil {
		r.t.Fatalf("meowdis %q: %v", c.Args, err)
	}
	return d
}

// serveResident is the process of a resident.
func serveResident() {
	in, out, environ := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout), os.Environ()
	for {
		var c call
		if err := in.Decode(&c); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		os.Clearenv()
		for _, variable := range append(environ, c.Env...) {
			name, value, _ := strings.Cut(variable, "=")
			os.Setenv(name, value)
		}
		if err := os.Chdir(c.Dir); err != nil {
			panic(err)
		}
		if err := out.Encode(runHere(c.Args)); err != nil {
			panic(err)
		}
	}
}

// runHere runs meowdis in this process.
func runHere(args []string) (d done) {
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		panic(err)
	}
	stdout, readOut := piped()
	stderr, readErr := piped()
	os.Args, os.Stdin, os.Stdout, os.Stderr = append([]string{"meowdis"}, args...), stdin, stdout, stderr
	d.Code = cmd.Main()
	stdin.Close()
	d.Stdout, d.Stderr = readOut(), readErr()
	return d
}

// piped returns a pipe, and a function that closes it and returns what was written.
func piped() (w *os.File, read func() string) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	text := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(r)
		r.Close()
		text <- string(all)
	}()
	return w, func() string {
		w.Close()
		return <-text
	}
}
