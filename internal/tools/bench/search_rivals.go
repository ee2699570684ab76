package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"

	_ "modernc.org/sqlite" // the driver, for FTS5
)

// fts5Search measures SQLite's FTS5, which has only texts.
func fts5Search(dir string, texts []string) (searchTimes, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "fts5.sqlite")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
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
	took := searchTimes{indexText: processorTime() - began}
	took[findWords], err = processor(func(i int) error {
		rows, err := db.Query("SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT 10", searchQuery(i))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	})
	return took, err
}

// bleveAdd adds n documents to an index in batches of 1,000.
func bleveAdd(to bleve.Index, n int, fields func(i int) map[string]any) error {
	batch := to.NewBatch()
	for i := range n {
		if err := batch.Index("d:"+strconv.Itoa(i), fields(i)); err != nil {
			return err
		}
		if batch.Size() < 1000 && i < n-1 {
			continue
		}
		if err := to.Batch(batch); err != nil {
			return err
		}
		batch.Reset()
	}
	return nil
}

// bleveSearch measures bleve with its default index, scorch. It stores no copies of the fields,
// as meowdis's indexes do not.
func bleveSearch(dir string, texts []string) (searchTimes, error) {
	text, tag, number := bleve.NewTextFieldMapping(), bleve.NewKeywordFieldMapping(), bleve.NewNumericFieldMapping()
	for _, f := range []*mapping.FieldMapping{text, tag, number} {
		f.Store, f.IncludeInAll, f.DocValues = false, false, false
	}
	took := searchTimes{}
	index := func(row string, document *mapping.DocumentMapping, fields func(i int) map[string]any) (bleve.Index, error) {
		m := bleve.NewIndexMapping()
		document.Dynamic, m.DefaultMapping = false, document
		to, err := bleve.New(filepath.Join(dir, "bleve "+row), m)
		if err != nil {
			return nil, err
		}
		began := processorTime()
		err = bleveAdd(to, len(texts), fields)
		took[row] = untilIdle() - began
		return to, err
	}
	body := bleve.NewDocumentMapping()
	body.AddFieldMappingsAt("body", text)
	ofTexts, err := index(indexText, body, func(i int) map[string]any { return map[string]any{"body": texts[i]} })
	if err != nil {
		return nil, err
	}
	defer ofTexts.Close()
	rest := bleve.NewDocumentMapping()
	rest.AddFieldMappingsAt("tag", tag)
	rest.AddFieldMappingsAt("n", number)
	ofRest, err := index(indexRest, rest, func(i int) map[string]any {
		return map[string]any{"tag": tagOf(i, len(texts)), "n": float64(numberOf(i, len(texts)))}
	})
	if err != nil {
		return nil, err
	}
	defer ofRest.Close()
	find := func(row string, in bleve.Index, size int, q func(i int) query.Query) (err error) {
		took[row], err = processor(func(i int) error {
			found, err := in.Search(bleve.NewSearchRequestOptions(q(i), size, 0, false))
			if err == nil && len(found.Hits) != size {
				err = fmt.Errorf("%s: %d hits", row, len(found.Hits))
			}
			return err
		})
		return err
	}
	if err := find(findWords, ofTexts, 10, func(i int) query.Query {
		q := bleve.NewMatchQuery(searchQuery(i))
		q.SetOperator(query.MatchQueryOperatorAnd)
		q.SetField("body")
		return q
	}); err != nil {
		return nil, err
	}
	if err := find(findTag, ofRest, 100, func(i int) query.Query {
		q := bleve.NewTermQuery(tagOf(i, len(texts)))
		q.SetField("tag")
		return q
	}); err != nil {
		return nil, err
	}
	return took, find(findNumbers, ofRest, 100, func(i int) query.Query {
		least, most := numbersOf(i, len(texts))
		from, to, included := float64(least), float64(most), true
		q := bleve.NewNumericRangeInclusiveQuery(&from, &to, &included, &included)
		q.SetField("n")
		return q
	})
}

// untilIdle waits for bleve's merges in the background, which need no longer than a second to use the processor again.
// It returns the processor time then.
func untilIdle() time.Duration {
	for used := processorTime(); ; {
		time.Sleep(time.Second)
		now := processorTime()
		if now-used < 20*time.Millisecond {
			return now
		}
		used = now
	}
}
