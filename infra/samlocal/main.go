// Command samlocal is what the functions need around them while sam local runs
// them in containers (run.sh): DynamoDB (infra/dynalite) with the demo in it,
// Secrets Manager, SQS, and the keys of the demo's issuer. It writes into a
// folder what the containers need to know, and serves until it is stopped.
//
// It listens where containers reach it, over TLS, by a certificate that it makes:
// the functions take keys from nobody else.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
)

// The names that sam local gives to what the functions are told the names of:
// the logical ids of the template.
const (
	dataTable          = "DataTable"
	confirmationsTable = "ConfirmationsTable"
	jobsQueue          = "Jobs"
)

var secretNames = []string{"StateKeyA", "StateKeyB", "DataKeys"}

func main() {
	host := flag.String("host", "172.17.0.1", "address of this machine that containers reach")
	folder := flag.String("folder", "build/samlocal", "where to write what they need to know")
	publicURL := flag.String("public-url", "http://127.0.0.1:3000", "where sam local start-api will listen")
	lambdaURL := flag.String("lambda-url", "http://172.17.0.1:3002", "where sam local start-lambda will")
	flag.Parse()
	if err := run(*host, *folder, *publicURL, *lambdaURL); err != nil {
		log.Fatal("samlocal: ", err)
	}
}

func run(host, folder, publicURL, lambdaURL string) error {
	tables, input, err := startEmulator()
	if err != nil {
		return err
	}
	defer input.Close()
	if err := seed(context.Background(), tables, folder); err != nil {
		return err
	}
	who, err := newIssuer()
	if err != nil {
		return err
	}
	token, err := who.token(demo.Owner.Subject, publicURL+"/mcp")
	if err != nil {
		return err
	}
	certificate, authority, err := newCertificate(host)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return err
	}
	here := "https://" + l.Addr().String()
	if err := write(folder, map[string]string{
		"ca.pem": authority,
		"token":  token,
		// For the image: what template.yaml has no variables for.
		"endpoints": "AWS_ENDPOINT_URL_DYNAMODB=" + here + "\nAWS_ENDPOINT_URL_SECRETS_MANAGER=" + here + "\nAWS_ENDPOINT_URL_SQS=" + here + "\nAWS_ENDPOINT_URL_LAMBDA=" + lambdaURL + "\n",
		// For sam local: what CloudFormation would know.
		"env-vars.json": variables(publicURL, here+keysPath),
	}); err != nil {
		return err
	}
	server := &http.Server{Handler: handler(tables, who), TLSConfig: certificate, ReadHeaderTimeout: 5 * time.Second}
	fmt.Println("ready")
	return server.ServeTLS(l, "", "")
}

// startEmulator starts the emulator of DynamoDB and returns its address, and
// its input, with which it ends: when that is closed, or this process is gone.
func startEmulator() (address string, input io.Closer, err error) {
	cmd := exec.Command("node", "infra/dynalite/server.mjs", "--until-eof")
	cmd.Stderr = os.Stderr
	if input, err = cmd.StdinPipe(); err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, fmt.Errorf("the emulator of DynamoDB ended (npm ci in infra/dynalite?): %w", err)
	}
	return strings.TrimSpace(address), input, nil
}

// seed makes the tables and puts the demo into them.
func seed(ctx context.Context, endpoint, folder string) error {
	client := dynamo.NewClient(dynamo.Options{
		Region: "us-east-1", Endpoint: endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	for _, name := range []string{dataTable, confirmationsTable} {
		if err := dynamo.CreateTable(ctx, client, name); err != nil {
			return err
		}
	}
	blobs, err := files.Open(filepath.Join(folder, "raw"))
	if err != nil {
		return err
	}
	table := dynamo.New(client, dataTable)
	seeder := demo.Seeder{
		Directory: access.NewDirectory(table), Log: slog.New(slog.DiscardHandler), Now: time.Now(),
		DB: inboxstore.New(inboxstore.Options{Table: table, Blobs: blobs, Keys: func(context.Context) ([][]byte, error) {
			return [][]byte{make([]byte, 32)}, nil
		}}),
	}
	return seeder.Seed(ctx)
}

// handler answers as each service that containers call.
func handler(tables string, who *issuer) http.Handler {
	texts := map[string]string{}
	for _, name := range secretNames {
		texts[name] = strings.Repeat(name+"-", 4)
	}
	secrets, queue := cloudtest.NewSecrets(texts), cloudtest.NewQueue(jobsQueue)
	emulator := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: strings.TrimPrefix(tables, "http://")})
	mux := http.NewServeMux()
	mux.Handle("GET "+keysPath, who)
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		service, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		switch service {
		case "secretsmanager":
			secrets.ServeHTTP(w, r)
		case "AmazonSQS":
			queue.ServeHTTP(w, r)
		default:
			emulator.ServeHTTP(w, r)
		}
	})
	return mux
}

func write(folder string, contents map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
