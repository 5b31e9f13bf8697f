package bolt_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Table { return storetest.Temp(t).Table("t") })
}

func open(t testing.TB, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func key(sort string) store.Key { return store.Key{Partition: "p", Sort: sort} }

func TestItemsAreKeptAcrossRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "store.db")
	db := open(t, path)
	if err := db.Table("t").Write(t.Context(), store.Put(store.Item{Key: key("a"), Value: []byte("kept")})); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path).Table("t").Get(t.Context(), key("a"))
	if err != nil || string(got.Value) != "kept" {
		t.Errorf("Get = %v, %v", got, err)
	}
}

func TestTablesOfAFileAreApart(t *testing.T) {
	db := storetest.Temp(t)
	if err := db.Table("one").Write(t.Context(), store.Put(store.Item{Key: key("a")})); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"two", "on", "one/", ""} {
		if _, err := db.Table(name).Get(t.Context(), key("a")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get in %q = %v", name, err)
		}
	}
}

func TestOnlyTheOwnerMayRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	path := filepath.Join(t.TempDir(), "new", "store.db")
	open(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestAFileThatIsNoDatabaseIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for _, content := range []string{"x", string(make([]byte, 1<<16))} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if db, err := bolt.Open(path); err == nil {
			db.Close()
			t.Errorf("opened a file of %d bytes of something else", len(content))
		}
	}
}

func TestAClosedDBIsUnavailable(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	table := db.Table("t")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, getErr := table.Get(t.Context(), key("a"))
	_, queryErr := table.Query(t.Context(), store.Query{Partition: "p"})
	_, sweepErr := db.Sweep(t.Context(), time.Now())
	writeErr := table.Write(t.Context(), store.Put(store.Item{Key: key("a")}))
	for _, err := range []error{getErr, queryErr, sweepErr, writeErr} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%v, want ErrUnavailable", err)
		}
	}
}

// DynamoDB's numbers have 38 digits and do not overflow so soon.
func TestACountThatOverflowsIsErrLimit(t *testing.T) {
	table := storetest.Temp(t).Table("t")
	add := func(n int64) error {
		return table.Write(t.Context(), store.Add(key("a"), map[string]int64{"n": n}, time.Time{}))
	}
	steps := []struct {
		n    int64
		want error
	}{{math.MaxInt64, nil}, {0, nil}, {1, store.ErrLimit}, {math.MinInt64, nil}, {0, nil}, {math.MinInt64, store.ErrLimit}, {1, nil}}
	for n, step := range steps {
		if err := add(step.n); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", n, err, step.want)
		}
	}
	if got, err := table.Get(t.Context(), key("a")); err != nil || got.Counts["n"] != 0 {
		t.Errorf("Get = %v, %v", got, err)
	}
}

// DynamoDB judges the item that an update makes as well, at 400 KB.
func TestAddCannotMakeAnItemTooLarge(t *testing.T) {
	table := storetest.Temp(t).Table("t")
	item := store.Item{Key: key("a")}
	item.Value = make([]byte, store.MaxItemBytes-item.Size())
	if err := table.Write(t.Context(), store.Put(item)); err != nil {
		t.Fatal(err)
	}
	err := table.Write(t.Context(), store.Add(key("a"), map[string]int64{"n": 1}, time.Time{}))
	if !errors.Is(err, store.ErrLimit) {
		t.Errorf("Add = %v, want ErrLimit", err)
	}
}

func TestAReaderSeesNoHalfOfATransaction(t *testing.T) {
	table := storetest.Temp(t).Table("t")
	both := func(value byte) error {
		return table.Write(t.Context(), store.Put(store.Item{Key: key("a"), Value: []byte{value}}), store.Put(store.Item{Key: key("b"), Value: []byte{value}}))
	}
	if err := both(0); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		var err error
		for n := byte(1); n < 100 && err == nil; n++ {
			err = both(n)
		}
		done <- err
	}()
	for {
		page, err := table.Query(t.Context(), store.Query{Partition: "p"})
		if err != nil || len(page.Items) != 2 || page.Items[0].Value[0] != page.Items[1].Value[0] {
			t.Fatalf("Query = %v, %v", page, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

func TestAWriteThatIsCancelledInABusyDatabaseIsWholeOrNot(t *testing.T) {
	table := storetest.Temp(t).Table("t")
	for round := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		a, b := store.Key{Partition: "p", Sort: string(rune('a' + round))}, store.Key{Partition: "q", Sort: string(rune('a' + round))}
		done := make(chan error)
		go func() { done <- table.Write(ctx, store.Put(store.Item{Key: a}), store.Put(store.Item{Key: b})) }()
		cancel()
		writeErr := <-done
		_, errA := table.Get(t.Context(), a)
		_, errB := table.Get(t.Context(), b)
		if (errA == nil) != (errB == nil) || (writeErr == nil) != (errA == nil) {
			t.Fatalf("Write = %v, then Get = %v and %v", writeErr, errA, errB)
		}
	}
}
