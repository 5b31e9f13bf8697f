package untrusted

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestHTMLToTextLayout(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"paragraphs", "<p>One <b>two</b>\n three</p><p>four", "One two three\n\nfour"},
		{"blocks and breaks", "a<div>b</div>c<br>d<br><br>e<hr>f", "a\nb\nc\nd\n\ne\n---\nf"},
		{"inline", "foo<b>bar</b> <i>baz</i>", "foobar baz"},
		{"entities", "&lt;b&gt; &amp; &eacute;&nbsp;!", "<b> & é !"},
		{"lists", "<ul><li>a<li>b<ul><li>c</ul></ul><ol><li>x<li><p>y</p><p>z</p></ol>", "- a\n- b\n\n  - c\n\n1. x\n\n2. y\n\n   z"},
		{"lists in lists", "<ol><li>a<ul><li>b</ul><li>c</ol>", "1. a\n\n   - b\n\n2. c"},
		{"a list of empty items", "<ul><li></li><li>a</li></ul>b", "- a\n\nb"},
		{"a table", "<table><tr><th>Name<th>Sum<tr><td>Ann</td>\n<td>42</td></tr></table>after", "Name | Sum\nAnn | 42\nafter"},
		{"a table for layout", "<table><tr><td><p>left</p></td><td></td><td><div>right</div></td></tr></table>", "left\n\nright"},
		{"quotes", "<p>re</p><blockquote>a<br>b<blockquote>c</blockquote></blockquote>", "re\n\n> a\n> b\n\n> > c"},
		{"preformatted", "<pre>a  b\n\n  c</pre>d", "a  b\n\n  c\n\nd"},
		{"headings", "<h1>T</h1>x", "T\n\nx"},
		{"a form", `<form>Name <input value=x><select><option>a<option>b</select><button>Go</button></form>`, "Name Go"},
		{"no HTML", "just text", "just text"},
		{"nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := HTMLToText(test.in); got != test.want {
				t.Errorf("HTMLToText(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestHTMLToTextLinks(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"text", `<a href="https://x.example/a?b=1">here</a>!`, "here (https://x.example/a?b=1)!"},
		{"phishing", `<a href="https://evil.example/">https://bank.example/</a>`, "https://bank.example/ (https://evil.example/)"},
		{"the same", `<a href="https://x.example/">x.example</a>, <a href="HTTPS://x.example">https://x.example/</a>`, "x.example, https://x.example/"},
		{"user", `<a href="https://bank.example@evil.example/">log in</a>`, "log in (https://evil.example/)"},
		{"punycode", `<a href="https://аррӏе.com/x">apple.com</a>`, "apple.com (https://xn--80ak6aa92e.com/x)"},
		{"mail", `<a href="mailto:a@b.example">a@b.example</a> <a href="mailto:c@d.example">write</a>`, "a@b.example write (mailto:c@d.example)"},
		{"other schemes", `<a href="javascript:alert(1)">a</a> <a href="#top">b</a> <a href="data:text/html,x">c</a> <a>d</a>`, "a b c d"},
		{"an image", `<a href="https://x.example/"><img src=y alt=z></a>`, "https://x.example/"},
		{"nothing to click", `a<a href="https://x.example/"></a><a href="https://x.example/">&zwnj;</a>`, "a"},
		{"nobody knows where", `<a href="https://x y.example/">here</a>`, "here (https://x y.example/)"},
		{"long", `<a href="https://x.example/` + strings.Repeat("a", 500) + `">here</a>`, "here (https://x.example/" + strings.Repeat("a", 281) + "…)"},
		{"a block in a link", `<a href="https://x.example/"><div>one</div><div>two</div></a>after`, "one\ntwo (https://x.example/)\nafter"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := HTMLToText(test.in); got != test.want {
				t.Errorf("HTMLToText(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

// hiding are ways to hide the word SECRET and nothing else.
var hiding = map[string]string{
	"script":                      `<script>SECRET</script>`,
	"style":                       `<style>SECRET</style>`,
	"head":                        `<html><head><title>SECRET</title></head><body>`,
	"template":                    `<template>SECRET</template>`,
	"comment":                     `<!-- SECRET -->`,
	"conditional comment":         `<!--[if mso]>SECRET<![endif]-->`,
	"iframe":                      `<iframe>SECRET</iframe>`,
	"object":                      `<object><p>SECRET</p></object>`,
	"hidden":                      `<div hidden>SECRET</div>`,
	"hidden until found":          `<div HIDDEN="until-found">SECRET</div>`,
	"hidden input":                `<input type=hidden value=SECRET>`,
	"closed dialog":               `<dialog>SECRET</dialog>`,
	"display":                     `<div style="display:none">SECRET</div>`,
	"display, important":          `<div style="display : NONE !important; display:block">SECRET</div>`,
	"display, escaped":            `<div style="d\69splay:n\6f ne">SECRET</div>`,
	"display, comments":           `<div style="/*;*/display:/**/none">SECRET</div>`,
	"display, entities":           `<div style="display&#58;none">SECRET</div>`,
	"display behind a url":        `<div style="background:url(data:x;y);display:none">SECRET</div>`,
	"display around much":         `<div style="display:none"><p>SECRET<table><tr><td>SECRET</table></div>`,
	"display of formatting":       `<b style="display:none">SECRET</b>`,
	"reopened formatting":         `<p><font style="display:none">SECRET<p>SECRET</font>`,
	"an end of another element":   `<p hidden><span>SECRET</b>SECRET</font>SECRET</span></p>`,
	"display in svg":              `<svg><text style="display:none">SECRET</text></svg>`,
	"display in noscript":         `<noscript><p style="display:none">SECRET</p></noscript>`,
	"visibility":                  `<p style="visibility:hidden">SECRET</p>`,
	"opacity":                     `<p style="opacity:0.01">SECRET</p>`,
	"font-size":                   `<p style="font-size:0">SECRET</p>`,
	"font-size 1px":               `<p style="font-size:1px">SECRET <b style="font-size:2em">SECRET</b></p>`,
	"font":                        `<p style="font:0/0 a">SECRET</p>`,
	"max-height":                  `<div style="max-height:0px;overflow:hidden">SECRET</div>`,
	"height":                      `<div style="height:0;overflow:hidden">SECRET</div>`,
	"width":                       `<div style="width:1px;overflow-x:hidden">SECRET</div>`,
	"text-indent":                 `<p style="text-indent:-9999px">SECRET</p>`,
	"position":                    `<p style="position:absolute;left:-9999px">SECRET</p>`,
	"position in em":              `<p style="position:fixed;top:-999em">SECRET</p>`,
	"margin":                      `<p style="margin-left:-5000px">SECRET</p>`,
	"clip":                        `<p style="position:absolute;clip:rect(0, 0, 0, 0)">SECRET</p>`,
	"clip-path":                   `<p style="clip-path:inset(100%)">SECRET</p>`,
	"transform":                   `<p style="transform:scale(0)">SECRET</p>`,
	"mso-hide":                    `<p style="mso-hide:all">SECRET</p>`,
	"preheader":                   `<span style="display:none!important;visibility:hidden;mso-hide:all;font-size:1px;color:#fff;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden">SECRET</span>`,
	"white on white":              `<p style="color:#fff">SECRET</p>`,
	"nearly white on white":       `<p style="color:#fefefe">SECRET</p>`,
	"white by name":               `<p style="color:White">SECRET</p>`,
	"white by rgb":                `<p style="color:rgb(255 255 255)">SECRET</p>`,
	"white font":                  `<font color="#FFFFFF">SECRET</font>`,
	"white font without #":        `<font color=ffffff>SECRET</font>`,
	"black on black":              `<table bgcolor=black><tr><td><font color="#000">SECRET</font></td></tr></table>`,
	"colour of the background":    `<p style="background-color:#336699;color:rgb(51,102,153)">SECRET</p>`,
	"background shorthand":        `<p style="background:no-repeat red;color:#f00">SECRET</p>`,
	"through a tint":              `<p style="background:rgba(255,255,255,0.5)"><i style="color:#fff">SECRET</i></p>`,
	"body colours":                `<body bgcolor=navy text=#000080>SECRET`,
	"transparent":                 `<p style="color:transparent">SECRET</p>`,
	"nearly transparent on image": `<p style="background:url(x.png)"><i style="color:rgba(0,0,0,.01)">SECRET</i></p>`,
	"class":                       `<style>.x, .y { display: none }</style><p class="a Y">SECRET</p>`,
	"id":                          `<style>#x{font-size:0}</style><p id=x>SECRET</p>`,
	"class of an element":         `<style>p.x.y{color:#fff}</style><p class="x y">SECRET</p>`,
	"class in a class":            `<style>.a > div .b{opacity:0}</style><div class=a><div><p><i class=b>SECRET</i></p></div></div>`,
	"element":                     `<style>u{display:none}</style><u>SECRET</u>`,
	"style in a comment":          `<style><!-- .x{display:none} --></style><p class=x>SECRET</p>`,
	"style after it":              `<p class=x>SECRET</p><style>.x{display:none}</style>`,
	"media screen":                `<style>@media only screen { .x{display:none} }</style><p class=x>SECRET</p>`,
	"after other at-rules":        `<style>@import "a;b"; @font-face{x:y} @media print{.z{a:b}} .x{display:none}</style><p class=x>SECRET</p>`,
}

// showing are things that look like hiding, around the word PUBLIC.
var showing = map[string]string{
	"white on a colour":        `<table><tr><td style="background:#333;color:#fff">PUBLIC</td></table>`,
	"white on a colour around": `<table bgcolor="#1a73e8"><tr><td><a href="#" style="color:#ffffff">PUBLIC</a></td></tr></table>`,
	"white on an image":        `<table><tr><td background="dark.png"><font color=white>PUBLIC</font></td></table>`,
	"white on a gradient":      `<p style="background:linear-gradient(rgba(0,0,0,.5), #fff);color:#fff">PUBLIC</p>`,
	"black on a tint":          `<p style="background:rgba(0,0,0,0.05)">PUBLIC</p>`,
	"unknown colours":          `<p style="background:var(--x);color:hsl(0 0% 100%)">PUBLIC</p>`,
	"blue link in white text":  `<p style="color:#fff"><a href="https://x.example">PUBLIC</a></p>`,
	"size set anew":            `<table><tr><td style="font-size:0px"><div style="font-size:13px">PUBLIC</div></td></table>`,
	"visible again":            `<p style="visibility:hidden"><i style="visibility:visible">PUBLIC</i></p>`,
	"aria-hidden":              `<p aria-hidden=true>PUBLIC</p>`,
	"for phones":               `<style>@media (max-width:600px){.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"for phones, nested":       `<style>@media screen and (max-width:480px){.x{display:none} td[class="x"]{font-size:0}}</style><p class=x>PUBLIC</p>`,
	"for paper":                `<style>@media print{.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"another class":            `<style>.x.y, p#z, .a .b{display:none}</style><p class="x b" id=z2>PUBLIC</p>`,
	"pseudo-class":             `<style>p:hover, p[x]{display:none}</style><p>PUBLIC</p>`,
	"height of a box":          `<div style="height:1px">PUBLIC</div>`,
	"downlevel-revealed":       `<![if !mso]>PUBLIC<![endif]>`,
	"reopened after a font":    `<p><font color=red>a<p>PUBLIC`,
	"after crossed formatting": `<b hidden><p>x</b>PUBLIC`,
	"after a hidden paragraph": `<p style="display:none">x<p>PUBLIC`,
	"open dialog":              `<dialog open>PUBLIC</dialog>`,
	"no colour":                `<font color="">PUBLIC</font>`,
	"opacity of a half":        `<p style="opacity:.5">PUBLIC</p>`,
}

func TestHTMLHiding(t *testing.T) { judgeHiding(t, hiding, showing) }

// judgeHiding wants SECRET removed, what comes after it kept, and PUBLIC kept.
func judgeHiding(t *testing.T, hidden, shown map[string]string) {
	for name, src := range hidden {
		t.Run(name, func(t *testing.T) {
			src = src + "<p style='color:#000;background:#fff'>end</p>"
			if text := HTMLToText(src); strings.Contains(text, "SECRET") || !strings.HasSuffix(text, "end") {
				t.Errorf("HTMLToText(%q) = %q", src, text)
			}
			if clean := CleanHTML(src); strings.Contains(clean, "SECRET") || !strings.HasSuffix(clean, "<p>end</p>") {
				t.Errorf("CleanHTML(%q) = %q", src, clean)
			}
		})
	}
	for name, src := range shown {
		t.Run("not "+name, func(t *testing.T) {
			if text := HTMLToText(src); !strings.Contains(text, "PUBLIC") {
				t.Errorf("HTMLToText(%q) = %q", src, text)
			}
			if clean := CleanHTML(src); !strings.Contains(clean, "PUBLIC") {
				t.Errorf("CleanHTML(%q) = %q", src, clean)
			}
		})
	}
}

func TestCleanHTML(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"structure", `<html><body class=x><h1 onclick="x()">T</h1><ul><li>a <b style="color:red">b</b></ul></body></html>`, "<h1>T</h1><ul><li>a <b>b</b></li></ul>"},
		{"a table", `<table border=1><tr><td colspan=2 width=9>a`, `<table><tbody><tr><td colspan="2">a</td></tr></tbody></table>`},
		{"links", `<a href="https://u@x.example/?a=1&b=%22" target=_blank>x</a><a href="javascript:x">y</a>`, `<a href="https://x.example/?a=1&amp;b=%22">x</a><a>y</a>`},
		{"images", `<img src="https://x.example/pixel.gif" alt="A &quot;pixel&quot;" onerror=x>`, `<img alt="A &#34;pixel&#34;">`},
		{"forms", `<form action=https://x.example><input name=pw><button>Go</button></form>`, "Go"},
		{"what loads", `<link rel=stylesheet href=x><meta http-equiv=refresh content=0><base href=x><embed src=x><video src=x>v</video>a`, "a"},
		{"text that looks like markup", "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"},
		{"foreign elements", `<svg><script>alert(1)</script><a xlink:href="javascript:x">z</a></svg><math><mi>y</mi></math>`, "y"},
		{"invisible characters", "a\u200bb<b title=x>\u202ec</b><abbr title='d\u00ade'>f</abbr>", `ab<b>c</b><abbr title="de">f</abbr>`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := CleanHTML(test.in); got != test.want {
				t.Errorf("CleanHTML(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	for _, test := range []struct {
		in, want string
		repeats  int // divided by the number of tokens
	}{
		{"<p>a <b>b <i class=x>c</i><br></b></p>", "<p>a <b>b <i class=x>c</i><br></b></p>", 0},
		{"<b><i>a</b>", "<b><i>a</b>", 2},
		{"<b><p><b><p><b><p><b><p><b a>", "<b><p><b><p><b><p><b><p><b a>", 4},
		{"<NOscript><i/>b</noscript><script><b></script>", "<x-NOscript><i/>b</x-noscript><script><b></script>", 1},
		{"<svg><style><u></style></svg>", "<x-svg><style><u></style></x-svg>", 0},
	} {
		got, repeats := prepare(test.in)
		tokens := 1
		for z := html.NewTokenizer(strings.NewReader(test.want)); z.Next() != html.ErrorToken; {
			tokens++
		}
		if string(got) != test.want || repeats != test.repeats*tokens {
			t.Errorf("prepare(%q) = %q, %d, want %q, %d", test.in, got, repeats, test.want, test.repeats*tokens)
		}
	}
}

// TestHTMLBounds feeds what is meant to exhaust time or memory; anything worse
// than linear shows as a test timeout.
func TestHTMLBounds(t *testing.T) {
	rules := ".a .a{color:red}"
	for _, test := range []struct{ name, in, want string }{
		{"elements in elements", strings.Repeat("<div>", 50_000) + "x", unreadable},
		{"formatting elements that are repeated", manyFonts(400) + "</p>" + strings.Repeat("<p>x", 20_000), unreadable},
		{"formatting elements, fewer", manyFonts(10) + "</p>" + strings.Repeat("<p>x", 3_000), ""},
		{"links that are repeated", "<p>" + strings.Repeat("<a href=x>", 10_000) + strings.Repeat("<p>x", 10_000), ""},
		{"rules and elements", "<style>" + strings.Repeat(rules, 10_000) + "</style>" + strings.Repeat("<i class=a></i>", 6_000), unreadable},
		{"much text", strings.Repeat("word ", 200_000), ""},
		{"quotes in quotes", strings.Repeat("<blockquote>x", 500), ""},
		{"lists in lists", strings.Repeat("<ul><li>x", 200), ""},
		{"lines in quotes", strings.Repeat("<blockquote>", 400) + strings.Repeat("x<br>", 40_000), ""},
		{"list items", "<ol>" + strings.Repeat("<li>x", 20_000), ""},
		{"attributes", "<p " + strings.Repeat("a=b ", 50_000) + ">x", "x"},
		{"text put before a table", "<table>" + strings.Repeat("a</x>", 50_000), ""},
		{"unclosed comments in style", "<style>" + strings.Repeat("/*", 50_000) + "</style>x", "x"},
		{"unclosed blocks in style", "<style>" + strings.Repeat("@x{", 50_000) + "</style>x", "x"},
		{"declarations", "<p style='" + strings.Repeat("color:red;", 20_000) + "'>x", "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := HTMLToText(test.in)
			if test.want != "" && got != test.want {
				t.Errorf("HTMLToText = %.200q, want %q", got, test.want)
			}
			if len(got) > 4*maxHTML {
				t.Errorf("%d bytes", len(got))
			}
			CleanHTML(test.in)
		})
	}
}

// manyFonts opens n different formatting elements in a paragraph.
func manyFonts(n int) string {
	var b strings.Builder
	b.WriteString("<p>")
	for i := range n {
		b.WriteString("<font size=" + strings.Repeat("1", i+1) + ">")
	}
	return b.String()
}

func FuzzHTMLToText(f *testing.F) {
	for _, sources := range []map[string]string{hiding, showing, tricks, ordinary} {
		for _, src := range sources {
			f.Add(src)
		}
	}
	f.Add("<p>a<table><tr><td>b<svg><style><b>c</style></svg><select><option>d<textarea></p>" + tags("e"))
	f.Fuzz(func(t *testing.T, src string) {
		text := HTMLToText(src)
		checkVisible(t, text)
		if again := Text(text); again != text {
			t.Errorf("HTMLToText(%q) = %q, not clean text", src, text)
		}
		checkClean(t, CleanHTML(src))
	})
}

// checkClean checks that HTML has nothing but what [CleanHTML] allows.
func checkClean(t *testing.T, src string) {
	t.Helper()
	checkVisible(t, src)
	z := html.NewTokenizer(strings.NewReader(src))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		attrs, ok := allowed[token.Data]
		if token.Type == html.CommentToken || token.Type == html.DoctypeToken || token.Type != html.TextToken && !ok {
			t.Errorf("%v in %q", token, src)
		}
		for _, a := range token.Attr {
			if !slices.Contains(attrs, a.Key) || a.Key == "href" && safeURL(a.Val) == "" {
				t.Errorf("attribute %v in %q", a, src)
			}
		}
	}
}
