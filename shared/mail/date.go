package mail

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateForm is the date-time of RFC 5322, obsolete forms included, without
// the weekday, and with what senders make of it: dashes, long month names,
// lost seconds and zones. It does not look at what follows, such as comments.
var dateForm = regexp.MustCompile(`(?i)\b(\d{1,2})[ -]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -]+(\d{2,4})[ ,]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:[.]\d+)?(?: *([+-]\d{4}|[a-z]+))?`)

// zones are the hours of the obsolete zones of RFC 5322 4.3. All others are
// without known offset, and count as UTC.
const zones = "EST-5 EDT-4 CST-6 CDT-5 MST-7 MDT-6 PST-8 PDT-7 "

// otherForms are forms of no RFC that are seen in Date fields.
const otherForms = time.RFC3339 + "\n2006-01-02 15:04:05 -0700\n2006-01-02 15:04:05\n" + time.ANSIC + "\n" + time.UnixDate

// parseDate reads a date as senders write it, in UTC. It returns nil when v is
// no date, or not one from the year 1900 (RFC 5322 3.3) to 9999.
func parseDate(v string) *time.Time {
	t, ok := parseMailDate(v)
	for form := range strings.SplitSeq(otherForms, "\n") {
		if u, err := time.Parse(form, v); !ok && err == nil {
			t, ok = u, true
		}
	}
	if t = t.UTC(); !ok || t.Year() < 1900 || t.Year() > 9999 {
		return nil
	}
	return &t
}

// parseMailDate reads v by [dateForm].
func parseMailDate(v string) (t time.Time, ok bool) {
	f := dateForm.FindStringSubmatch(v)
	if f == nil {
		return t, false
	}
	month, err := time.Parse("Jan", f[2])
	if err != nil {
		return t, false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	day, year, hour, minute, second := number(f[1]), number(f[3]), number(f[4]), number(f[5]), number(f[6])
	switch { // RFC 5322 4.3
	case len(f[3]) == 2 && year < 50:
		year += 2000
	case len(f[3]) < 4:
		year += 1900
	}
	t = time.Date(year, month.Month(), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day || hour > 23 || minute > 59 || second > 60 {
		return t, false
	}
	clock := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return t.Add(clock - zoneOffset(f[7])), true
}

// zoneOffset returns how far a zone is ahead of UTC.
func zoneOffset(zone string) time.Duration {
	if n, err := strconv.Atoi(zone); err == nil {
		return time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	}
	_, hours, ok := strings.Cut(zones, strings.ToUpper(zone)+"-")
	if len(zone) != 3 || !ok {
		return 0
	}
	return -time.Duration(hours[0]-'0') * time.Hour
}
