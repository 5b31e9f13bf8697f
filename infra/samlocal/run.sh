#!/usr/bin/env bash
# Runs the functions in containers, as `sam local start-api` does, and
# `sam local start-lambda` for the router's calls, on stand-ins for the services
# around them, with the demo's data.
#
#   run.sh           serve at http://127.0.0.1:3000/mcp, until it is interrupted
#   run.sh COMMAND…  run the command once it serves, with SAM_LOCAL_URL and
#                    SAM_LOCAL_TOKEN, and end with its exit code
#
# Needs sam (infra/template/requirements.txt) on the PATH, Go, make, Node.js with
# the modules of infra/dynalite, and a container engine; where none runs it
# starts one, as root, and installs Debian's first. No image is fetched: the
# functions are static, and all they need of one is to be started. The stand-in
# takes the name of Lambda's image for provided.al2023 in that engine.
set -euo pipefail
cd "$(dirname "$0")/../.."
export SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 PYTHONWARNINGS=ignore

folder="$PWD/build/samlocal" api_port="${PORT:-3000}" lambda_port="${LAMBDA_PORT:-3002}"
rm -rf "$folder" && mkdir -p "$folder"

pids=()
stop() {
  trap - EXIT
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null && wait "$pid" || true
  done
  if [ -n "${engine:-}" ]; then
    docker ps -aq | xargs -r docker rm -f >/dev/null || true
    kill "$engine" && wait "$engine" || true
    rm -rf "$folder/engine"
  fi
}
trap stop EXIT
trap 'exit 130' INT TERM

# waits WHAT COMMAND…: until the command succeeds, for a minute at most, and no
# longer than the last job runs
waits() {
  local what="$1" end=$((SECONDS + 60)) job=$!
  shift
  until "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $end ] || ! kill -0 "$job" 2>/dev/null; then
      echo "samlocal: no $what; the logs are in $folder" >&2
      exit 1
    fi
    sleep 0.3
  done
}

# 1. A container engine.
if ! docker info >/dev/null 2>&1; then
  for tool in docker dockerd iptables busybox; do
    command -v $tool >/dev/null || packages=1
  done
  [ -z "${packages:-}" ] || { apt-get update -q && apt-get install -yq --no-install-recommends docker.io iptables busybox-static; } >"$folder/apt.log"
  export DOCKER_HOST="unix://$folder/engine/docker.sock"
  mkdir "$folder/engine"
  dockerd --data-root "$folder/engine/data" --exec-root "$folder/engine/exec" --pidfile "$folder/engine/pid" -H "$DOCKER_HOST" --storage-driver vfs \
    >"$folder/dockerd.log" 2>&1 &
  engine=$!
  waits 'container engine' docker info
fi
host="$(docker network inspect bridge --format '{{(index .IPAM.Config 0).Gateway}}')"

# 2. What is around the functions.
[ -d infra/dynalite/node_modules ] || (cd infra/dynalite && npm ci --silent)
go build -o "$folder/samlocal" ./infra/samlocal
"$folder/samlocal" -host "$host" -folder "$folder" -public-url "http://127.0.0.1:$api_port" -lambda-url "http://$host:$lambda_port" \
  >"$folder/samlocal.log" 2>&1 &
pids+=($!)
waits 'stand-ins' grep -q ready "$folder/samlocal.log"

# 3. The image, which knows where they are. SAM adds Lambda's emulator to it.
case "$(uname -m)" in x86_64) architecture=x86_64 ;; *) architecture=arm64 ;; esac
image="$folder/image"
mkdir -p "$image"/{bin,etc/ssl/certs,tmp,var/runtime,var/task}
cp "$(command -v busybox)" "$image/bin/busybox"
for applet in sh chmod mv; do ln -s busybox "$image/bin/$applet"; done
cp "$folder/ca.pem" "$image/etc/ssl/certs/ca-certificates.crt"
changes=()
while read -r variable; do changes+=(--change "ENV $variable"); done <"$folder/endpoints"
name="public.ecr.aws/lambda/provided:al2023"
docker rmi -f "$name-$architecture" "$name-rapid-$architecture" >/dev/null 2>&1 || true
tar -C "$image" -c . | docker import "${changes[@]}" - "$name-$architecture" >/dev/null

# 4. The functions, and the template as SAM transforms it: beside functions of its
# own, sam local sees no API that is plain CloudFormation.
sam build --build-dir "$folder/built" --parameter-overrides "Architecture=$architecture" >"$folder/build.log" 2>&1
python infra/template/transform.py --code "$folder/built" OAuthIssuers=https://login.example.com "Architecture=$architecture" >"$folder/template.json"

# 5. sam local.
options=(--template "$folder/template.json" --parameter-overrides "Architecture=$architecture" --env-vars "$folder/env-vars.json" \
  --skip-pull-image --warm-containers LAZY)
sam local start-lambda --host "$host" --port "$lambda_port" "${options[@]}" >"$folder/start-lambda.log" 2>&1 &
pids+=($!)
waits 'sam local start-lambda' grep -q 'Running on' "$folder/start-lambda.log"
sam local start-api --port "$api_port" "${options[@]}" >"$folder/start-api.log" 2>&1 &
pids+=($!)
waits 'sam local start-api' grep -q 'Running on' "$folder/start-api.log"

export SAM_LOCAL_URL="http://127.0.0.1:$api_port" SAM_LOCAL_TOKEN
SAM_LOCAL_TOKEN="$(cat "$folder/token")"
if [ $# -gt 0 ]; then
  "$@"
  exit
fi
printf '%s\n' "serving at $SAM_LOCAL_URL/mcp, logs in build/samlocal; a token of the demo's owner:" "$SAM_LOCAL_TOKEN"
sleep infinity &
pids+=($!)
wait $!
