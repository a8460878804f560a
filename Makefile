# make test is the one command that checks everything; it installs the tools it needs.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT    = golang.org/x/perf/cmd/benchstat@latest
FUZZTIME    ?= 30s

.PHONY: build test fmt vet lint bench fuzz generate clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/mlg ./cmd/mlg

test: fmt vet lint
	$(GO) test -race ./...
	$(GO) test -tags noasm ./...

fmt:
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "gofmt needed:"; echo "$$files"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags noasm ./...

lint:
	$(GO) run $(STATICCHECK) ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

clean:
	rm -rf bin dist
