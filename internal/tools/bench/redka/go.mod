module github.com/meowdis/meowdis/internal/tools/bench/redka

go 1.26.0

tool github.com/nalgeon/redka/cmd/redka

require (
	github.com/lib/pq v1.10.9 // indirect
	github.com/mattn/go-sqlite3 v1.14.28 // indirect
	github.com/nalgeon/redka v0.6.0 // indirect
	github.com/tidwall/btree v1.7.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/redcon v1.6.2 // indirect
)
