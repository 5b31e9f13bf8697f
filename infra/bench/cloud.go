package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
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
// caller.
func (b *bench) units(ctx context.Context, s *stack) error {
	b.section("what a request asks of DynamoDB, once an instance knows its caller (calls; capacity units beside)")
	for _, c := range []struct {
		r         request
		operation string // of which there must be one, and nothing else
	}{
		{requests(s.about, s.token)[1], "GetItem"},
		{requests(s.about, s.token)[4], "GetItem"},
		{requests(s.about, s.token)[7], "Query"},
		{request{"tools/call emails_get", "tools/call", object{"name": "emails_get", "arguments": object{"id": s.about.email}}, s.token}, ""},
		{request{"tools/call emails_list", "tools/call", object{"name": "emails_list", "arguments": object{}}, s.token}, ""},
		{relabel(s.about, s.token, "CRM 2", ""), ""},
	} {
		f, err := b.functionOf(s, c.r.family()).start()
		if err != nil {
			return err
		}
		_, err = invoke(ctx, f, c.r.event())
		s.counter.take()
		if err == nil {
			_, err = invoke(ctx, f, c.r.event())
		}
		f.Close()
		if err != nil {
			return err
		}
		calls := s.counter.take()
		want := bar{}
		if c.operation != "" {
			want = exactly(float64(len(calls)), 1)
			want.met = want.met && calls[0].operation == c.operation
		}
		b.add(c.r.name+": "+operations(calls), one(number, float64(len(calls))), one(number, unitsOf(calls, "data")), figure{}, want)
	}
	return b.confirmationUnits(ctx, s)
}

// confirmationUnits counts what a yes asks of the table of confirmations.
func (b *bench) confirmationUnits(ctx context.Context, s *stack) error {
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
	want := exactly(float64(len(spent)), 1)
	want.met = want.met && spent[0].operation == "PutItem" && spent[0].units == 1
	b.add("confirming: "+operations(spent), one(number, float64(len(spent))), one(number, unitsOf(spent, "confirmations")), figure{}, want)
	b.add("  beside it, what was confirmed: "+operations(others), one(number, float64(len(others))), one(number, unitsOf(others, "data")), figure{}, bar{})
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

func operations(calls []call) string {
	var names []string
	for _, c := range calls {
		if len(names) == 0 || names[len(names)-1] != c.operation {
			names = append(names, c.operation)
		}
	}
	return strings.Join(names, ", ")
}

func unitsOf(calls []call, table string) (sum float64) {
	for _, c := range calls {
		if c.table == table {
			sum += c.units
		}
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
	b.section(fmt.Sprintf("executions of %d identical confirmed calls at once", together))
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
	b.add(fmt.Sprintf("over %d instances of the function", lanes), one(number, n), figure{}, figure{}, exactly(n, 1))

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
	b.add("in one process", one(number, n), figure{}, figure{}, exactly(n, 1))
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
