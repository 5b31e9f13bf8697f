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

// TestTemplate: what a function reads is what the template sets for it.
func TestTemplate(t *testing.T) {
	for name, start := range starts {
		read := map[string]bool{"METRICS_NAMESPACE": true} // by Run
		env := environment()
		f := cloud.New(func(name string) string {
			if !strings.HasPrefix(name, "AWS_") { // Lambda's own
				read[name] = true
			}
			return env[name]
		}, slog.New(slog.DiscardHandler))
		if _, err := start(f); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(templateSets(t, name), slices.Sorted(maps.Keys(read))); diff != "" {
			t.Errorf("%s: the template sets (-), and the function reads (+):\n%s", name, diff)
		}
	}
}

// templateSets are the names of a function's variables, but for SETTINGS, which
// is there to make a new version of the function.
func templateSets(t *testing.T, function string) (names []string) {
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
	var own environment
	properties := template.Resources[strings.ToUpper(function[:1])+function[1:]+"Function"].Properties
	if err := properties.Decode(&own); err != nil {
		t.Fatal(err)
	}
	for _, e := range []environment{template.Globals.Function, own} {
		names = slices.AppendSeq(names, maps.Keys(e.Environment.Variables))
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "SETTINGS" })
}
