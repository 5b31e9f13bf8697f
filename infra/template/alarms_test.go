package template_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

const namespace = "KobanaInbox/${AWS::StackName}"

// What each alarm watches, as namespace, metric and whose.
func TestAlarms(t *testing.T) {
	want := map[string][]string{
		"ErrorsAlarm":    {namespace + " Faults "},
		"ThrottlesAlarm": {},
		"ServerErrorsAlarm": {
			"AWS/ApiGateway 5xx ${Api}"},
		"LatencyAlarm": {
			"AWS/ApiGateway Latency ${Api}"},
		"TableThrottlesAlarm": {
			"AWS/DynamoDB ReadThrottleEvents ${DataTable}", "AWS/DynamoDB WriteThrottleEvents ${DataTable}",
			"AWS/DynamoDB WriteThrottleEvents ${ConfirmationsTable}"},
		"ConfirmationUnavailableAlarm": {
			namespace + " " + string(telemetry.ConfirmationUnavailable) + " tools"},
		"MailFailuresAlarm": {
			"AWS/SQS ApproximateNumberOfMessagesVisible ${MailFailures.QueueName}"},
		"JobFailuresAlarm": {
			"AWS/SQS ApproximateNumberOfMessagesVisible ${JobFailures.QueueName}"},
		"JobsWaitAlarm": {
			"AWS/SQS ApproximateAgeOfOldestMessage ${Jobs.QueueName}"},
	}
	for _, f := range functions {
		name := "${AWS::StackName}-" + strings.ToLower(f)
		want["ErrorsAlarm"] = append(want["ErrorsAlarm"], "AWS/Lambda Errors "+name)
		want["ThrottlesAlarm"] = append(want["ThrottlesAlarm"], "AWS/Lambda Throttles "+name)
	}
	got := map[string][]string{}
	for id, alarm := range find(load(t, "AlarmTopicArn=arn:topic"), "AWS::CloudWatch::Alarm") {
		got[id] = watched(alarm)
		if at(alarm, "AlarmActions", 0) != "arn:topic" || at(alarm, "OKActions", 0) != "arn:topic" || at(alarm, "TreatMissingData") != "notBreaching" {
			t.Error(id, alarm)
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
	for id, alarm := range find(load(t), "AWS::CloudWatch::Alarm") {
		if alarm["AlarmActions"] != nil {
			t.Errorf("%s tells nobody, and tries to", id)
		}
	}
}

// watched are the metrics of an alarm.
func watched(alarm object) (metrics []string) {
	each := []any{alarm}
	if alarm["Metrics"] != nil {
		each = list(alarm["Metrics"])
	}
	for _, m := range each {
		if stat := at(m, "MetricStat", "Metric"); stat != nil {
			m = stat
		}
		if at(m, "MetricName") == nil {
			continue // the sum
		}
		of, _ := at(m, "Dimensions", 0, "Value").(string)
		metrics = append(metrics, text(at(m, "Namespace"))+" "+text(at(m, "MetricName"))+" "+of)
	}
	return metrics
}

func TestLatencyAlarm(t *testing.T) {
	alarm := load(t, "LatencyMilliseconds=800")["LatencyAlarm"].Properties
	if at(alarm, "ExtendedStatistic") != "p99" || at(alarm, "Threshold") != "800" {
		t.Error(alarm)
	}
}

// A fault is answered, so that Lambda counts no error: its line in the log does.
func TestLinesOfErrorAreCounted(t *testing.T) {
	got := []string{}
	for id, filter := range find(load(t), "AWS::Logs::MetricFilter") {
		got = append(got, at(filter, "LogGroupName").(string))
		want := []any{object{"MetricNamespace": namespace, "MetricName": "Faults", "MetricValue": "1"}}
		if diff := cmp.Diff(want, filter["MetricTransformations"]); diff != "" || filter["FilterPattern"] != `{ $.level = "ERROR" }` {
			t.Error(id, filter)
		}
	}
	want := []string{}
	for _, f := range functions {
		want = append(want, "${"+f+"Logs}")
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
}

// A new version takes over by degrees, and an alarm takes it back.
func TestDeploymentRollsBack(t *testing.T) {
	resources := load(t)
	groups := find(resources, "AWS::CodeDeploy::DeploymentGroup") // after SAM
	for _, f := range functions {
		alarms := at(resources[f+"Function"].Properties, "DeploymentPreference", "Alarms")
		if group, ok := groups[f+"FunctionDeploymentGroup"]; ok {
			alarms = []any{at(group, "AlarmConfiguration", "Alarms", 0, "Name"), at(group, "AlarmConfiguration", "Alarms", 1, "Name")}
		} else if got := at(resources[f+"Function"].Properties, "DeploymentPreference", "Type"); got != "Canary10Percent5Minutes" {
			t.Errorf("%s: %v", f, got)
		}
		if diff := cmp.Diff([]any{"${ErrorsAlarm}", "${ServerErrorsAlarm}"}, alarms); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
		for _, id := range []string{"ErrorsAlarm", "ServerErrorsAlarm"} {
			if mentions(resources[id].Properties, f+"Function") {
				t.Errorf("%s waits for %s, which waits for it", id, f)
			}
		}
	}
}

// Each is on the dashboard, and in the operator's guide with what to do.
func TestAlarmsAreToBeFound(t *testing.T) {
	guide, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	resources := load(t)
	body := at(resources["Dashboard"].Properties, "DashboardBody").(string)
	for _, id := range slices.Sorted(maps.Keys(find(resources, "AWS::CloudWatch::Alarm"))) {
		if !strings.Contains(body, `"${`+id+`.Arn}"`) {
			t.Errorf("%s is not on the dashboard", id)
		}
		name := strings.TrimPrefix(at(resources[id].Properties, "AlarmName").(string), "${AWS::StackName}-")
		if !strings.Contains(string(guide), "\n| `"+name+"` |") {
			t.Errorf("%s is not in the guide", name)
		}
	}
}

// The dashboard is JSON once its names are put in. It tells how long jobs wait
// in all, and how long those of workspaces that do not have most of them.
func TestDashboard(t *testing.T) {
	body := at(load(t)["Dashboard"].Properties, "DashboardBody").(string)
	var dashboard struct {
		Widgets []struct {
			Properties struct {
				Title   string
				Metrics [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &dashboard, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	var ages []any
	for _, w := range dashboard.Widgets {
		for _, m := range w.Properties.Metrics {
			if name, _ := m[min(1, len(m)-1)].(string); strings.HasPrefix(name, "ApproximateAge") {
				ages = append(ages, append([]any{w.Properties.Title}, m[:len(m)-1]...))
			}
		}
	}
	const title = "Seconds that mail and jobs wait or take"
	want := []any{
		[]any{title, "AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", "${Jobs.QueueName}"},
		[]any{title, ".", "ApproximateAgeOfOldestMessageInQuietGroups", ".", "."},
	}
	if diff := cmp.Diff(want, ages); diff != "" {
		t.Error(diff)
	}
}
