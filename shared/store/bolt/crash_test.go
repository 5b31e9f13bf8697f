package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
)

// The test binary, started again with these, is the process that gets killed:
// it writes transactions into the database, numbered from the second on.
const (
	childDatabase = "BOLT_TEST_DATABASE"
	childFirst    = "BOLT_TEST_FIRST"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childDatabase); path != "" {
		fmt.Fprintln(os.Stderr, writeForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever prints the number of each transaction once it is acknowledged.
func writeForever(path string) error {
	first, err := strconv.Atoi(os.Getenv(childFirst))
	if err != nil {
		return err
	}
	db, err := bolt.Open(path)
	if err != nil {
		return err
	}
	for n := first; ; n++ {
		if err := db.Table("t").Write(context.Background(), numbered(n)...); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// numbered is a transaction of two items, far from each other, and a count of
// the transactions.
func numbered(n int) []store.Op {
	value := make([]byte, n*37%3000)
	return []store.Op{
		store.Put(store.Item{Key: store.Key{Partition: "left", Sort: fmt.Sprintf("%06d", n)}, Value: value}, store.Absent()),
		store.Put(store.Item{Key: store.Key{Partition: "right", Sort: fmt.Sprintf("%06d", n)}, Value: value}, store.Absent()),
		store.Add(store.Key{Partition: "sum", Sort: "sum"}, map[string]int64{"transactions": 1}, time.Time{}),
	}
}

// startWriter starts the child and returns its acknowledgements.
func startWriter(t *testing.T, path string, first int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDatabase+"="+path, childFirst+"="+strconv.Itoa(first))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

func TestKill9LosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var acknowledged []int
	next := 0
	for round := range 6 {
		cmd, acks := startWriter(t, path, next)
		for left := 1 + rand.IntN(80); acks.Scan(); left-- {
			n, err := strconv.Atoi(acks.Text())
			if err != nil {
				t.Fatal(err)
			}
			acknowledged = append(acknowledged, n)
			if left == 0 {
				kill(t, cmd)
			}
		}
		cmd.Wait()

		transactions := readBack(t, path, acknowledged)
		// Each kill can have met one transaction that was written, not yet told.
		if most := len(acknowledged) + round + 1; transactions > most {
			t.Errorf("round %d: %d transactions stored, %d acknowledged", round, transactions, len(acknowledged))
		}
		next = transactions
	}
}

// readBack checks that each transaction is there whole or not at all, and all
// that were acknowledged are. It returns how many there are.
func readBack(t *testing.T, path string, acknowledged []int) int {
	t.Helper()
	db := open(t, path)
	defer db.Close()
	table := db.Table("t")
	left, right := sorts(t, table, "left"), sorts(t, table, "right")
	if fmt.Sprint(left) != fmt.Sprint(right) {
		t.Fatalf("half a transaction is stored:\n%v\n%v", left, right)
	}
	for _, n := range acknowledged {
		if n >= len(left) || left[n] != fmt.Sprintf("%06d", n) {
			t.Fatalf("transaction %d was acknowledged and is not stored", n)
		}
	}
	sum, err := table.Get(t.Context(), store.Key{Partition: "sum", Sort: "sum"})
	if err != nil || sum.Counts["transactions"] != int64(len(left)) {
		t.Fatalf("%v, %v; %d transactions are stored", sum.Counts, err, len(left))
	}
	return len(left)
}

func sorts(t *testing.T, table *bolt.Table, partition string) (keys []string) {
	t.Helper()
	q := store.Query{Partition: partition}
	for {
		page, err := table.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			keys = append(keys, i.Sort)
		}
		if page.Next == "" {
			return keys
		}
		q.After = page.Next
	}
}

func TestASecondProcessIsToldWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	cmd, acks := startWriter(t, path, 0)
	defer cmd.Wait()
	defer kill(t, cmd)
	if !acks.Scan() {
		t.Fatal("the first process did not start")
	}
	for range 2 { // an attempt does not disturb the next
		_, err := bolt.Open(path)
		if !errors.Is(err, bolt.ErrLocked) {
			t.Fatalf("Open = %v, want ErrLocked", err)
		}
		for _, part := range []string{path, "another process", "stop it"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
	if !acks.Scan() {
		t.Error("the first process was disturbed")
	}
}
