// Command s3 serves an empty bucket in memory over the protocol of S3, and prints its URL. It ends with its
// standard input.
package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func main() {
	backend := s3mem.New()
	if err := backend.CreateBucket("cats"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	fmt.Println(server.URL)
	io.Copy(io.Discard, os.Stdin)
}
