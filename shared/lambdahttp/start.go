package lambdahttp

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambda"
)

// GCPercent lets garbage grow to 16 MB before it is collected, where Go's
// default is 4 MB: an instance has hundreds, and collecting is a quarter of what
// a request costs.
const GCPercent = 400

// Start runs h as this process's function, for as long as its instance lives.
func Start(h lambda.Handler) {
	Settle()
	lambda.Start(h)
}

// Settle sets Go's runtime for an instance of a function.
//
// Where an instance answers one request at a time, which is all that Lambda
// does unless told otherwise, Go uses one processor: waking a second one costs
// more than there is for it to do, and most instances have less than one.
func Settle() {
	debug.SetGCPercent(GCPercent)
	if n := os.Getenv("AWS_LAMBDA_MAX_CONCURRENCY"); n == "" || n == "1" {
		runtime.GOMAXPROCS(1)
	}
}
