package e2e

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/universokobana/kobana-inbox-mcp/"

// imports is who may have a package in its binary: what is not named here, any
// function may. A name that ends with a slash is all packages below it.
var imports = map[string][]string{
	// The demo and its fixed tokens exist in no function.
	module + "infra/": nil,
	// Of those that clients reach one function writes, and two reach raw messages.
	// None has what only mail needs.
	module + "shared/cloud/writing":                       {"tools"},
	module + "shared/actions":                             {"tools"},
	module + "shared/pipeline":                            {"tools", "ingest", "worker"},
	module + "shared/intake":                              {"tools", "ingest"},
	module + "shared/worker":                              {"worker"},
	module + "shared/reply/":                              {"worker"},
	module + "shared/model/":                              {"worker"},
	module + "shared/cloud/records":                       {"tools", "ingest", "worker"},
	module + "shared/cloud/rawmail":                       {"resources", "tools", "ingest", "worker"},
	module + "shared/store/s3":                            {"resources", "tools", "ingest", "worker"},
	"github.com/aws/aws-sdk-go-v2/service/s3":             {"resources", "tools", "ingest", "worker"},
	"github.com/aws/aws-sdk-go-v2/service/sqs":            {"tools", "ingest", "worker"},
	"github.com/aws/aws-sdk-go-v2/service/sesv2":          {"worker"},
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime": {"worker"},
	// What one machine has, and what tests have.
	module + "shared/store/bolt":  nil,
	module + "shared/store/files": nil,
	"testing":                     nil,
	"net/http/httptest":           nil,
	// What would cost a start its time: the SDK's Lambda where nothing is called by
	// it, its chain of configuration, the RPC mode of runtimes that are gone, the
	// official SDK of the protocol.
	"github.com/aws/aws-sdk-go-v2/service/lambda": {"router"},
	"github.com/aws/aws-sdk-go-v2/config":         nil,
	"net/rpc":                                     nil,
	"github.com/modelcontextprotocol/go-sdk/mcp":  nil,
	// No tracing SDK.
	"go.opentelemetry.io/":            nil,
	"github.com/aws/aws-xray-sdk-go/": nil,
}

func TestImports(t *testing.T) {
	for _, function := range slices.Concat(slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(mailFunctions))) {
		cmd := exec.Command("go", "list", "-deps", "-tags", "lambda.norpc", "../../functions/"+function)
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=linux")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for pkg := range strings.FieldsSeq(string(out)) {
			for name, may := range imports {
				if (pkg == name || strings.HasSuffix(name, "/") && strings.HasPrefix(pkg, name)) && !slices.Contains(may, function) {
					t.Errorf("%s has %s", function, pkg)
				}
			}
		}
	}
}
