# Needs Go (see go.mod) and nothing else, but where a target says so; with a C
# compiler, the tests run with the race detector.
# `make help` lists the targets.

DATA  ?=
FILE  ?=
INBOX ?=
ARGS  ?= -h
FUZZTIME ?= 60s
ARCH  ?= arm64

GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
BINARY = build/kobana-inbox

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Run the server at http://127.0.0.1:3000/mcp (README.md lists its settings).
	@$(GO) build -o $(BINARY) ./infra/local/kobana-inbox && exec $(BINARY)

.PHONY: import
import: ## Put mail into an inbox: FILE=message.eml or a folder, INBOX=id, external_id or address (of DATA_DIR).
	@$(GO) build -o $(BINARY) ./infra/local/kobana-inbox && $(BINARY) import "$(FILE)" "$(INBOX)"

# Neither make nor a shell reads ARGS: xargs does, quotes as a shell would, and
# takes $ | ; & ( ) and * as they stand.
export ADMIN_ARGS = $(value ARGS)
unexport ARGS
.PHONY: admin
admin: ## Organizations, workspaces and members, on either store: ARGS="…" (ARGS=-h lists the commands).
	@printf '%s\n' "$$ADMIN_ARGS" | xargs $(GO) run ./infra/admin/kobana-admin

.PHONY: build
build: ## Build the functions: build/<name>/bootstrap (ARCH=arm64 or x86_64).
	@for f in $(notdir $(wildcard functions/*)); do \
	  $(MAKE) -s -f infra/template/$(ARCH)/Makefile build-$${f}Function ARTIFACTS_DIR=build/$$f || exit 1; done

.PHONY: test
test: ## Run the tests.
	$(GO) test $(RACE) ./...

.PHONY: test-dynamodb
test-dynamodb: ## Run the store's suites on an emulator of DynamoDB (needs Node.js 20.15 or newer).
	cd infra/dynalite && npm ci
	DYNAMODB_EMULATOR=1 $(GO) test $(RACE) -count=1 ./shared/store/dynamo/... ./shared/confirm ./shared/inboxstore ./shared/intake ./shared/worker ./infra/admin/...

.PHONY: check-data
check-data: ## Run the checks that use the handed material: DATA=folder.
	@test -d "$(DATA)/mail/samples" || { echo 'check-data: DATA must name the folder with mail/samples'; exit 2; }
	CHECK_DATA="$(abspath $(DATA))" $(GO) test -count=1 -run 'TestCheckData' ./...
	CHECK_DATA="$(abspath $(DATA))" $(GO) test -count=1 ./infra/local ./infra/accesstest # every answer judged

.PHONY: e2e
e2e: ## Run the built functions in Lambda's emulator, on DynamoDB's (needs Node.js 20.15 or newer).
	cd infra/dynalite && npm ci
	E2E=1 $(if $(DATA),CHECK_DATA="$(abspath $(DATA))") $(GO) test -count=1 ./infra/e2e

.PHONY: test-edge
test-edge: ## Test the edge's functions as JavaScript (needs Node.js).
	node --test infra/edge/edge.test.mjs

.PHONY: conformance
conformance: ## Run the protocol's own suite against the core (needs Node.js; x64).
	cd infra/conformance && npm ci
	$(GO) run ./infra/conformance

INTEROP_VENV = build/interop-venv
$(INTEROP_VENV)/installed: infra/interop/requirements.txt
	@command -v python3 >/dev/null || { echo 'interop: this needs Python 3.10 or newer: install it first'; exit 2; }
	python3 -m venv $(INTEROP_VENV)
	$(INTEROP_VENV)/bin/pip install --quiet -r infra/interop/requirements.txt
	@touch $@

.PHONY: interop
interop: $(INTEROP_VENV)/installed ## Have the official clients try the product (needs Node.js 20 and Python 3.10, or newer).
	@command -v npm >/dev/null || { echo 'interop: this needs Node.js 20 or newer, with npm: install it first'; exit 2; }
	cd infra/interop && npm ci
	$(GO) test -count=1 -run 'SDK' ./infra/local
	$(GO) run ./infra/interop

.PHONY: run-oidc
run-oidc: ## Run the server beside a local identity provider, to sign in for real (needs Node.js).
	cd infra/oidc && npm ci
	$(GO) build -o $(BINARY) ./infra/local/kobana-inbox
	@node infra/oidc/run.mjs $(BINARY)

.PHONY: test-oidc
test-oidc: ## Sign in as a client does, from nothing but the MCP URL (needs Node.js).
	cd infra/oidc && npm ci
	node --test infra/oidc/oidc.test.mjs

VENV = build/venv
$(VENV)/installed: infra/template/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet -r infra/template/requirements.txt
	@touch $@

.PHONY: validate
validate: $(VENV)/installed ## Check the deployment template: sam, cfn-lint, sam build (needs Python 3).
	PATH="$(abspath $(VENV))/bin:$$PATH" infra/template/validate.sh

.PHONY: sam-local
sam-local: $(VENV)/installed ## Run the functions in containers, by sam local (needs Python 3, Node.js, a container engine).
	cd infra/dynalite && npm ci
	PATH="$(abspath $(VENV))/bin:$$PATH" infra/samlocal/run.sh

.PHONY: test-sam-local
test-sam-local: $(VENV)/installed ## Send each method of both eras through sam local (needs what sam-local does).
	cd infra/dynalite && npm ci
	PATH="$(abspath $(VENV))/bin:$$PATH" infra/samlocal/check.sh

.PHONY: lint
lint: ## Check format, vet, static analysis and module files.
	@test -z "$$(gofmt -l .)" || { echo 'gofmt: these files need formatting:'; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	cd infra/rie/tool && $(GO) mod tidy -diff
	$(STATICCHECK) ./...

.PHONY: reference
reference: ## Write docs/reference.md anew from the catalog.
	@mkdir -p build
	$(GO) run ./infra/reference > build/reference.md && mv build/reference.md docs/reference.md

.PHONY: bench
bench: ## Measure against baselines, in one table; fails where a line is short (needs Linux and Node.js).
	cd infra/dynalite && npm ci
	$(GO) run ./infra/bench

.PHONY: soak
soak: ## Put 100,000 requests to one process, and confirmations to four: minutes (needs Linux, Node.js 20.15 or newer).
	$(GO) run ./infra/soak
	cd infra/dynalite && npm ci
	E2E=1 SOAK=1 $(GO) test -count=1 -v -run '^TestSoak$$' ./infra/e2e

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME each (default 60s).
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
	  done; done
