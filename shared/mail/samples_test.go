package mail

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sample is what is right for one of the sample messages. Texts are given by
// their beginning; "<nil>" stands for none.
type sample struct {
	subject, from string // from is "address name"
	to            []string
	date          string // RFC 3339, "" for none
	text, html    string
	files         []string
}

// samples holds right values, read from the messages by eye and RFC.
var samples = map[string]sample{
	"attachment_emails/attachment_content_disposition.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z",
		"This is the first part.\n", "<nil>", []string{"api.rb text/x-ruby-script 28"}},
	"attachment_emails/attachment_content_location.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z",
		"This is the first part.\n", "<nil>", []string{"Photo25.jpg image/jpeg 227 inline <qbFGyPQAS8>"}},
	"attachment_emails/attachment_message_rfc822.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z",
		"This is the first part.\n", "<nil>", []string{"ForwardedMessage.eml message/rfc822 3781"}},
	"attachment_emails/attachment_message_rfc822_inline_image.eml": {
		"test", "test@example.com ", []string{"foo@example.com"}, "2020-04-21T13:40:22Z",
		"<nil>", `<html><body><img src="cid:emedfeb92f-a786-4718-a446-98db8afb53fb@kronos" /></body></html>`,
		[]string{"img.png image/png 370 inline <emedfeb92f-a786-4718-a446-98db8afb53fb@kronos>", "Testmail.eml message/rfc822 1851"}},
	"attachment_emails/attachment_nonascii_filename.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z",
		"This is the first part.\n", "<nil>", []string{"ciële.txt text/plain 11"}},
	"attachment_emails/attachment_only_email.eml": {
		"this message JUST contains an attachment", "person1@example.org Ryan Finnie", []string{"person2@example.org"}, "2003-10-24T05:40:49Z",
		"<nil>", "<nil>", []string{"blah.gz application/x-gzip 288"}},
	"attachment_emails/attachment_pdf.eml": {
		"Another PDF with 🎉 Unicode chars in it 🍿", "xxxx@xxxx.com Test Tester", []string{"xxxx@xxxx.com"}, "2005-05-10T17:26:39Z",
		"Just attaching another PDF, here, to see what the message looks like,\nand to see", "<nil>", []string{"broken.pdf application/pdf 1026"}},
	"attachment_emails/attachment_with_base64_encoded_name.eml": {
		"Fwd: Signed email causes file attachments", "person5@example.org xxxxxxxxx xxxxxxx", []string{"xxxxx@xxxxxxxxx.com"}, "2005-05-08T19:09:11Z",
		"We should not include these files or vcards as attachments.\n\n----------", "<nil>", []string{"This is a test.pdf application/pdf 399"}},
	"attachment_emails/attachment_with_encoded_name.eml": {
		"Fwd: Signed email causes file attachments", "person5@example.org xxxxxxxxx xxxxxxx", []string{"xxxxx@xxxxxxxxx.com"}, "2005-05-08T19:09:11Z",
		"We should not include these files or vcards as attachments.\n", "<nil>", []string{"01 Quien Te Dij\ufffdat. Pitbull.mp3 application/octet-stream 399"}},
	"attachment_emails/attachment_with_quoted_filename.eml": {
		"Eelanalüüsi päring", "person3@example.org Jeffrey Hardy", []string{"person3@example.org"}, "2009-05-13T15:42:01Z",
		"<nil>", "<nil>", []string{"Eelanalüüsi päring.jpg image/jpeg 1952 inline"}},
	"attachment_emails/attachment_with_unquoted_name.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z",
		"This is the first part.\n", "<nil>", []string{"This is a test.txt text/plain 11"}},
	"error_emails/bad_date_header.eml": {
		"You may_be Eligible for Legitimate_Cash from_GovAgencies!", "person117@example.org Grants-Notification", []string{"person115@example.org"}, "",
		"<nil>", "", nil},
	"error_emails/bad_date_header2.eml": {
		"40% OFF holiday patterns and fabric!", "person74@example.org Free-Quilting.com", []string{"person75@example.org"}, "",
		"<nil>", "<nil>", nil},
	"error_emails/bad_encoded_subject.eml": {"TEST", " ", nil, "", "TEST\n", "<nil>", nil},
	"error_emails/bad_subject.eml": {
		"MySurvey.com:  You have a survey waiting!  91123105", "person27@example.org MySurvey.com & Carol Adams", []string{"person29@example.org"}, "2010-12-15T17:21:20Z",
		"You have a survey waiting!\n", "<center>\nhello world\n</center>\n", nil},
	"error_emails/content_transfer_encoding_7-bit.eml": {
		"Discover(R) Card News Online - January 2002", "person22@example.org Discover Card", []string{"person20@example.org"}, "2002-01-10T02:47:50Z",
		"DISCOVERÆ CARD <http", "\nDISCOVERÆ CARD <http", nil},
	"error_emails/content_transfer_encoding_qp_with_space.eml": {
		"Low or High Blood Pressure? We can help.", "person82@example.org Wilmer Capps", []string{"person85@example.org"}, "2004-11-07T21:23:56Z",
		"If you're in need of a good RX site for online purchases, we are your answer.\n", "If you're in need of a good RX site for online purchases, we are your answer.<br>\n", nil},
	"error_emails/content_transfer_encoding_spam.eml": {
		"<nil>", "person111@example.org neal ragland", []string{"person109@example.org"}, "2001-08-19T13:31:03Z",
		"middagh  oldusercompare\n", "<nil>", nil},
	"error_emails/content_transfer_encoding_x_uuencode.eml": {
		"PGP Comments on RTO West Release of Dec. 14", "person37@example.org Lon L. Peters", []string{"person36@example.org"}, "2002-01-10T21:59:53Z",
		"Attached are the comments of the Public Generating Pool.\n--\n", "<nil>",
		[]string{"PGP_Cmts_on_12-14-01_Pkg.doc application/msword 0 <p05100307b863befdfb67@[207.202.136.216].0.0>"}},
	"error_emails/empty_group_lists.eml": {
		"Western Union Swift Money Transfer", "person91@example.org Cecil Edwards", nil, "2009-12-03T18:50:22Z",
		"Attention Beneficiary:\n\u00a0\nThis is to officially", `<table cellspacing="0"`, nil},
	"error_emails/encoding_madness.eml": {
		"eBay Bid - 2008 Ford Super Duty F-350 DRW King Ranch Crew Cab 4x4 (156) - Stock# XXXX", "no-reply@crm.el-example.org ", []string{"e-f5f4@app.ar-example.com"}, "2010-09-22T07:30:53Z",
		"Body Text", "<nil>", nil},
	"error_emails/header_fields_with_empty_values.eml": {
		"Testmail", "person122@example.org Jørn Støylen", []string{"person121@example.org"}, "2009-10-30T19:07:42Z",
		"\n\n--\nJørn Støylen -- http", "<nil>", nil},
	"error_emails/invalid_subject_characters.eml": {
		"Formação FrenetikPolis: Mega Campanha Final Verão | Cursos de Setembro", "person70@example.org Formação Frenetikpolis",
		[]string{"person71@example.org", "person72@example.org", "person73@example.org"}, "", "TEST\n", "<nil>", nil},
	"error_emails/missing_body.eml": {"REDACTED", "person105@example.org SCS_2", nil, "2001-11-27T23:02:35Z", "<nil>", "<nil>", nil},
	"error_emails/missing_content_disposition.eml": {
		"Redacted", "redacted@example.com ", []string{"redacted@example.com"}, "2002-01-22T14:35:28Z",
		"<nil>", "<nil>", []string{"somefile.jpg image/jpg 1311"}},
	"error_emails/multiple_content_types.eml": {
		"Redacted", "person30@example.org ", []string{"person31@example.org"}, "", "foo\n", "<p>foo</p>\n", nil},
	"error_emails/multiple_invalid_content_dispositions.eml": {
		"Redacted", "person30@example.org ", []string{"person31@example.org"}, "", "<nil>", "<p>foo</p>\n", nil},
	"error_emails/multiple_references_with_one_invalid.eml": {
		"Redacted", "person30@example.org ", []string{"person31@example.org"}, "", "foo\n", "<p>foo</p>\n", nil},
	"error_emails/new_line_in_to_header.eml": {
		"[Online Lead] Online Lead #1111111", "l@gcn-example.com ",
		[]string{"person79@example.org", "person80@example.org", "sn@example-hotmail.com", "person78@example.org", "person81@example.org", "cc@c-l-example.com"},
		"2010-10-13T14:53:04Z", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "<nil>", nil},
	"error_emails/trademark_character_in_subject.eml": {
		"GA.comô has a lead for you", "j@yahoo-example.com ", []string{"c@ra-example.com", "person106@example.org", "leads@ga-example.com"}, "2010-10-12T16:21:05Z",
		"Body Text - not important", "<nil>", nil},
	"error_emails/weird_to_header.eml": {
		"", "person98@example.org ", []string{"person100@example.org", "person97@example.org"}, "2010-10-15T03:25:06Z", "\nCONTACT:\n", "<nil>", nil},
	"mime_emails/email_with_similar_boundaries.eml": {
		"Xxxxxx", "xxxxxx@xxxxxxxx.xxx Xxxxx", []string{"xxxxxxx@xxxxxxxxxxx.xxx"}, "2012-04-06T01:01:01Z",
		"Test\n", "<!DOCTYPE html", []string{"LOGO.png application/octetstream 3 <LOGO.png>"}},
	"mime_emails/raw_email4.eml": {
		"Filth", "xxx@xxxx.xxx ", []string{"xxx@xxxx.xxx"}, "2005-05-08T17:30:08Z", "Some text\n\n--\nThis Orange Multi Media Message", "<nil>", nil},
	"mime_emails/raw_email7.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z", "This is the first part.\n", "<nil>",
		[]string{"test.rb text/x-ruby-script 25", "test.pdf application/pdf 14 inline", "smime.p7s application/pkcs7-signature 227"}},
	"mime_emails/raw_email11.eml": {
		"worse when you use them.", "xxxxx@xxxxx xxxxx@xxxxx", nil, "2005-04-27T21:15:31Z", "\nXXXXX Xxxxx\n", "<nil>", nil},
	"mime_emails/raw_email_encoded_stack_level_too_deep.eml": {
		"Nicolas Fouché has accepted your invitation to Gmail", "person141@example.org Gmail Team", []string{"person143@example.org"}, "2005-06-28T08:02:11Z",
		"Nicolas Fouché has accepted your invitation to Gmail and has chosen the \nbrand new", "<html>\n<font", nil},
	"mime_emails/raw_email_with_binary_encoded.eml": {
		"Testing outlook", "email_test@me.nowhere Mikel Lindsaar", []string{"mikel@me.nowhere"}, "2007-10-21T09:38:13Z",
		"<nil>", "<nil>", []string{"2013-08-13_19-08-28-1.jpg image/jpeg 24"}},
	"mime_emails/raw_email_with_illegal_boundary.eml": {
		"Testing outlook", "email_test@me.nowhere Mikel Lindsaar", []string{"mikel@me.nowhere"}, "2007-10-21T09:38:13Z",
		"Hello\nThis is an outlook test\n\nSo there.\n\nMe.\n", "<!DOCTYPE HTML", nil},
	"mime_emails/raw_email_with_mimepart_without_content_type.eml": {
		"Warning: could not send message for past 1 day", "person132@example.org Mail Delivery Subsystem", []string{"person131@example.org"}, "2006-10-20T08:28:33Z",
		"    ****", "<nil>", []string{" message/delivery-status 314", " message/rfc822 1504"}},
	"mime_emails/raw_email_with_nested_attachment.eml": {
		"Testing attachments", "person137@example.org Jamis Buck", []string{"person139@example.org"}, "2007-02-22T18:20:31Z",
		"Here is a test of an attachment via email.\n\n- Jamis\n", "<nil>", []string{"truncated.png image/png 1902 inline", "smime.p7s application/pkcs7-signature 939"}},
	"mime_emails/sig_only_email.eml": {
		"Re: Testing multipart/signed", "person144@example.org Test", []string{"person145@example.org"}, "2007-06-04T22:01:31Z",
		"This is random text, not what has been signed below", "<nil>", []string{"signature.asc application/pgp-signature 197"}},
	"multi_charset/japanese.eml": {
		"まみむめも", "person146@example.org Mikel Lindsaar", []string{"person146@example.org"}, "", "かきくえこ\n\n-- \nhttp", "<nil>", nil},
	"multi_charset/japanese_attachment_long_name.eml": {
		strings.Repeat("まみむめも", 10), "person145@example.org Mikel Lindsaar", []string{"person146@example.org"}, "2009-10-30T08:11:02Z",
		"<nil>", "<nil>", []string{strings.Repeat("かきくけこ", 5) + ".txt text/plain 18"}},
	"multi_charset/japanese_iso_2022.eml": {
		"まみむめも", "person146@example.org Mikel Lindsaar", []string{"person146@example.org"}, "", "すみません。\n", "<nil>", nil},
	"multi_charset/japanese_shift_jis.eml": {
		"test", "person147@example.org ", []string{"unknown@example.com"}, "2014-05-28T08:18:19Z", "あいうえお\n\nこのメールはテスト用のメールです。\n", "<nil>", nil},
	"multi_charset/ks_c_5601-1987.eml": {
		"test", "from@example.com ", []string{"unknown@example.com"}, "2014-05-28T08:18:19Z", "스티해\n", "<nil>", nil},
	"plain_emails/mix_caps_content_type.eml": {
		"undef method parameter bug", "person173@example.org Big Bug", []string{"person174@example.org"}, "2010-02-19T07:08:29Z", "foo bar\n", "<nil>", nil},
	"plain_emails/raw_email.eml": {
		"NOTE: 한국말로 하는 것", "person137@example.org Jamis Buck", []string{"person169@example.org"}, "2005-05-02T22:07:05Z",
		"대부분의 마찬가지로, 우리는 하나님을 믿습니다.\n\n제 이름은 Jamis입니다.", "<nil>", nil},
	"plain_emails/raw_email10.eml": {
		"<nil>", "xxx@xxxx.xxx ", []string{"xxxxxxxxxxx@xxxx.xxxx.xxx"}, "2005-05-10T20:27:03Z", "Test test. Hi. Waving. m\n", "<nil>", nil},
	"plain_emails/raw_email_bad_time.eml": {
		"[0]: XXXXXXX XXXXX XXXXX !", "person152@example.org Атиковa", []string{"person153@example.org"}, "3609-06-30T09:33:50Z",
		"\nFilter2: This message has been scanned", "<!DOCTYPE HTML", nil},
	"plain_emails/raw_email_incorrect_header.eml": {
		"Stop adware/spyware once and for all.", "xxx@xxx.xxx xxx xxx", []string{"xxx@xxx.com"}, "2005-02-23T22:20:17Z", "You are infected with: \n", "<nil>", nil},
	"plain_emails/raw_email_multiple_from.eml": {
		"/home/svn/public/minebox revision 214", "person176@example.org ", []string{"person176@example.org", "person178@example.org"}, "2007-10-22T23:45:23Z",
		"<p><b>recordkick</b>", "<nil>", nil},
	"plain_emails/raw_email_quoted_with_0d0a.eml": {
		"testing", "foo@example.com ", []string{"blah@example.com"}, "2005-06-06T20:21:22Z", "A fax has arrived from remote ID ''.\n--------", "<nil>", nil},
	"plain_emails/raw_email_simple.eml": {
		"Testing outlook", "person159@example.org Mikel Lindsaar", []string{"person161@example.org"}, "2007-10-21T09:38:13Z", "Hello Mikel\n", "<nil>", nil},
	"plain_emails/raw_email_string_in_date_field.eml": {
		"NOTE: 한국말로 하는 것", "person155@example.org ", []string{"person157@example.org"}, "2008-09-20T17:04:30Z", "대부분의", "<nil>", nil},
	"plain_emails/raw_email_with_at_display_name.eml": {
		"Testing 123", "person163@example.org Mikel Lindsaar", []string{"person166@example.org", "person146@example.org", "person167@example.org"}, "2008-11-22T04:04:59Z",
		"Plain email.\n\nHope it works well!\n\nMikel\n", "<nil>", nil},
	"plain_emails/raw_email_with_bad_date.eml": {
		"Microsoft Vlsta & Office2007, Just released for 79$ Save 1599.95$ 0ff Retai|", "person170@example.org Darrell Shaw", []string{"sydney@xxxxxxxx.xxx"}, "",
		"hotnewsoft . com\n", "<nil>", nil},
	"plain_emails/raw_email_with_partially_quoted_subject.eml": {
		`Re: Test: "漢字" mid "漢字" tail`, "person137@example.org Jamis Buck", []string{"person137@example.org"}, "2005-05-02T22:07:05Z", "대부분의", "<nil>", nil},
	"rfc6532/utf8_headers.eml": {
		"Säying Hello", "jdöe@mächine.example Jöhn Doe", []string{"märy@exämple.net"}, "", "body\n", "<nil>", nil},
}

// TestCheckDataMailSamples parses real messages that are kept outside of the
// repository, below $CHECK_DATA.
func TestCheckDataMailSamples(t *testing.T) {
	data := os.Getenv("CHECK_DATA")
	if data == "" {
		t.Skip("CHECK_DATA is not set")
	}
	root := filepath.Join(data, "mail", "samples")
	paths, err := filepath.Glob(filepath.Join(root, "*", "*.eml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples in %s: %v", root, err)
	}
	tested := 0
	for _, path := range paths {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m := parse(t, string(raw))
			checkBounds(t, m)
			if want, ok := samples[filepath.ToSlash(name)]; ok {
				want.check(t, m)
				tested++
			}
		})
	}
	if tested != len(samples) {
		t.Errorf("%d of %d samples were found", tested, len(samples))
	}
}

// check compares a message with what is right.
func (want sample) check(t *testing.T, m *Message) {
	t.Helper()
	date := ""
	if m.Date != nil {
		date = m.Date.Format(time.RFC3339)
	}
	got := sample{show(m.Subject), m.From + " " + m.FromName, m.HeaderTo, date, show(m.Text), show(m.HTML), files(m)}
	for _, text := range []struct{ got, want *string }{{&got.text, &want.text}, {&got.html, &want.html}} {
		if *text.want != "" && strings.HasPrefix(*text.got, *text.want) {
			*text.got = *text.want
		}
	}
	want.to = append([]string{}, want.to...)
	want.files = append([]string{}, want.files...)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
