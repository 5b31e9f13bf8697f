package inboxstore

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// This file makes every key. What belongs to a workspace is only reached
// through its space, so that no argument of a caller can lead into another
// workspace. Partitions that begin with "member#" and "org#" are access's.

// space is the part of the table that belongs to one workspace.
type space access.WorkspaceID

func (s space) partition(parts ...string) string {
	return "w#" + join(append([]string{string(s)}, parts...)...)
}

// records is the partition of a family's primary items, by id. Records of a
// family with a scope, such as the webhook of deliveries, are apart by it.
func (s space) records(f inbox.Family, scope string) string {
	if scope == "" {
		return s.partition(string(f))
	}
	return s.partition(string(f), scope)
}

// listed is the partition of copies of those records that have value in the
// named index, by id.
func (s space) listed(f inbox.Family, scope, index, value string) string {
	return s.records(f, scope) + "#" + join(index, value)
}

// deleted keeps a record that was deleted.
func (s space) deleted(f inbox.Family, id inbox.ID) store.Key {
	return store.Key{Partition: s.partition("deleted", string(f)), Sort: string(id)}
}

// name is where a name that is unique within the workspace points to its
// record.
func (s space) name(f inbox.Family, field, value string) store.Key {
	return store.Key{Partition: s.partition("name", string(f), field), Sort: part(value)}
}

func (s space) content(email inbox.ID) store.Key {
	return store.Key{Partition: s.partition("content"), Sort: part(string(email))}
}

func (s space) confidential(of inbox.ID) store.Key {
	return store.Key{Partition: s.partition("confidential"), Sort: part(string(of))}
}

func (s space) claim(work string) store.Key {
	return store.Key{Partition: s.partition("claims"), Sort: part(work)}
}

// told is the partition of the deliveries that say something of an e-mail.
func (s space) told(email inbox.ID) string { return s.partition("told", string(email)) }

func (s space) toldBy(d inbox.Delivery, email inbox.ID) store.Key {
	return store.Key{Partition: s.told(email), Sort: join(string(d.WebhookID), string(d.ID))}
}

// turns is where the changes of what a workspace has are counted.
func (s space) turns() store.Key { return store.Key{Partition: s.partition("turns"), Sort: "turn"} }

// usage is the partition of the daily counters; their sort keys are the day,
// the model and a part.
func (s space) usage() string { return s.partition("usage") }

// usageOf is one part of a counter: it has some, so that those who count at once
// seldom meet.
func (s space) usageOf(day time.Time, model string, part int) store.Key {
	return store.Key{Partition: s.usage(), Sort: join(day.Format(time.DateOnly), model, strconv.Itoa(part))}
}

// usageModel is the day and the model of a sort key of the usage partition.
func usageModel(sort string) (day, model string) {
	day, model, _ = strings.Cut(sort, "#")
	model, _, _ = strings.Cut(model, "#")
	if m, err := url.PathUnescape(model); err == nil {
		model = m
	}
	return day, model
}

// rawKey is the key of the blob that holds an e-mail's raw message.
func (s space) rawKey(email inbox.ID) string { return string(s) + "/" + string(email) + ".eml" }

// address is where the address of an inbox, unique among all workspaces,
// points to its inbox.
func address(a string) store.Key {
	return store.Key{Partition: "address#" + part(inbox.NormalAddress(a)), Sort: "inbox"}
}

// workspaceName is where the external id of a workspace points to it.
func workspaceName(externalID string) store.Key {
	return store.Key{Partition: "workspace#" + part(externalID), Sort: "external_id"}
}

// allWorkspaces is the partition of the ids of all workspaces.
const allWorkspaces = "workspaces"

// allErasures is the partition of the e-mails, of all workspaces, whose erasure
// is not finished.
const allErasures = "erasures"

func (s space) erasure(email inbox.ID) store.Key {
	return store.Key{Partition: allErasures, Sort: join(string(s), string(email))}
}

func workspaceEntry(id access.WorkspaceID) store.Key {
	return store.Key{Partition: allWorkspaces, Sort: string(id)}
}

func (id JobID) key() store.Key { return store.Key{Partition: "job#" + part(string(id)), Sort: "job"} }

// shards is how many partitions the list of what is due is spread over, as a
// partition takes so many writes a second only.
const shards = 8

// How times are written so that their texts are in order.
const (
	dueTime = "2006-01-02T15:04:05.000Z"
	dueHour = "2006-01-02T15"
)

// due is where a job is found when its time has come: by the hour, and in each
// by the workspace, so that a flood of one workspace can be passed over.
func (j Job) due() store.Key {
	h := fnv.New32a()
	h.Write([]byte(j.ID))
	at := j.Due.UTC()
	return store.Key{Partition: dueShard(int(h.Sum32() % shards)), Sort: join(at.Format(dueHour), string(j.Workspace), at.Format(dueTime), string(j.ID))}
}

// dueOf is what is found there.
func dueOf(i store.Item) DueJob {
	_, rest, _ := strings.Cut(i.Sort, "#")
	ws, rest, _ := strings.Cut(rest, "#")
	at, _, _ := strings.Cut(rest, "#")
	return DueJob{ID: JobID(i.Value), Workspace: access.WorkspaceID(ws), key: i.Key, due: at}
}

// dueAfter is past all that is due in the hour of now.
func dueAfter(now time.Time) string { return now.Format(dueHour) + "$" } // which comes after '#'

// duePast is past all that is due in the hour, and for the workspace, of that
// sort key.
func duePast(sort string) string {
	hour, rest, _ := strings.Cut(sort, "#")
	ws, _, _ := strings.Cut(rest, "#")
	return hour + "#" + ws + "$"
}

func dueShard(n int) string { return "due#" + strconv.Itoa(n) }

// join makes one key of parts such that different parts make different keys.
func join(parts ...string) string {
	for i := range parts {
		parts[i] = part(parts[i])
	}
	return strings.Join(parts, "#")
}

const maxPart = 300 // bytes; six of them stay within store.MaxPartitionBytes

// part writes s without '#' and in ASCII; a long one by its digest. Nothing
// else begins with "%%".
func part(s string) string {
	p := url.PathEscape(s)
	if len(p) <= maxPart {
		return p
	}
	sum := sha256.Sum256([]byte(s))
	return "%%" + hex.EncodeToString(sum[:])
}
