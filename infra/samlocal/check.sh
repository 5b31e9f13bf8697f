#!/usr/bin/env bash
# Runs the functions in containers and sends them one request of each method and
# era, through `sam local start-api` (run.sh says what that needs).
set -euo pipefail
cd "$(dirname "$0")"
exec ./run.sh go test -count=1 -v -run TestSAMLocal ./infra/samlocal
