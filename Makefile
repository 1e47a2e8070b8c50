# Bare `make` prints the targets. Every target works from a clean checkout with
# nothing but Go installed; what else is needed is fetched into ./bin.
GO       ?= go
BIN      := $(CURDIR)/bin
LINT     := $(BIN)/golangci-lint
LINT_VERSION := v2.15.0
TESTSUM  := $(BIN)/gotestsum
TESTSUM_VERSION := v1.13.0
DEADCODE := $(BIN)/deadcode
DEADCODE_VERSION := v0.52.0
PROMTOOL := $(BIN)/promtool
# Prometheus 2.54.1.
PROMTOOL_VERSION := v0.54.1
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The longest ones begin first, so that nothing is alone at the end.
PACKAGES ?= ./service ./integration/... ./... ./lab/...
# What is released is built without C, and so is what is tested: packages with C are linked by another linker, which takes
# seconds for each of a hundred programs. Only the race detector needs C.
export CGO_ENABLED ?= 0
# The linter looks at tests as go vet does, and who links a hundred programs does it faster without tables for debuggers.
TESTFLAGS := -vet=off -ldflags=-w

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/lethe and bin/lethe-lab
	$(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o $(BIN)/ ./cmd/lethe ./lab/cmd/lethe-lab

.PHONY: test
test: $(TESTSUM) ## Run all tests (under 10 minutes on 2 cores) and name what was skipped and why
	./.ci/in-memory $(TESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- $(TESTFLAGS) -timeout 20m $(PACKAGES)

$(TESTSUM):
	GOBIN=$(BIN) $(GO) install gotest.tools/gotestsum@$(TESTSUM_VERSION)

.PHONY: race
race: ## Run the tests of packages in which something can race under the race detector, without the longest ones
	CGO_ENABLED=1 ./.ci/in-memory $(GO) test -race -short -parallel 1 $(TESTFLAGS) -timeout 45m $$(./.ci/concurrent)

.PHONY: kafka-test
kafka-test: ## Run the integration tests on a real Apache Kafka, of one broker and, beside it, of three
	./integration/kafka/kafka.sh fetch
	$(MAKE) --no-print-directory -j2 --output-sync=target kafka-one kafka-three

.PHONY: kafka-one kafka-three
kafka-one:
	./integration/kafka/kafka.sh run $(GO) test -count=1 -short $(TESTFLAGS) -v -timeout 25m ./integration/kafka

# Most of the time they wait for brokers, as those of one broker do.
kafka-three:
	KAFKA_TEST_PORT=29192 ./integration/kafka/kafka.sh run3 \
	  $(GO) test -count=1 -short $(TESTFLAGS) -v -timeout 30m -run 'OfThree' ./integration/kafka

.PHONY: stops
stops: ## Provoke stops of every kind with real processes, each of which every surface must name within a minute (3 minutes)
	PROVOKE_STOPS=1 ./.ci/in-memory $(GO) test -count=1 $(TESTFLAGS) -timeout 15m ./integration/silence

.PHONY: interop
interop: ## Check receipts with PyJWT, jwcrypto, jose and rfc8785, and the log in Python (installs python3-venv, nodejs, npm if it may)
	./.ci/interop $(GO) test -count=1 $(TESTFLAGS) -v -timeout 10m ./integration/receipts ./integration/translog

.PHONY: console
console: ## Play journeys through the console in Chromium (installs nodejs, npm and chromium if it may)
	./.ci/console $(GO) test -count=1 $(TESTFLAGS) -v -timeout 10m ./integration/console
	./.ci/console $(GO) test -count=1 $(TESTFLAGS) -timeout 10m -run TestTruth_EverySurface ./cmd/lethe

.PHONY: console-images
console-images: ## Take the pictures of docs/img anew
	CONSOLE_IMAGES=$(CURDIR)/docs/img ./.ci/console $(GO) test -count=1 $(TESTFLAGS) -v -timeout 10m ./integration/console

.PHONY: readme-pictures
readme-pictures: ## Take the README's pictures of the lethe at LETHE_URL, which asks for no token (lethe demo --serve)
	./.ci/console node integration/console/pictures.mjs docs/img

.PHONY: vault
vault: ## Have a real server seal and unseal keys (OpenBao, from PyPI; installs what it needs if it may)
	./.ci/interop ./.ci/vault

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME each (3s)
	./.ci/fuzz

# RUNS is how many are tried of all kinds together, or of KINDS. SEED chooses them: another one each
# time, which is printed, unless it is given.
RUNS ?= 300
SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
.PHONY: worlds
worlds: ## Try RUNS (300) random worlds, erasures and kills amid them, and say how many a second and how many violations
	RUNS=$(RUNS) SEED=$(SEED) KINDS='$(KINDS)' ./.ci/worlds

# SOME is how many mistakes are made of all; which ones follows from the commit.
some = $(if $(SOME),--some $(SOME))
.PHONY: mutations
mutations: ## Make the mistakes of .ci/mutations.d one by one, or SOME of them: a named test must notice each (minutes)
	./.ci/mutations $(some)

# PLANTED bounds the worlds in which each mistake must be found.
PLANTED ?= 1000
.PHONY: planted
planted: ## Make the mistakes of .ci/planted.d one by one, or SOME of them: PLANTED (1000) random worlds must find each (minutes)
	MUTATIONS=.ci/planted.d LETHE_WORLDS=$(PLANTED) \
	  TEST_FLAGS="-timeout 24h -rapid.nofailfile -rapid.shrinktime=1ms -rapid.seed=$(SEED)" ./.ci/mutations $(some)

# TORTURE is how many times longer than in CI everything random is tried.
TORTURE ?= 20
.PHONY: torture
torture: ## Run properties, kills, real Kafka and fuzzing many times over, with the race detector (hours)
	RAPID_CHECKS=$$((100 * $(TORTURE))) CGO_ENABLED=1 $(GO) test -race -count=1 -timeout 6h $(PACKAGES)
	$(GO) test -count=$(TORTURE) -timeout 6h ./integration/kill ./pipeline/role ./service/... ./deletions/coordinator
	$(MAKE) worlds RUNS=$$((100 * $(TORTURE)))
	$(MAKE) mutations
	./integration/kafka/kafka.sh run $(GO) test -count=1 -timeout 30m ./integration/kafka
	FUZZTIME=$$((10 * $(TORTURE)))s $(MAKE) fuzz

.PHONY: lint
lint: $(LINT) ## Run gofmt, go vet and golangci-lint
	$(LINT) run $(PACKAGES)

$(LINT):
	GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

.PHONY: deadcode
deadcode: $(DEADCODE) ## Fail if a function outside packages made for tests is reached by no command
	./.ci/deadcode

$(DEADCODE):
	GOBIN=$(BIN) $(GO) install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)

.PHONY: alerts-check
alerts-check: $(PROMTOOL) ## Check the Prometheus rules and configuration, and run the tests of the rules
	cd deploy/prometheus && $(PROMTOOL) check rules rules.yml && $(PROMTOOL) check config prometheus.yml && \
	  $(PROMTOOL) test rules rules.test.yml

$(PROMTOOL):
	GO=$(GO) ./.ci/promtool $(PROMTOOL) $(PROMTOOL_VERSION)

.PHONY: quickstarts
quickstarts: ## Run the quick starts of docs word by word (installs what it needs if it may)
	./.ci/interop ./.ci/quickstarts

.PHONY: readme-check
readme-check: ## Run the README's commands and programs word by word, and those of docs/send-your-data.md (PyPI)
	./.ci/interop ./.ci/readme

.PHONY: client-check
client-check: ## Ask a running lethe with a Python client generated from the OpenAPI description (PyPI)
	./.ci/interop ./.ci/client

.PHONY: chart-check
chart-check: ## Render the Helm chart, compare the manifests with it, validate both (builds helm; PyPI)
	./.ci/interop ./.ci/chart

.PHONY: image
image: ## Build the image with buildah, look at what is in it, run its demo (installs buildah if it may)
	./.ci/image

.PHONY: release
release: ## Make archives for Linux and macOS on amd64 and arm64, an SBOM and checksums in dist/
	./.ci/release dist

.PHONY: release-check
release-check: ## Build the release twice, the second time elsewhere with an empty cache: the same bytes (minutes)
	./.ci/release --check

.PHONY: tidy-check
tidy-check: ## Fail if go.mod or go.sum of a module are not tidy
	$(GO) mod tidy -diff
	$(GO) -C lab mod tidy -diff

.PHONY: generate-check
generate-check: ## Fail if the assembly is not what its descriptions give
	$(GO) generate ./trainer/kernels
	git diff --exit-code -- trainer/kernels trainer/trees trainer/logistic lab/networks/loops

.PHONY: portable-check
portable-check: ## Fail if the numeric core has other bits on arm64 (installs qemu-user if it may)
	./.ci/portable

.PHONY: bench
bench: ## Run the benchmarks with allocation counts
	$(GO) test -run '^$$' -bench . -benchmem $(PACKAGES)

.PHONY: bench-partition
bench-partition: ## Measure the partitioner beside METIS, growth and real data
	./lab/benchmarks/partition/compare.sh

.PHONY: demo
demo: ## Run generated data through lethe, one erasure included
	$(GO) run ./cmd/lethe demo

.PHONY: demo-check
demo-check: ## Run the demos on generated and real data and check what they claim
	$(GO) test -count=1 -v -timeout 15m ./integration/demo -full

.PHONY: evaluate-quick
evaluate-quick: ## Make every table of the evaluation in its short form (LETHE_DATA names the data)
	@data="$${LETHE_DATA:-../shared/data}"; out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && \
	{ [ -d "$$data" ] || { echo "evaluate-quick: $$data is not there: the tables name the files that they lack" >&2; \
		data="$$out"; }; } && \
	$(GO) run ./lab/cmd/lethe-lab evaluate all --quick --data "$$data" --out "$$out" && \
	for f in "$$out"/*.md; do echo; cat "$$f"; done

.PHONY: rewrite
rewrite: ## Regenerate the transcripts under testdata after a wanted change
	@for p in $$(grep -rl 'datadriven' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
		$(GO) test $$p -args -rewrite || exit 1; done

.PHONY: ci
ci: ## Run everything that .ci/run runs
	./.ci/run

.PHONY: clean
clean: ## Remove what the targets above made
	rm -rf $(BIN)
