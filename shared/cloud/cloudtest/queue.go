package cloudtest

import (
	"crypto/md5"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// QueueURL is what a queue may be called.
const QueueURL = "https://sqs.us-east-1.amazonaws.com/123456789012/jobs"

// Queue is a server of SQS that is running. It takes messages for one queue, and
// keeps them. Unlike SQS it takes none without a group: each of those would count
// as somebody of its own.
type Queue struct {
	*httptest.Server
	url string
	// Refuse, unless nil, says why a message is not taken, by SQS's code. Set it
	// before the server is used.
	Refuse func(Message) string

	mu    sync.Mutex
	all   []Message
	taken int
	calls int
}

// Message is what was sent.
type Message struct {
	Body  string
	Group string // whose message it is, for a fair queue
	Delay time.Duration
}

// NewQueue starts a server that has the queue of that URL. Close ends it.
func NewQueue(url string) *Queue {
	q := &Queue{url: url}
	q.Server = httptest.NewServer(q)
	return q
}

// Calls is how often messages were sent.
func (q *Queue) Calls() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.calls
}

// Take returns the messages that it has not returned before, in the order that
// they came in.
func (q *Queue) Take() []Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	messages := q.all[q.taken:]
	q.taken = len(q.all)
	return messages
}

// ServeHTTP answers SendMessageBatch.
func (q *Queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		QueueUrl string
		Entries  []struct {
			Id, MessageBody, MessageGroupId string
			DelaySeconds                    int
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	switch err := json.UnmarshalRead(r.Body, &in); {
	case err != nil || r.Header.Get("X-Amz-Target") != "AmazonSQS.SendMessageBatch":
		refuse(w, "com.amazonaws.sqs#UnsupportedOperation")
		return
	case in.QueueUrl != q.url:
		refuse(w, "com.amazonaws.sqs#QueueDoesNotExist")
		return
	case len(in.Entries) == 0:
		refuse(w, "com.amazonaws.sqs#EmptyBatchRequest")
		return
	case len(in.Entries) > 10:
		refuse(w, "com.amazonaws.sqs#TooManyEntriesInBatchRequest")
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls++
	type object = map[string]any
	taken, failed, ids := []object{}, []object{}, map[string]bool{}
	for _, e := range in.Entries {
		m := Message{e.MessageBody, e.MessageGroupId, time.Duration(e.DelaySeconds) * time.Second}
		code := ""
		if q.Refuse != nil {
			code = q.Refuse(m)
		}
		if ids[e.Id] || m.Body == "" || m.Delay < 0 || m.Delay > 15*time.Minute || !isGroup(m.Group) {
			code = "InvalidParameterValue"
		}
		ids[e.Id] = true
		if code != "" {
			failed = append(failed, object{"Id": e.Id, "Code": code, "SenderFault": true})
			continue
		}
		q.all = append(q.all, m)
		sum := md5.Sum([]byte(m.Body))
		taken = append(taken, object{"Id": e.Id, "MessageId": "message-" + e.Id, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
	}
	json.MarshalWrite(w, object{"Successful": taken, "Failed": failed})
}

func refuse(w http.ResponseWriter, kind string) {
	w.WriteHeader(http.StatusBadRequest)
	json.MarshalWrite(w, map[string]string{"__type": kind, "message": "refused"})
}

// isGroup reports whether SQS takes that for a message's group.
func isGroup(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}
