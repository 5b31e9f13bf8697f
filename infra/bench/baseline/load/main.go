// Command load sends requests at a steady rate, whether or not the earlier ones
// were answered, and tells how long they took. Standard input has them, in the
// JSON of vegeta's targets, one a line.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func main() {
	rate := flag.Int("rate", 0, "requests a second; 0: as many as 16 workers can")
	duration := flag.Duration("duration", 5*time.Second, "how long")
	flag.Parse()
	body, err := vegeta.ReadAllTargets(vegeta.NewJSONTargeter(os.Stdin, nil, nil))
	if err != nil {
		log.Fatal(err)
	}
	options := []func(*vegeta.Attacker){vegeta.KeepAlive(true), vegeta.Connections(64)}
	if *rate == 0 {
		options = append(options, vegeta.Workers(16), vegeta.MaxWorkers(16))
	}
	var m vegeta.Metrics
	for r := range vegeta.NewAttacker(options...).Attack(vegeta.NewStaticTargeter(body...), vegeta.Rate{Freq: *rate, Per: time.Second}, *duration, "") {
		m.Add(r)
	}
	m.Close()
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"Requests": m.Requests, "Throughput": m.Throughput, "Success": m.Success,
		"P50": m.Latencies.P50, "P90": m.Latencies.P90, "P99": m.Latencies.P99, "Max": m.Latencies.Max,
	})
}
