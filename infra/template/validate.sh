#!/usr/bin/env bash
# Checks the deployment without an AWS account: the templates by the rules of SAM
# and CloudFormation, what `sam build` makes for either processor, and the Go tests
# on the template as SAM transforms it. Needs sam and cfn-lint (requirements.txt)
# on the PATH, Go and make.
set -euo pipefail
cd "$(dirname "$0")/../.."
export SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION="${AWS_DEFAULT_REGION:-us-east-1}"

for template in template.yaml infra/template/edge.yaml; do
  sam validate --lint --template "$template"
done
cfn-lint --regions us-east-1 sa-east-1 -- template.yaml
cfn-lint --regions us-east-1 -- infra/template/edge.yaml # where Lambda@Edge functions are

mkdir -p build
python infra/template/transform.py OAuthIssuers=https://login.example.com >build/template.json
TEMPLATE="$PWD/build/template.json" go test -count=1 ./infra/template

for architecture in arm64 x86_64; do
  sam build --build-dir "build/sam-$architecture" --parameter-overrides "Architecture=$architecture"
  BUILT="$PWD/build/sam-$architecture" go test -count=1 -run 'TestBuilt' ./infra/template
done
