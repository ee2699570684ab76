# The tools are a module of their own. They run in the root of the repository.
TOOL = go -C internal/tools run

.PHONY: build setup test test-stores test-cluster crash failover soak generate pictures sizes bench release-check clean

# As a release has it: stripped, and with the program of the Worker, which a bare go build leaves out. Without
# the tag the library for Lambda brings net/rpc along: 3 MB. Functions at multiples of 32 bytes, as without -funcalign,
# are 0.3 MB more, and no faster.
build:
	$(TOOL) ./packworker
	CGO_ENABLED=0 go build -trimpath -tags lambda.norpc -ldflags '-s -w -funcalign=16' -o meowdis .

setup:
	@.ci/setup

# All tests. They compare with a real redis-server, drive a real terminal and run
# real clients: setup installs those that are missing, or says how.
test: setup
	go test -timeout 30m ./...

# The tests of stores other than a file that make test leaves out: every statement refused once, all transcripts in
# a Worker, a cluster.
test-stores: test-cluster
	go test -timeout 30m ./internal/test/stores -run '^TestEndpointConformance$$/^faults$$' -faults
	go test -timeout 30m ./internal/test/clients -run '^TestEdge$$/^store' -whole

# The part of test-stores that mostly waits for disks and elections.
test-cluster:
	go test -timeout 30m ./remote/rqlite -count 1 -cluster -skip '/conformance/sweeping_pending_deletes'

# Kills servers that share a file for ten minutes; make test does so a few times.
crash:
	go test ./internal/test/soak -run TestCrash -v -count 1 -timeout 20m -for 10m -seed $$$$

# Kills, hangs and cuts off the writer of a place a hundred times, each time with a standby that takes over, in a
# directory and in a bucket; make test does so a few times.
failover:
	nice -n 19 go test ./internal/test/soak -run TestFailover -v -count 1 -timeout 3h -failovers 100 -seed $$$$

# Has 1000 clients of every kind, many of them bad, use a server for five minutes; make
# test does so with a few.
soak:
	go test ./internal/test/soak -run TestSoak -v -count 1 -timeout 20m -for 5m -clients 1000

# The files that are generated from the code.
generate:
	$(TOOL) ./gen

# The terminal pictures in docs/, from real runs.
pictures:
	$(TOOL) ./pictures

# The table in docs/dependencies.md.
sizes:
	$(TOOL) ./sizes

# Measures everything in docs/benchmarks.md, in half an hour. BENCH='-write docs/benchmarks.md -plots docs'
# puts the tables and drawings in their places there.
bench: build
	cd internal/tools/bench/redka && go build -o ../results/redka github.com/nalgeon/redka/cmd/redka
	$(TOOL) ./bench -meowdis ./meowdis -redka internal/tools/bench/results/redka $(BENCH)

# What a release needs, without publishing anything, and without the images, which need Docker.
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.14.1
release-check:
	go run $(GORELEASER) check
	AUR_KEY= go run $(GORELEASER) release --snapshot --clean --skip=publish,docker
	@echo 'Bytes of what people download and of what they run:'
	@wc -c dist/*.tar.gz dist/*.zip dist/*.deb dist/*/meowdis*

clean:
	rm -rf meowdis dist internal/tools/bench/results worker/project/src/meowdis.wasm.zst
