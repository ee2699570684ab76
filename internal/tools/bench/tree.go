package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// treeFile returns a file with this number of keys. All parts of a run share it; with o.trees,
// later runs do, too.
func treeFile(o *options, keys int) (string, error) {
	dir := o.scratch
	if o.trees != "" {
		dir = o.trees
	}
	file := filepath.Join(dir, fmt.Sprintf("inspect%d.sqlite", keys))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	// The name is temporary until the file is complete.
	if err := fillTree(o, file+".part", keys); err != nil {
		return "", fmt.Errorf("making a file of %d keys: %w", keys, err)
	}
	return file, os.Rename(file+".part", file)
}

// fillTree creates a file with an application's mix of keys: nested folders, one folder with a
// fifth of all keys, every type, and sessions that expire.
func fillTree(o *options, file string, keys int) error {
	fill := exec.Command(o.meowdis, "exec", "--pipe", "-t", file)
	in, err := fill.StdinPipe()
	if err != nil {
		return err
	}
	if err := fill.Start(); err != nil {
		return err
	}
	script := bufio.NewWriterSize(in, 1<<20)
	for i := range keys {
		treeKey(script, i)
	}
	return errors.Join(script.Flush(), in.Close(), fill.Wait())
}

// treeKey writes the commands that create key i.
func treeKey(w io.Writer, i int) {
	scattered := uint32(i) * 2654435761 // names are not in creation order
	part := scattered >> 8 % 100
	switch i % 20 {
	case 0, 1, 2, 3:
		fmt.Fprintf(w, "SET session:%08x token:%d EX %d\n", scattered, i, 600+scattered%5_000_000)
	case 4, 5, 6, 7, 8, 9:
		fmt.Fprintf(w, "SET cache:%02d:page:%d %s\n", part, i, strings.Repeat("x", int(1+scattered%300)))
	case 10, 11, 12:
		fmt.Fprintf(w, "HSET user:%02d:%d name cat%d age %d\n", part, i, i, i%20)
	case 13, 14:
		fmt.Fprintf(w, "RPUSH queue:%02d:%d a b c\n", part, i)
	case 15, 16:
		fmt.Fprintf(w, "SADD tags:%02d:%d red green %d\n", part, i, i)
	case 17, 18:
		fmt.Fprintf(w, "ZADD scores:%02d:%d 1 a 2.5 b\n", part, i)
	default:
		fmt.Fprintf(w, "SET user:%02d:%d:email cat%d@example.com EX %d\n", part, i-9, i, 3600*(1+i%2000))
	}
}
