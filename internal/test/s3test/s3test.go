// Package s3test runs an S3 server beside a test.
package s3test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Start builds internal/test/s3, which lies at the path dir from the test, and runs it until the test ends. It returns
// the server's URL. The server has the empty bucket "cats".
func Start(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s3")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.Command(path)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); server.Wait() })
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}
