package cloud_test

import (
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
)

// TestTemplate: what a function reads is what the template sets for it; those
// that answer no requests have no use for the settings of all.
func TestTemplate(t *testing.T) {
	for _, name := range everyFunction() {
		read := map[string]bool{"METRICS_NAMESPACE": true, "GOGC": true, "GOMAXPROCS": true} // by Run, and by Go
		env := environment()
		f := cloud.New(func(name string) string {
			if !strings.HasPrefix(name, "AWS_") { // Lambda's own
				read[name] = true
			}
			return env[name]
		}, slog.New(slog.DiscardHandler))
		if err := start(name, f); err != nil {
			t.Fatal(err)
		}
		delete(read, "OPENAI_API_KEY") // for one machine; here it is in a secret
		every, own := templateSets(t, name)
		if _, isEvents := opens[name]; isEvents {
			every = slices.DeleteFunc(every, func(name string) bool { return !read[name] })
		}
		want := slices.Sorted(slices.Values(append(every, own...)))
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(read))); diff != "" {
			t.Errorf("%s: the template sets (-), and the function reads (+):\n%s", name, diff)
		}
	}
}

// templateSets are the names of the variables of every function and of this
// one, but for SETTINGS, which is there to make a new version of the function.
func templateSets(t *testing.T, function string) (every, own []string) {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type environment struct {
		Environment struct {
			Variables map[string]yaml.Node `yaml:"Variables"`
		} `yaml:"Environment"`
	}
	var template struct {
		Globals struct {
			Function environment `yaml:"Function"`
		} `yaml:"Globals"`
		Resources map[string]struct {
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	var e environment
	properties := template.Resources[strings.ToUpper(function[:1])+function[1:]+"Function"].Properties
	if err := properties.Decode(&e); err != nil {
		t.Fatal(err)
	}
	every = slices.Collect(maps.Keys(template.Globals.Function.Environment.Variables))
	every = slices.DeleteFunc(every, func(name string) bool { return name == "SETTINGS" })
	return every, slices.Collect(maps.Keys(e.Environment.Variables))
}
