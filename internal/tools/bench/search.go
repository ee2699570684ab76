package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/sweep"

	_ "modernc.org/sqlite" // the driver, for FTS5
)

// searching compares FT.CREATE and FT.SEARCH with FTS5 on the same text, in this process. Times are of the processor.
func searching(o *options, parent string) error {
	texts := searchTexts(o.docs)
	raw, err := rawSearch(filepath.Join(parent, "fts5.sqlite"), texts)
	if err != nil {
		return fmt.Errorf("FTS5: %w", err)
	}
	ours, err := ownSearch(filepath.Join(parent, "meowdis.sqlite"), texts)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "%d documents of %d words, processor time, and of queries the median of %d:\n\n", o.docs, wordsPerText, repeats)
	fmt.Fprint(o.out, "| | meowdis | FTS5 | meowdis : FTS5 |\n|---|---:|---:|---:|\n")
	for i, what := range []string{"index the text", "two words, the best 10"} {
		fmt.Fprintf(o.out, "| %s | %s | %s | %.2f× |\n", what, round(ours[i]), round(raw[i]), ratio(ours[i], raw[i]))
		o.goals.atMost(what+", against FTS5", ratio(ours[i], raw[i]), [...]float64{2, 3}[i])
	}
	for i, what := range []string{"a tag, 100 hits", "a range of numbers, 100 hits", "the 10 nearest vectors"} {
		fmt.Fprintf(o.out, "| %s | %s | | |\n", what, round(ours[2+i]))
		o.goals.within(what, ours[2+i], [...]time.Duration{10 * time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond}[i])
	}
	fmt.Fprintln(o.out)
	return nil
}

const wordsPerText = 50

// searchTexts draws texts whose words are as unevenly common as in a language.
func searchTexts(n int) []string {
	draw := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(draw, 1.1, 8, 30_000)
	all := make([]string, n)
	for i := range all {
		var text []string
		for range wordsPerText {
			text = append(text, "w"+strconv.FormatUint(words.Uint64()*7919, 36))
		}
		all[i] = strings.Join(text, " ")
	}
	return all
}

// searchQuery returns two common words.
func searchQuery(i int) string {
	return "w" + strconv.FormatInt(int64(i%7+20)*7919, 36) + " w" + strconv.FormatInt(int64(i%11+40)*7919, 36)
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processor returns the median processor time of a function that is called several times.
func processor(run func(i int) error) (time.Duration, error) {
	var took []time.Duration
	for i := range repeats {
		began := processorTime()
		if err := run(i); err != nil {
			return 0, err
		}
		took = append(took, processorTime()-began)
	}
	return median(took), nil
}

func rawSearch(path string, texts []string) (took []time.Duration, err error) {
	if _, err := local.Open(local.Memory, local.Options{}); err != nil { // configures SQLite, which must happen before its first use
		return nil, err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := db.Exec("CREATE VIRTUAL TABLE docs USING fts5(body)"); err != nil {
		return nil, err
	}
	began := processorTime()
	for part := range slices.Chunk(texts, 1000) {
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		insert, err := tx.Prepare("INSERT INTO docs(body) VALUES(?)")
		if err != nil {
			return nil, err
		}
		for _, text := range part {
			if _, err := insert.Exec(text); err != nil {
				return nil, err
			}
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
	}
	took = append(took, processorTime()-began)
	query, err := processor(func(i int) error {
		rows, err := db.Query("SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT 10", searchQuery(i))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	})
	return append(took, query), err
}

func ownSearch(path string, texts []string) (took []time.Duration, err error) {
	ctx := context.Background()
	store, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	session := engine.New(store).Session()
	do := func(args ...string) error {
		v, err := session.Do(ctx, words(args)...)
		if err == nil && v.IsError() {
			err = fmt.Errorf("%s: %s", args[0], v.Str)
		}
		return err
	}
	index := func(args ...string) (time.Duration, error) {
		if err := do(args...); err != nil {
			return 0, err
		}
		began := processorTime()
		for {
			n, err := sweep.Index(ctx, store.Apply, time.Now().UnixMilli(), 1000)
			if n == 0 || err != nil {
				return processorTime() - began, err
			}
		}
	}
	draw := rand.New(rand.NewPCG(3, 4))
	for part := range slices.Chunk(texts, 1000) {
		var batch [][][]byte
		for range part {
			i := len(batch)
			batch = append(batch, words([]string{"HSET", fmt.Sprintf("d:%p:%d", &part[0], i), "body", part[i], "tag", fmt.Sprint(draw.IntN(1000)), "n", fmt.Sprint(draw.IntN(1_000_000)), "v", randomVector(draw)}))
		}
		if _, err := session.Pipeline(ctx, batch); err != nil {
			return nil, err
		}
	}
	text, err := index("FT.CREATE", "texts", "SCHEMA", "body", "TEXT", "NOSTEM")
	if err != nil {
		return nil, err
	}
	query, err := processor(func(i int) error {
		return do("FT.SEARCH", "texts", searchQuery(i), "NOCONTENT", "VERBATIM", "DIALECT", "2")
	})
	if err != nil {
		return nil, err
	}
	took = append(took, text, query)
	if _, err := index("FT.CREATE", "rest", "SCHEMA", "tag", "TAG", "n", "NUMERIC", "v", "VECTOR", "FLAT", "6", "TYPE", "FLOAT32", "DIM", fmt.Sprint(components), "DISTANCE_METRIC", "COSINE"); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"@tag:{7}", "LIMIT", "0", "100"}, {fmt.Sprintf("@n:[0 %d]", 100*1_000_000/len(texts)), "LIMIT", "0", "100"}, {"*=>[KNN 10 @v $q]", "PARAMS", "2", "q", randomVector(draw)}} {
		query, err := processor(func(int) error {
			return do(append([]string{"FT.SEARCH", "rest", args[0], "NOCONTENT", "DIALECT", "2"}, args[1:]...)...)
		})
		if err != nil {
			return nil, err
		}
		took = append(took, query)
	}
	return took, nil
}
