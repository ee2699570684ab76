// Package worker contains the Cloudflare Worker project that "meowdis worker init" writes. The Worker's Durable
// Objects run the engine, compiled to WebAssembly (package edge), each on its own database.
//
// The compiled program is not in the repository. "make build" and releases create it with "go -C
// internal/tools run ./packworker" before they compile meowdis, which embeds it.
package worker

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"
)

//go:embed all:project
var files embed.FS

// Program is the file name of the compiled program in the project. Packed is its name in the embedded files.
const (
	Program = "src/meowdis.wasm"
	Packed  = Program + ".zst"
)

// ErrNoProgram reports a meowdis compiled without the Worker's program.
var ErrNoProgram = errors.New("this meowdis was compiled without the Worker's program: use a release or \"make build\"")

// Write creates the project in dir, which must be missing or empty. After an error it removes the files it has
// written.
func Write(dir string) (err error) {
	if _, err := fs.Stat(files, "project/"+Packed); err != nil {
		return ErrNoProgram
	}
	entries, err := os.ReadDir(dir)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: name a new or empty directory", dir)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, clear(dir, missing))
		}
	}()
	return fs.WalkDir(files, "project", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "project")))
		if entry.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		switch path.Base(name) {
		case path.Base(Packed):
			at = strings.TrimSuffix(at, ".zst")
			content, err = unpacked(content)
		case "wrangler.jsonc":
			content = bytes.Replace(content, []byte(`"name": "meowdis"`), []byte(`"name": "`+workerName(dir)+`"`), 1)
		}
		if err != nil {
			return err
		}
		return os.WriteFile(at, content, 0o644)
	})
}

// clear removes a partly written project.
func clear(dir string, all bool) error {
	if all {
		return os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

func unpacked(packed []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(packed, nil)
}

var notName = regexp.MustCompile(`[^a-z0-9-]+`)

// workerName derives the Worker's name from its directory.
func workerName(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	name := strings.Trim(notName.ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		return "meowdis"
	}
	return name[:min(len(name), 54)]
}
