package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// together is how many calls say the same yes at once, and lanes how many
// instances of a function they reach.
const (
	together = 64
	lanes    = 4
)

// functionOf is a deployed function on a stack.
func (b *bench) functionOf(s *stack, name string) function {
	return b.function(name, s.env...)
}

// inCloud measures the functions whole, as they are deployed.
func (b *bench) inCloud(ctx context.Context) error {
	s, err := newStack(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.mail, err = b.newMailbox(ctx, s); err != nil {
		return err
	}
	defer s.mail.Close()
	for _, part := range []func(context.Context, *stack) error{b.fullStarts, b.units, b.memory, b.once} {
		if err := part(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// firsts are the requests that functions are started for.
func firsts(s *stack) (list []request) {
	for _, r := range requests(s.about, s.token) {
		switch r.method {
		case "tools/list", "resources/list", "prompts/list", "completion/complete":
			list = append(list, r)
		}
	}
	return append(list, request{"server/discover", "server/discover", nil, s.token})
}

// units counts what operations ask of DynamoDB, on an instance that knows its
// caller, against a single read of an item; and the processor time of all that
// the function does, which the model of capacity is made of.
func (b *bench) units(ctx context.Context, s *stack) error {
	b.section("capacity units and calls of DynamoDB, once an instance knows its caller, against one read or write of an item")
	read, write, err := s.least(ctx)
	if err != nil {
		return err
	}
	empty, err := b.function("empty").start()
	if err != nil {
		return err
	}
	defer empty.Close()
	for _, c := range []struct {
		r         request
		operation string // of which there must be one, of one unit, and nothing else
	}{
		{requests(s.about, s.token)[0], ""},
		{requests(s.about, s.token)[1], "GetItem"},
		{requests(s.about, s.token)[4], "GetItem"},
		{requests(s.about, s.token)[7], "Query"},
		{requests(s.about, s.token)[6], ""},
		{request{"tools/call emails_get", "tools/call", object{"name": "emails_get", "arguments": object{"id": s.about.email}}, s.token}, ""},
		{request{"tools/call emails_list", "tools/call", object{"name": "emails_list", "arguments": object{}}, s.token}, ""},
		{relabel(s.about, s.token, "CRM 2", ""), ""},
	} {
		calls, used, err := b.unitsOf(ctx, s, c.r, empty)
		if err != nil {
			return err
		}
		b.addUnits(c.r.name, calls, read, c.operation)
		b.versus("  processor time of the invocation, against an empty function's", duration, used, 0)
	}
	return b.confirmationUnits(ctx, s, write)
}

// unitsOf returns what a request asks of DynamoDB when it is made for the second
// time, and the processor time of further ones, in turns with an empty function's.
func (b *bench) unitsOf(ctx context.Context, s *stack, r request, empty *lambdatest.Function) (calls []call, used [2][]float64, err error) {
	f, err := b.functionOf(s, r.family()).start()
	if err != nil {
		return nil, used, err
	}
	defer f.Close()
	for range 2 {
		s.counter.take()
		if _, err := invoke(ctx, f, r.event()); err != nil {
			return nil, used, err
		}
	}
	calls = s.counter.take()
	for range 15 {
		for i, f := range []*lambdatest.Function{f, empty} {
			spent, _, err := invokeMany(ctx, f, r.event(), 20)
			if err != nil {
				return nil, used, err
			}
			used[i] = append(used[i], spent)
		}
	}
	return calls, used, nil
}

// least is what one read of a small item takes, and one write.
func (s *stack) least(ctx context.Context) (read, write float64, err error) {
	item := store.Item{Key: store.Key{Partition: "bench", Sort: "least"}, Value: []byte("{}")}
	s.counter.take()
	if err := s.records.Table.Write(ctx, store.Put(item)); err != nil {
		return 0, 0, err
	}
	write = sumUnits(s.counter.take())
	_, err = s.records.Table.Get(ctx, item.Key)
	return sumUnits(s.counter.take()), write, err
}

// addUnits adds a row of calls, which must be one operation of one unit, unless
// that is "".
func (b *bench) addUnits(what string, calls []call, least float64, operation string) {
	units, want := sumUnits(calls), bar{}
	if operation != "" {
		want = exactly(units, 1)
		want.met = want.met && len(calls) == 1 && calls[0].operation == operation
	}
	b.add(what+": "+operations(calls), one(number, units), one(number, least), one(number, units/least), want)
}

// confirmationUnits counts what a yes asks of the table of confirmations.
func (b *bench) confirmationUnits(ctx context.Context, s *stack, least float64) error {
	f, err := b.functionOf(s, "tools").start()
	if err != nil {
		return err
	}
	defer f.Close()
	state, err := ask(ctx, s, f, "CRM 2")
	if err != nil {
		return err
	}
	s.counter.take()
	if _, err := invoke(ctx, f, relabel(s.about, s.token, "CRM 2", state).event()); err != nil {
		return err
	}
	var spent, others []call
	for _, c := range s.counter.take() {
		if c.table == "confirmations" {
			spent = append(spent, c)
		} else {
			others = append(others, c)
		}
	}
	b.addUnits("confirming", spent, least, "PutItem")
	b.addUnits("  beside it, what was confirmed", others, least, "")
	return nil
}

// ask has a function ask for a confirmation.
func ask(ctx context.Context, s *stack, f *lambdatest.Function, label string) (state string, err error) {
	out, err := invoke(ctx, f, relabel(s.about, s.token, label, "").event())
	if err != nil {
		return "", err
	}
	body, err := bodyOf(out)
	if err != nil {
		return "", err
	}
	return stateOf(body)
}

// operations names calls in their order, such as "GetItem ×2, Query".
func operations(calls []call) string {
	var names []string
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n].operation == calls[0].operation {
			n++
		}
		name := calls[0].operation
		if n > 1 {
			name += fmt.Sprint(" ×", n)
		}
		names, calls = append(names, name), calls[n:]
	}
	return cmp.Or(strings.Join(names, ", "), "no call")
}

func sumUnits(calls []call) (sum float64) {
	for _, c := range calls {
		sum += c.units
	}
	return sum
}

// manyRequests and manyMessages are how many events a function has answered
// when its memory is measured.
const (
	manyRequests = 1000
	manyMessages = 200
)

// memory measures what each function but the router has in memory after many
// events.
func (b *bench) memory(ctx context.Context, s *stack) error {
	b.section("memory in use after 1,000 requests, or 200 messages, and processor time of each with all that a function does, against an empty function")
	empty, emptyCPU, err := answerMany(ctx, b.function("empty"), manyRequests, always(request{method: "ping"}))
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		n    int
		next eventual
		most float64 // 0: not judged
	}{
		{"tools", manyRequests, s.mixed("tools", request{"", "tools/call", object{"name": "emails_get", "arguments": object{"id": s.about.email}}, s.token},
			relabel(s.about, s.token, "CRM 2", "")), maxMemory},
		{"resources", manyRequests, s.mixed("resources"), maxMemory},
		{"prompts", manyRequests, s.mixed("prompts"), maxMemory},
		{"completion", manyRequests, s.mixed("completion"), maxMemory},
		{"ingest", manyMessages, s.mail.arrived, 0},
		{"worker", manyMessages, s.mail.jobs, 0},
	} {
		used, cpu, err := answerMany(ctx, b.functionOf(s, f.name), f.n, f.next)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		limit := bar{}
		if f.most > 0 {
			limit = atMost(one(size, used), f.most)
		}
		b.add(f.name, one(size, used), one(size, empty), one(number, used/empty), limit)
		b.add("  processor time", one(duration, cpu), one(duration, emptyCPU), one(number, cpu/emptyCPU), bar{})
	}
	return nil
}

// mixed are the requests of a family and others, in turns.
func (s *stack) mixed(family string, others ...request) eventual {
	var mixed []request
	for _, r := range requests(s.about, s.token) {
		if r.family() == family {
			mixed = append(mixed, r)
		}
	}
	mixed = append(mixed, others...)
	n := -1
	return func(context.Context) ([]byte, error) {
		n++
		return mixed[n%len(mixed)].event(), nil
	}
}

// answerMany hands a function n events, after a first one, and returns the
// memory in use then, and the processor time of one.
func answerMany(ctx context.Context, fn function, n int, next eventual) (used, cpu float64, err error) {
	f, err := fn.start()
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var before float64
	for i := range n + 1 {
		event, err := next(ctx)
		if err == nil {
			_, err = invoke(ctx, f, event)
		}
		if err == nil && i == 0 { // which fetched keys and membership
			before, err = cpuOf(f.PID())
		}
		if err != nil {
			return 0, 0, err
		}
	}
	after, err := cpuOf(f.PID())
	if err != nil {
		return 0, 0, err
	}
	used, err = residentOf(f.PID())
	return used, (after - before) / float64(n), err
}

// once lets identical confirmed calls race, in one process and over several
// instances.
func (b *bench) once(ctx context.Context, s *stack) error {
	b.section(fmt.Sprintf("executions of %d identical confirmed calls at once, against the calls", together))
	var instances []*lambdatest.Function
	for range lanes {
		f, err := b.functionOf(s, "tools").start()
		if err != nil {
			return err
		}
		defer f.Close()
		instances = append(instances, f)
	}
	state, err := ask(ctx, s, instances[0], "CRM 3")
	if err != nil {
		return err
	}
	event := relabel(s.about, s.token, "CRM 3", state).event()
	n, err := race(func(i int) ([]byte, error) { return invoke(ctx, instances[i%lanes], event) })
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("over %d instances of the function", lanes), one(number, n), one(number, together), one(number, n/together), exactly(n, 1))

	w, err := newWorld(ctx, b.dir)
	if err != nil {
		return err
	}
	defer w.Close()
	question, err := w.answer(ctx, relabel(w.subjects, token, "CRM 2", ""))
	if err != nil {
		return err
	}
	if state, err = stateOf(question); err != nil {
		return err
	}
	n, err = race(func(int) ([]byte, error) { return w.answer(ctx, relabel(w.subjects, token, "CRM 2", state)) })
	if err != nil {
		return err
	}
	b.add("in one process", one(number, n), one(number, together), one(number, n/together), exactly(n, 1))
	return nil
}

// race makes the calls at once and counts those that executed. The others must
// be refused as replays.
func race(call func(i int) ([]byte, error)) (executed float64, err error) {
	var mu sync.Mutex
	var calls sync.WaitGroup
	for i := range together {
		calls.Go(func() {
			out, e := call(i)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e != nil:
				err = e
			case strings.Contains(string(out), "confirmation_replayed"):
			case strings.Contains(string(out), "isError"), strings.Contains(string(out), "input_required"):
				err = fmt.Errorf("neither executed nor a replay: %.500s", out)
			default:
				executed++
			}
		})
	}
	calls.Wait()
	return executed, err
}
