package lambdatest

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Service is the part of the Lambda API that invokes functions and waits for
// them. It believes any signature.
//
// What invoke returns for the named function is answered: a [*FunctionError]
// and [ErrThrottled] as Lambda does, another error by dropping the connection.
func Service(invoke func(ctx context.Context, function string, event []byte) ([]byte, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		payload, err := invoke(r.Context(), r.PathValue("name"), event)
		answer(w, payload, err)
	})
	return mux
}

// ErrThrottled stands for a call that Lambda did not begin: TooManyRequestsException.
var ErrThrottled = errors.New("throttled")

func answer(w http.ResponseWriter, payload []byte, err error) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if failed, ok := errors.AsType[*FunctionError](err); ok {
		h.Set("X-Amz-Function-Error", "Unhandled")
		payload, err = failed.Payload, nil
	}
	switch {
	case errors.Is(err, ErrThrottled):
		h.Set("X-Amzn-ErrorType", "TooManyRequestsException")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","Type":"User","Message":"Rate Exceeded."}`)
	case err != nil:
		panic(http.ErrAbortHandler) // which drops the connection
	default:
		w.Write(payload)
	}
}
