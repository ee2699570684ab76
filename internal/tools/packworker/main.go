// Command pack compiles the Worker's program into package worker, which embeds it; or, given a
// directory, it writes the program there, both plain and compressed. Build tags may follow the directory.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/meowdis/meowdis/internal/tools/repo"
	"github.com/meowdis/meowdis/worker"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	repo.Enter()
	const source = "worker"
	if len(args) > 0 {
		program := filepath.Join(args[0], worker.Program)
		if err := compile(source, program, args[1:]); err != nil {
			return err
		}
		return compress(program, filepath.Join(args[0], worker.Packed))
	}
	temporary, err := os.MkdirTemp("", "pack-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	program := filepath.Join(temporary, "program")
	if err := compile(source, program, nil); err != nil {
		return err
	}
	return compress(program, filepath.Join(source, "project", worker.Packed))
}

// compile makes the program: a library that JavaScript calls. Without inlining it is a tenth smaller.
func compile(source, to string, tags []string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-tags", strings.Join(tags, ","), "-trimpath", "-buildmode=c-shared", "-gcflags=all=-l", "-ldflags=-s -w", "-o", to, "./edge")
	cmd.Dir, cmd.Stdout, cmd.Stderr = source, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	return cmd.Run()
}

// compress packs the program. As gzip it would be 0.4 MB larger.
func compress(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return os.WriteFile(to, e.EncodeAll(program, nil), 0o644)
}
