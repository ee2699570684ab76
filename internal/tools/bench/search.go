package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/sweep"
)

// The rows of the tables of search.
const (
	indexText    = "index the text"
	indexRest    = "index a tag and a number"
	findWords    = "two words, the best 10"
	findTag      = "a tag, 100 hits"
	findNumbers  = "a range of numbers, 100 hits"
	findNearest  = "the 10 nearest vectors"
	wordsPerText = 50
)

var searchRows = []string{indexText, indexRest, findWords, findTag, findNumbers, findNearest}

// searchTimes holds processor times by row.
type searchTimes map[string]time.Duration

// searchSizes lists the numbers of documents. Only up to mostVectors have vectors, which take 3 KB each.
var searchSizes = []int{10_000, 100_000, 1_000_000}

const mostVectors = 100_000

// searching compares FT.CREATE and FT.SEARCH with FTS5 and bleve on the same documents, in this process. Times are of
// the processor.
func searching(o *options, parent string) error {
	var sizes []int
	took := searchCurves{}
	for _, n := range searchSizes {
		if n > o.docs {
			break
		}
		sizes = append(sizes, n)
		all, err := searchingIn(o, filepath.Join(parent, strconv.Itoa(n)), n)
		if err != nil {
			return err
		}
		for i, times := range all {
			took.add(searchPrograms[i], times, n)
		}
	}
	if o.plots == "" || len(sizes) < 2 {
		return nil
	}
	var curves []curve
	for _, c := range took {
		if len(c.took) == len(sizes) {
			curves = append(curves, *c)
		}
	}
	return plot(filepath.Join(o.plots, "growth-search.svg"), "documents of an index; of indexing, for one document", sizes, curves)
}

// searchPrograms names the results of searchingIn.
var searchPrograms = [...]string{"meowdis", "FTS5", "bleve"}

// searchCurves holds a curve for each row of each program, by both names.
type searchCurves map[string]*curve

// add adds the times of n documents.
func (c searchCurves) add(program string, times searchTimes, n int) {
	for row, t := range times {
		name := program + ": " + row
		if c[name] == nil {
			c[name] = &curve{name: name}
		}
		if row == indexText || row == indexRest {
			t /= time.Duration(n) // for each document
		}
		c[name].took = append(c[name].took, t)
	}
}

// searchingIn prints the table of a number of documents. It returns the times of meowdis, FTS5 and bleve.
func searchingIn(o *options, dir string, n int) (all [3]searchTimes, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return all, err
	}
	defer os.RemoveAll(dir)
	texts := searchTexts(n)
	for i, measure := range []func(string, []string) (searchTimes, error){ownSearch, fts5Search, bleveSearch} {
		if all[i], err = measure(dir, texts); err != nil {
			return all, fmt.Errorf("%s: %w", searchPrograms[i], err)
		}
	}
	fmt.Fprintf(o.out, "%d documents of %d words, processor time, and of queries the median of %d:\n\n", n, wordsPerText, repeats)
	fmt.Fprint(o.out, "| | meowdis | FTS5 | bleve | meowdis : FTS5 | meowdis : bleve |\n|---|---:|---:|---:|---:|---:|\n")
	for _, row := range searchRows {
		if all[0][row] == 0 {
			continue
		}
		cells := [5]string{round(all[0][row]).String()}
		for i, rival := range all[1:] {
			if took := rival[row]; took > 0 {
				cells[1+i], cells[3+i] = round(took).String(), fmt.Sprintf("%.2f×", ratio(all[0][row], took))
			}
		}
		fmt.Fprintf(o.out, "| %s | %s |\n", row, strings.Join(cells[:], " | "))
	}
	fmt.Fprintln(o.out)
	searchGoals(&o.goals, n, all)
	return all, nil
}

// searchGoals adds the goals for a number of documents.
func searchGoals(g *goals, n int, all [3]searchTimes) {
	own, fts5, bleve := all[0], all[1], all[2]
	of := fmt.Sprintf(", %d documents", n)
	if n == mostVectors {
		g.atMost(indexText+of+", against FTS5", ratio(own[indexText], fts5[indexText]), 2)
		g.atMost(findWords+of+", against FTS5", ratio(own[findWords], fts5[findWords]), 3)
		g.within(findNearest+of, own[findNearest], 100*time.Millisecond)
	}
	if n > mostVectors {
		g.within(findTag+of, own[findTag], 10*time.Millisecond)
		g.within(findNumbers+of, own[findNumbers], 10*time.Millisecond)
	}
	if n >= mostVectors {
		for _, row := range searchRows[:5] {
			g.atMost(row+of+", against bleve", ratio(own[row], bleve[row]), 1)
		}
	}
}

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

// Document i of n has the tag tagOf and the number numberOf, so that a hundred documents have a tag or are in a range.
func tagOf(i, n int) string { return fmt.Sprint("t", i*7919%(n/100)) }

func numberOf(i, n int) int { return i * 7919 % n * 10 }

// numbersOf returns a range of a hundred numbers.
func numbersOf(i, n int) (least, most int) { return i * n / 10, i*n/10 + 999 }

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

// searcher runs commands on a file of its own.
type searcher struct {
	*engine.Session
	store *local.Store
	took  searchTimes
}

// openSearcher opens a new file.
func openSearcher(path string) (*searcher, error) {
	store, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		return nil, err
	}
	return &searcher{engine.New(store).Session(), store, searchTimes{}}, nil
}

// fill writes hashes d:0 to d:n-1.
func (s *searcher) fill(n int, fields func(i int) []string) error {
	for i := 0; i < n; i += 1000 {
		var batch [][][]byte
		for j := i; j < min(i+1000, n); j++ {
			batch = append(batch, words(append([]string{"HSET", fmt.Sprint("d:", j)}, fields(j)...)))
		}
		if _, err := s.Pipeline(context.Background(), batch); err != nil {
			return err
		}
	}
	return nil
}

func (s *searcher) do(args ...string) error {
	v, err := s.Do(context.Background(), words(args)...)
	if err == nil && v.IsError() {
		err = fmt.Errorf("%s: %s", args[0], v.Str)
	}
	return err
}

// index measures how long the keys take after FT.CREATE.
func (s *searcher) index(row string, create ...string) error {
	if err := s.do(create...); err != nil {
		return err
	}
	began := processorTime()
	for {
		n, err := sweep.Index(context.Background(), s.store.Apply, time.Now().UnixMilli(), 1000)
		if n == 0 || err != nil {
			s.took[row] = processorTime() - began
			return err
		}
	}
}

// find measures FT.SEARCH.
func (s *searcher) find(row string, query func(i int) []string) (err error) {
	s.took[row], err = processor(func(i int) error {
		return s.do(append(append([]string{"FT.SEARCH"}, query(i)...), "NOCONTENT", "VERBATIM", "DIALECT", "2")...)
	})
	return err
}

// ownSearch measures meowdis.
func ownSearch(dir string, texts []string) (searchTimes, error) {
	n := len(texts)
	s, err := openSearcher(filepath.Join(dir, "meowdis.sqlite"))
	if err != nil {
		return nil, err
	}
	defer s.store.Close()
	if err := s.fill(n, func(i int) []string {
		return []string{"body", texts[i], "tag", tagOf(i, n), "n", fmt.Sprint(numberOf(i, n))}
	}); err != nil {
		return nil, err
	}
	if err := s.index(indexText, "FT.CREATE", "texts", "SCHEMA", "body", "TEXT", "NOSTEM"); err != nil {
		return nil, err
	}
	if err := s.index(indexRest, "FT.CREATE", "rest", "SCHEMA", "tag", "TAG", "n", "NUMERIC"); err != nil {
		return nil, err
	}
	if err := s.find(findWords, func(i int) []string { return []string{"texts", searchQuery(i)} }); err != nil {
		return nil, err
	}
	if err := s.find(findTag, func(i int) []string {
		return []string{"rest", "@tag:{" + tagOf(i, n) + "}", "LIMIT", "0", "100"}
	}); err != nil {
		return nil, err
	}
	if err := s.find(findNumbers, func(i int) []string {
		least, most := numbersOf(i, n)
		return []string{"rest", fmt.Sprintf("@n:[%d %d]", least, most), "LIMIT", "0", "100"}
	}); err != nil || n > mostVectors {
		return s.took, err
	}
	s.took[findNearest], err = nearestSearch(filepath.Join(dir, "vectors.sqlite"), n)
	return s.took, err
}

// nearestSearch measures a search among n vectors.
func nearestSearch(path string, n int) (time.Duration, error) {
	s, err := openSearcher(path)
	if err != nil {
		return 0, err
	}
	defer s.store.Close()
	draw := rand.New(rand.NewPCG(3, 4))
	if err := s.fill(n, func(int) []string { return []string{"v", randomVector(draw)} }); err != nil {
		return 0, err
	}
	if err := s.index("", "FT.CREATE", "vectors", "SCHEMA", "v", "VECTOR", "FLAT", "6", "TYPE", "FLOAT32", "DIM", fmt.Sprint(components), "DISTANCE_METRIC", "COSINE"); err != nil {
		return 0, err
	}
	to := randomVector(draw)
	err = s.find(findNearest, func(int) []string { return []string{"vectors", "*=>[KNN 10 @v $q]", "PARAMS", "2", "q", to} })
	return s.took[findNearest], err
}
