// Command sizes writes how much of the released binary each dependency adds, into docs/dependencies.md.
//
// A dependency adds the packages that the binary would not have without it, its own and others. Their symbols are
// counted; what the linker adds for them, such as line tables, is counted in proportion.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/tools/repo"
)

const (
	page  = "docs/dependencies.md"
	begin = "<!-- make sizes writes this table -->\n"
	end   = "<!-- end -->\n"
)

// pkg holds the fields of go list that describe a package.
type pkg struct {
	ImportPath string
	Imports    []string
	Module     *struct {
		Path           string
		Main, Indirect bool
	}
}

func main() {
	repo.Enter()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "meowdis-sizes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	whole, released := filepath.Join(dir, "whole"), filepath.Join(dir, "released")
	for path, flags := range map[string]string{whole: "-ldflags=", released: "-ldflags=-s -w"} {
		if _, err := output("go", "build", "-trimpath", "-tags", "lambda.norpc", flags, "-o", path, "."); err != nil {
			return err
		}
	}
	info, err := os.Stat(released)
	if err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	symbols, total, err := symbolBytes(whole, packages)
	if err != nil {
		return err
	}
	return write(table(packages, symbols, float64(info.Size())/float64(total), info.Size()))
}

func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return out, err
}

func list() (map[string]*pkg, error) {
	out, err := output("go", "list", "-deps", "-tags", "lambda.norpc", "-json=ImportPath,Imports,Module", ".")
	if err != nil {
		return nil, err
	}
	all := map[string]*pkg{}
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		if err := in.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
}

// symbolBytes returns the bytes of each package's symbols in the binary, and of all symbols.
func symbolBytes(binary string, packages map[string]*pkg) (map[string]int64, int64, error) {
	out, err := output("go", "tool", "nm", "-size", binary)
	if err != nil {
		return nil, 0, err
	}
	sizes, total := map[string]int64{}, int64(0)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.Contains("TtRrDd", fields[2]) {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || n > 1<<23 { // zeroed memory, which the file does not contain
			continue
		}
		total += n
		sizes[packageOf(fields[3], packages)] += n
	}
	return sizes, total, nil
}

// packageOf returns the package of a symbol such as type:*a.b/c.(*D), or "".
func packageOf(symbol string, packages map[string]*pkg) string {
	symbol = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(symbol, "type:"), "go:itab."), "*[]")
	name, _, _ := strings.Cut(symbol, "[")
	for at := strings.LastIndexByte(name, '/') + 1; ; {
		dot := strings.IndexByte(name[at:], '.')
		if dot < 0 {
			return ""
		}
		at += dot
		if path := strings.ReplaceAll(name[:at], "%2e", "."); packages[path] != nil {
			return path
		}
		at++
	}
}

// table returns a row for each direct dependency, largest first.
func table(packages map[string]*pkg, symbols map[string]int64, scale float64, size int64) string {
	all := reachable(packages, "")
	modules := map[string]int64{}
	for _, p := range packages {
		if p.Module != nil && !p.Module.Main && !p.Module.Indirect {
			modules[p.Module.Path] = 0
		}
	}
	for module := range modules {
		without := reachable(packages, module)
		for path := range all {
			if !without[path] {
				modules[module] += symbols[path]
			}
		}
	}
	sorted := []string{}
	for module := range modules {
		sorted = append(sorted, module)
	}
	slices.SortFunc(sorted, func(a, b string) int {
		return cmp.Or(cmp.Compare(modules[b], modules[a]), cmp.Compare(a, b))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "| Of %s MB, for Linux on x86-64 | MB |\n|---|---|\n", megabytes(float64(size)))
	for _, module := range sorted {
		fmt.Fprintf(&out, "| %s | %s |\n", module, megabytes(float64(modules[module])*scale))
	}
	return out.String()
}

func megabytes(bytes float64) string { return strconv.FormatFloat(bytes/1e6, 'f', 2, 64) }

// reachable returns the packages that the program imports when it does not import the module.
func reachable(packages map[string]*pkg, module string) map[string]bool {
	found := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		p := packages[path]
		if p == nil || found[path] || p.Module != nil && p.Module.Path == module {
			return
		}
		found[path] = true
		for _, name := range p.Imports {
			visit(name)
			visit("vendor/" + name) // the standard library's own copies
		}
	}
	for path, p := range packages {
		if p.Module != nil && p.Module.Main && !strings.Contains(strings.TrimPrefix(path, "github.com/"), "/meowdis/") {
			visit(path)
		}
	}
	visit("runtime")
	return found
}

// write replaces the table of the page.
func write(table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table", page)
	}
	return os.WriteFile(page, []byte(before+begin+table+end+after), 0o644)
}
