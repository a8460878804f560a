# make check is what to run before a commit. make test must pass; it installs the tools it needs.
# make test-full is what CI runs after it: the same steps in full.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 30s
# All steps compile in one way and share what is in Go's cache: without cgo, which the race detector
# alone needs, and a C compiler with it.
export CGO_ENABLED = 0
# Compilers end before it pays to collect their garbage: without, they take a fifth less time.
ifeq ($(findstring toolexec,$(GOFLAGS)),)
export GOFLAGS := $(or $(GOFLAGS),$(shell $(GO) env GOFLAGS)) '-toolexec=env GOGC=off GOMEMLIMIT=1GiB'
endif
RACE         = $(filter 1,$(shell env -u CGO_ENABLED $(GO) env CGO_ENABLED))

.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

build:
	$(GO) build -o bin/mlg ./cmd/mlg

# Short tests but those that run the command and those that take about a second or more, FuzzGraph
# with its seeds among them.
SLOW = Scripts|ModelScripts|Shards|KilledShards|Definition|SavedPredictions|Precision|Layouts|Wedges|Cancelled|WriteRefuses|OnlyChosenAreTested|NestedIgnoresTestLabels|StreamInConstantMemory|Damaged|FooterMemory|API|ManyProbabilities|ClassCounts|AllDrugsRender|Builtins

check: fmt lint
	$(GO) test -short -vet=all -skip '^(FuzzGraph|Test(Readme|$(SLOW)))$$' ./...
	cd internal/site && $(GO) test -count=1 -run '^TestLinks$$' .

# Four steps at a time, the longest first. What most of them compile is compiled first, once, while
# others download or compile for the race detector.
test:
	+$(MAKE) -j4 -Oline tests

tests: tools fmt build package test-race test-explorer test-go test-python test-readme test-beam test-arm64 lint test-docs test-noasm test-wheel test-kubernetes generate-check
ifeq ($(MAKECMDGOALS),tests)
package test-explorer test-go test-beam lint test-docs test-noasm test-kubernetes generate-check: build
endif

# Debian's packages, one after the other, and modules of Node.
tools:
	@internal/need.sh svm-train libsvm-tools
	@internal/need.sh $(EMULATE) qemu-user-static
	@internal/explorer/webtest/run.sh install

# Everything in Go but the modules with large dependencies, with all of vet. Short tests leave out or
# shrink what takes long (graphtest.Long). test-readme tests the documents.
SHORT = -short
TESTS = $(or $(SHORT),-timeout 40m)

test-go: tools
	$(GO) test $(TESTS) -vet=all -skip '^TestReadme$$' ./...

# The packages that start goroutines, in code or in tests, with the race detector. It makes them
# about ten times slower: make test runs tests that reach each place that starts some, test-full the
# other short tests, and transcripts of matrices.
CONCURRENT = $(sort $(dir $(shell git grep -lE 'work\.(Each|Tasks)\(|\.Go.func|^\s+go ' -- '*.go' ':!beam' ':!bench' ':!internal/asm' ':!internal/site')))
RACING     = Ahead|Workers|Concurrent|Progress|Share|Search|TwoWriters|BatchKeeps|Each|Gate|Result|Shutdown|Upload|Slow|Neighbours|SavedModel|TestServe|SelfContained|OneWay|Complete|TestKernel|(Gram|Transform|Process|Same)Bits|TestBits|EigenLowRank|ReadIsCancelled|TUQuirks|AttributeInvariance|InductiveNever|TestTies|Properties/mixed|TestScripts/^bench$$

RACE_TEST  = CGO_ENABLED=1 $(GO) test -race -short -timeout 40m -vet=off

test-race: tools
	$(if $(RACE),$(RACE_TEST) $(if $(SHORT),-run '$(RACING)',-skip '(Scripts|Shards)$$') $(CONCURRENT:%=./%),@echo "no C compiler: no race detector")
	$(if $(SHORT),,$(if $(RACE),$(RACE_TEST) -run 'TestScripts/^(bench|compare|gram)$$' ./internal/cli))

# Without assembly: what has it, and the bits of what uses it; in full all that uses it.
test-noasm: tools
	$(GO) test -tags noasm -vet=all $(TESTS) $(ASSEMBLY:%=./%)
	$(GO) test -tags noasm -vet=off $(if $(SHORT),-run '^Test($(EMULATED))$$',-timeout 40m) -skip 'TestLowRankProperties/_all$$|TestCollections/(drugs|masses)/chosen|TestCollections///all|^TestReadme$$' . $(if $(SHORT),,$(USING))

# The assembly of arm64, and Gram matrices and learners with the bits of amd64, under emulation.
EMULATE  = qemu-aarch64-static
EMULATED = GramBits|CrossBits|FactorsBits|Guarded.*|Dets|AddGram|CrossNearlySingular|CrossUnderflow|Multiply|Sweep|StepPartner|LearnerBits

test-arm64: tools
	@if command -v $(EMULATE) >/dev/null; then \
	  GOARCH=arm64 $(GO) test -short -vet=all -run '^Test($(EMULATED))$$' -exec $(EMULATE) . $(ASSEMBLY:%=./%); \
	elif [ "$$CI" = true ]; then echo "no $(EMULATE), which CI needs to test arm64"; exit 1; \
	else echo "no $(EMULATE): arm64 is not tested"; fi

test-full: SHORT =
test-full: lint-beam generate-cuda-check test-go test-race test-noasm release-check
test-long: test-full test-slurm test-flink

fmt:
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "gofmt needed:"; echo "$$files"; exit 1; fi

lint:
	GOGC=400 $(GO) run $(STATICCHECK) ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$p || exit 1; \
	  done; \
	done

# Assembly is generated by a module of its own.
ASSEMBLY      = spd internal/dense learn
USING         = ./classic ./model ./store ./tiles ./nystrom ./explain
ARCHITECTURES = amd64 arm64

generate:
	@set -e; cd internal/asm; for p in $(ASSEMBLY); do for a in $(ARCHITECTURES); do \
	  $(GO) run . -arch $$a -pkg $${p##*/} -out ../../$$p/kernels_$$a.s -stubs ../../$$p/kernels_$$a.go; done; done

generate-check: # in a copy, because other steps read the files at the same time
	@rm -rf .tools/asm && mkdir -p $(ASSEMBLY:%=.tools/asm/%) && cp -r internal/asm .tools/asm/internal/
	@$(MAKE) -s -C .tools/asm -f $(CURDIR)/Makefile generate
	@for p in $(ASSEMBLY); do for f in .tools/asm/$$p/*; do diff $$f $$p || exit 1; done; done

# The code of GPUs, compiled by NVRTC from PyPI, which needs none.
NVRTC = nvidia-cuda-nvrtc-cu12==12.0.140

generate-cuda: .venv/cuda
	.venv/cuda/bin/python cuda/generate.py cuda

generate-cuda-check: .venv/cuda
	@rm -rf .tools/cuda && mkdir -p .tools/cuda && .venv/cuda/bin/python cuda/generate.py .tools/cuda
	@for f in .tools/cuda/*; do diff $$f cuda || exit 1; done

.venv/cuda:
	$(PYTHON) -m venv $@
	$@/bin/python $(PIP) install $(NVRTC) || { rm -rf $@; exit 1; }

# Static binaries for six systems, the manual page, completion scripts, and checksums, in dist/.
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
SYSTEMS   = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
STAMP     = -s -w -X github.com/mlgkernel/mlg/internal/cli.release=$(VERSION)
SHA256SUM = $(shell command -v sha256sum >/dev/null 2>&1 && echo sha256sum || echo shasum -a 256)

release:
	rm -rf dist
	mkdir -p dist
	@set -e; for s in $(SYSTEMS); do \
	  os=$${s%/*}; arch=$${s#*/}; name=mlg-$(VERSION)-$$os-$$arch; [ $$os = windows ] && name=$$name.exe; \
	  echo dist/$$name; \
	  GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags '$(STAMP)' -o dist/$$name ./cmd/mlg; \
	done
	$(GO) build -trimpath -ldflags '$(STAMP)' -o bin/mlg ./cmd/mlg
	bin/mlg man > dist/mlg.1
	for s in bash zsh fish; do bin/mlg completion $$s > dist/mlg.$$s; done
	cd dist && $(SHA256SUM) * > SHA256SUMS && $(SHA256SUM) -c SHA256SUMS

# The command builds and its packages pass vet for every system of a release.
release-check:
	@set -e; for s in $(SYSTEMS); do echo "build $$s"; \
	  GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) build -o /dev/null ./cmd/mlg; \
	  GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) vet ./internal/cli ./spd .; done

# The examples: job arrays on a Slurm cluster of one node, which the test installs (Debian, as
# root), starts and stops; manifests for Kubernetes, without a cluster.
test-slurm:
	timeout 600 examples/slurm/test.sh

test-kubernetes:
	cd examples/kubernetes && $(GO) test -vet=all ./...

# The page of mlg serve in a real browser; skips, with a line that says so, where there is none
# and none can be installed. With CI=true that is a failure.
test-explorer: tools
	GO="$(GO)" ./internal/explorer/webtest/run.sh

# The documents as static pages; a dead link is an error. The module of its own has the Markdown parser.
docs:
	cd internal/site && $(GO) run . -o $(CURDIR)/dist/site

# The links of all Markdown files, the pages, and the pages in a browser.
test-docs: tools
	cd internal/site && $(GO) test -vet=all -count=1 . # the cache does not know the documents
	GO="$(GO)" ./internal/explorer/webtest/run.sh site

# mlg serve as a prediction service: throughput and latency, alone and with a thousand slow clients;
# and the page: frames of the map, time from a parameter to the result.
bench-explorer:
	$(GO) test -run '^$$' -bench . -benchtime 10s ./internal/explorer
	GO="$(GO)" ./internal/explorer/webtest/run.sh bench

clean:
	rm -rf bin dist

# The Python package: a wheel built from source, tested in an environment with what the tests need
# (test-python), and in another with what the package needs and without Go (test-wheel). Both are made
# anew when that changes.
PYTHON  ?= python3
PIP      = -m pip -q --disable-pip-version-check --no-input
unexport PYTHONDONTWRITEBYTECODE # without compiled files, importing scikit-learn takes three times as long

.venv/%/made: python/requirements-test.txt python/pyproject.toml
	$(PYTHON) -m venv --clear .venv/$*
	$(if $(filter source,$*),.venv/source/bin/python $(PIP) install --no-compile -r $< &&) touch $@

package: .venv/source/made
	rm -rf .venv/dist
	.venv/source/bin/python $(PIP) wheel --no-deps -w .venv/dist ./python
	.venv/source/bin/python $(PIP) install --no-deps --force-reinstall .venv/dist/*.whl

test-python: package
	.venv/source/bin/ruff check -q python
	.venv/source/bin/ruff check -q --config python/pyproject.toml testdata cuda
	.venv/source/bin/ruff format -q --check --config python/pyproject.toml python testdata cuda
	.venv/source/bin/python testdata/golden/generate.py
	cd python && ../.venv/source/bin/python -m pytest

# The documents, with the package that they need.
test-readme: package
	MLG_PYTHON=$(CURDIR)/.venv/source/bin/python $(GO) test -vet=off -run TestReadme .

test-wheel: package .venv/wheel/made
	.venv/wheel/bin/python $(PIP) uninstall -y mlgkernel
	.venv/wheel/bin/python $(PIP) install --no-compile -c python/requirements-test.txt .venv/dist/*.whl
	cd python/tests && env -i HOME="$$HOME" PATH=/nowhere ../../.venv/wheel/bin/python installed.py

wheels:
	for t in $(SYSTEMS); do MLG_TARGET=$$t $(PYTHON) -m pip wheel -q --no-deps -w dist ./python || exit 1; done

# The pipeline for Apache Beam is a module of its own, docs/howto/beam.md. Its dependencies take long to
# compile, so there is one way to build it, and without Google's storage by gRPC, which Beam does not use.
BEAM = -tags flink,disable_grpc_modules

build-beam:
	cd beam && $(GO) build $(BEAM) -o ../bin/mlg-beam ./cmd/mlg-beam

# On the prism runner, in the process of the test. Vet and staticcheck read all dependencies: make test-full.
test-beam:
	cd beam && $(GO) test $(BEAM) -skip Flink -vet=off -ldflags='-s -w' -timeout 300s ./...

lint-beam:
	cd beam && $(GO) vet $(BEAM) ./... && GOGC=400 $(GO) run $(STATICCHECK) $(BEAM) ./...

# On a Flink cluster on this machine: needs Java 17 and Maven, downloads 150 MB. The job server
# listens on all addresses, so it gets a network of its own where the system allows that.
test-flink: build-beam
	mvn -B -q -f beam/flink/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/.tools/flink
	cd beam && $(GO) test $(BEAM) -ldflags='-s -w' -c -o ../.tools/flink.test ./pipeline
	@export MLG_FLINK_JARS=$(CURDIR)/.tools/flink MLG_BEAM_COMMAND=$(CURDIR)/bin/mlg-beam; \
	run='cd beam/pipeline && exec ../../.tools/flink.test -test.run Flink -test.v -test.timeout 900s'; \
	if unshare -rn ip link set lo up 2>/dev/null; then \
	  timeout 1000 unshare -rn sh -c "ip link set lo up && $$run"; \
	else \
	  echo "no network of its own: the job server can be reached from outside during the test"; timeout 1000 sh -c "$$run"; \
	fi
