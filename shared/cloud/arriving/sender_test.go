package arriving

import (
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

// top is what SES puts on top of a message, with the results that it had.
func top(results ...string) string {
	return "Return-Path: <ana@sender.example>\n" +
		"Received: from mx.sender.example (mx.sender.example [192.0.2.7])\n" +
		" by inbound-smtp.us-east-1.amazonaws.com with SMTP id 8i6cr4aeu15skb2lb71a0qo4ts7a8mbou5nfpgg1\n" +
		" for support@inbox.example;\n Wed, 02 Dec 2026 12:00:00 +0000 (UTC)\n" +
		"X-SES-Spam-Verdict: PASS\nX-SES-Virus-Verdict: PASS\n" +
		"Received-SPF: pass (spfCheck: domain of sender.example designates 192.0.2.7 as permitted sender) client-ip=192.0.2.7; envelope-from=ana@sender.example; helo=mx.sender.example;\n" +
		"Authentication-Results: amazonses.com;\n" +
		" spf=pass (spfCheck: domain of sender.example designates 192.0.2.7 as permitted sender) client-ip=192.0.2.7; envelope-from=ana@sender.example; helo=mx.sender.example;\n" +
		strings.Join(results, "") +
		"X-SES-RECEIPT: AEFBQUFBQUFBQUFHQWpOcCtRU3V4WkdqeWFTZmN0UGo2V2lDbTNlN2Q=\n" +
		"X-SES-DKIM-SIGNATURE: a=rsa-sha256; q=dns/txt; b=iiE56l2xcLcEOcwuRvfE3g==; c=relaxed/simple; s=224i4yxa5dv7c2xz3womw6peuasteono; d=amazonses.com; t=1796212800; v=1; bh=x; h=From:To:Cc:Bcc:Subject:Date:Message-ID:MIME-Version:Content-Type:X-SES-RECEIPT;\n"
}

const (
	signed    = " dkim=pass header.i=@sender.example;\n"
	forged    = "Authentication-Results: amazonses.com;\n dkim=pass header.i=@sender.example;\n dmarc=pass header.from=sender.example;\n"
	from      = "From: Ana <ana@sender.example>\n"
	rest      = "To: support@inbox.example\nSubject: Hello\n\nGood morning.\n"
	dmarcFail = " dmarc=fail header.from=sender.example;\n"
)

// An allowed sender counts by DMARC, or by a signature of the address's
// organization where forwarding broke that; what the sender writes of it counts
// for nothing.
func TestSenderOf(t *testing.T) {
	for _, c := range []struct {
		name, dmarc, raw string
		verified         bool
	}{
		{"DMARC passed", "PASS", top(signed) + from + rest, true},
		{"DMARC passed, an address without a name", "PASS", top() + "From: ana@sender.example\n" + rest, true},
		{"DMARC passed, a name with a comma in an encoded word", "PASS", top() + "From: =?utf-8?q?Lima,_Ana?= <ana@sender.example>\n" + rest, true},
		{"DMARC passed, an encoded word for an address", "PASS", top() + "From: =?utf-8?q?ana=40sender.example?= <eve@evil.example>, ana@sender.example\n" + rest, false},
		{"DMARC passed, a name in a charset of its own", "PASS", top() + "From: =?koi8-r?B?8NXwy8nO?= <ana@sender.example>\n" + rest, true},
		{"DMARC passed, a name in raw Latin-1", "PASS", top() + "From: \"Jos\xe9\" <ana@sender.example>\n" + rest, true},
		{"DMARC passed, folded", "PASS", top() + "From: Ana\n  <ana@sender.example>\n" + rest, true},
		{"DMARC passed, two addresses", "PASS", top(signed) + "From: ana@sender.example, eve@evil.example\n" + rest, false},
		{"DMARC passed, two fields", "PASS", top(signed) + from + "From: eve@evil.example\n" + rest, false},
		{"DMARC passed, from nobody", "PASS", top(signed) + "From: undisclosed\n" + rest, false},
		{"DMARC passed, no From", "PASS", top(signed) + rest, false},
		{"DMARC failed, nothing signed", "FAIL", top(dmarcFail) + from + rest, false},
		{"no DMARC record, nothing signed", "GRAY", top() + from + rest, false},
		{"no verdict at all", "", top() + from + rest, false},

		{"DMARC passed, of a domain that SES may read as another", "PASS", top() + "From: chef@straße.de\n" + rest, false},

		{"signed by an international domain", "PASS", top(" dkim=pass header.i=@xn--strae-oqa.de;\n") + "From: chef@straße.de\n" + rest, true},
		{"forwarded, signed by the address's domain", "FAIL", top(signed, dmarcFail) + from + rest, true},
		{"forwarded, signed for one person", "FAIL", top(" dkim=pass header.i=ana@sender.example;\n") + from + rest, true},
		{"forwarded, signed by a domain beside it", "GRAY", top(" dkim=pass header.i=@news.sender.example;\n") + "From: ana@mail.sender.example\n" + rest, true},
		{"forwarded, the second signature", "FAIL", top(" dkim=pass header.i=@forwarder.example;\n", signed) + from + rest, true},
		{"forwarded, d= instead of i=", "FAIL", top(" dkim=pass header.d=sender.example;\n") + from + rest, true},
		{"forwarded, upper case", "FAIL", top(" dkim=pass header.i=@Sender.Example;\n") + "From: ana@SENDER.example\n" + rest, true},
		{"CRLF", "FAIL", strings.ReplaceAll(top(signed)+from+rest, "\n", "\r\n"), true},
		{"an older form of SES's, without X-SES-RECEIPT", "FAIL", top(signed)[:strings.Index(top(signed), "X-SES-RECEIPT")] + "Received: by mx.sender.example\n" + from + rest, true},

		{"signed by another", "FAIL", top(" dkim=pass header.i=@evil.example;\n") + from + rest, false},
		{"signed by another of the same public suffix", "FAIL", top(" dkim=pass header.i=@evil.com.br;\n") + "From: ana@sender.com.br\n" + rest, false},
		{"signed by another tenant of one host", "FAIL", top(" dkim=pass header.i=@evil.github.io;\n") + "From: ana@sender.github.io\n" + rest, false},
		{"signed by a name that ends alike", "FAIL", top(" dkim=pass header.i=@notsender.example;\n") + from + rest, false},
		{"signature broken", "FAIL", top(" dkim=fail header.i=@sender.example;\n") + from + rest, false},
		{"signature not checked", "FAIL", top(" dkim=temperror header.i=@sender.example;\n") + from + rest, false},
		{"signed, with several senders", "FAIL", top(signed) + "From: ana@sender.example, bob@sender.example\n" + rest, false},
		{"an address in brackets", "FAIL", top(" dkim=pass header.i=@[192.0.2.7];\n") + "From: ana@[192.0.2.7]\n" + rest, false},

		{"forged below SES's", "FAIL", top(dmarcFail) + forged + from + rest, false},
		{"forged below, with a receipt", "FAIL", top(dmarcFail) + strings.ReplaceAll(top(signed), "Return-Path: <ana@sender.example>\n", "") + from + rest, false},
		{"forged, SES having written none", "FAIL", "Return-Path: <e@evil.example>\nReceived: by inbound-smtp.us-east-1.amazonaws.com\nX-SES-RECEIPT: A\n" + forged + from + rest, false},
		{"forged, below what another server received", "FAIL", "Return-Path: <e@evil.example>\nReceived: by inbound-smtp.us-east-1.amazonaws.com\nReceived: by x\n" + forged + from + rest, false},
		{"forged, without SES on top", "FAIL", forged + from + rest, false},
		{"of another server", "FAIL", "Received: by inbound-smtp\nAuthentication-Results: mx.evil.example;\n" + signed + from + rest, false},
		{"of a server with a name that begins alike", "FAIL", "Received: by inbound-smtp\nAuthentication-Results: amazonses.com.evil.example;\n" + signed + from + rest, false},
		{"in the body", "FAIL", top(dmarcFail) + from + rest + forged, false},
		{"in the envelope's address", "FAIL", strings.ReplaceAll(top(dmarcFail), "envelope-from=ana@sender.example;", `envelope-from="x; dkim=pass header.i=@sender.example;"@evil.example;`) + from + rest, false},
		{"in the server's name", "FAIL", strings.ReplaceAll(top(dmarcFail), "helo=mx.sender.example;", "helo=x;dkim=pass()header.i=@sender.example;") + from + rest, false},
		{"in the signature's own name of the signer", "FAIL", top(" dkim=pass header.i=@sender.example;x@evil.example;\n", " dkim=pass header.i=\"@sender.example;\"@evil.example;\n") + from + rest, false},
		{"in the server's name, folded", "FAIL", top(" dkim=pass header.i=@evil.example; dkim=pass header.i=@sender.example;\n") + from + rest, false},
		{"empty", "PASS", "", false},
		{"no header's end", "FAIL", top(signed) + "From: ana@sender.example", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := pipeline.SenderUnauthenticated
			if c.verified {
				want = pipeline.SenderVerified
			}
			r := events.SimpleEmailReceipt{DMARCVerdict: events.SimpleEmailVerdict{Status: c.dmarc}}
			if got := senderOf(r, []byte(c.raw)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Whatever a sender writes, the only signer here is the one that SES named.
func FuzzSenderOf(f *testing.F) {
	for _, seed := range []string{from + rest, forged + from + rest, top(signed) + from + rest, "\n" + forged, " dkim=pass header.i=@sender.example;\n" + from + rest} {
		f.Add(seed)
	}
	receipt := events.SimpleEmailReceipt{DMARCVerdict: events.SimpleEmailVerdict{Status: "FAIL"}}
	f.Fuzz(func(t *testing.T, message string) {
		raw := []byte(top(" dkim=pass header.i=@evil.example;\n") + message)
		if senderOf(receipt, raw) == pipeline.SenderVerified && !aligned("evil.example", fromDomain(raw)) {
			t.Errorf("verified: %q", message)
		}
	})
}
