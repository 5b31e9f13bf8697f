# Needs Go (see go.mod) and nothing else, but where a target says so.
# `make help` lists the targets.

DATA  ?=
FILE  ?=
INBOX ?=
FUZZTIME ?= 60s

GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
LOCAL = $(GO) run ./infra/local/kobana-inbox

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Run the server at http://127.0.0.1:3000/mcp (PORT, DATA_DIR, CONFIRM_TTL, READ_ONLY, RATE_LIMIT).
	@$(LOCAL)

.PHONY: import
import: ## Put mail into an inbox: FILE=message.eml or a folder, INBOX=id, external_id or address.
	@$(LOCAL) import "$(FILE)" "$(INBOX)"

.PHONY: test
test: ## Run the tests, with the race detector.
	$(GO) test -race ./...

.PHONY: test-dynamodb
test-dynamodb: ## Run the store's suites on an emulator of DynamoDB (needs Node.js 20.15 or newer).
	cd infra/dynalite && npm ci
	DYNAMODB_EMULATOR=1 $(GO) test -race -count=1 ./shared/store/dynamo/... ./shared/confirm ./shared/inboxstore ./shared/intake

.PHONY: check-data
check-data: ## Run the checks that use the handed material: DATA=folder.
	@test -d "$(DATA)/mail/samples" || { echo 'check-data: DATA must name the folder with mail/samples'; exit 2; }
	CHECK_DATA="$(abspath $(DATA))" $(GO) test -count=1 -run 'TestCheckData' ./...

.PHONY: lint
lint: ## Check format, vet, static analysis, module files and the generated reference.
	@test -z "$$(gofmt -l .)" || { echo 'gofmt: these files need formatting:'; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(STATICCHECK) ./...

.PHONY: reference
reference: ## Write docs/reference.md anew from the catalog.
	@mkdir -p build
	$(GO) run ./infra/reference > build/reference.md && mv build/reference.md docs/reference.md

.PHONY: bench
bench: ## Run the benchmarks.
	$(GO) test -run '^$$' -bench . -benchmem ./shared/... ./infra/...

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME each (default 60s).
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
	  done; done
