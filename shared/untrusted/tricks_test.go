package untrusted

import (
	"strings"
	"testing"
)

// tricks are more ways to hide the word SECRET, as [hiding].
var tricks = map[string]string{
	"attribute":                      `<style>[class]{display:none}</style><i class=q>SECRET</i>`,
	"attribute =":                    `<style>[class="c"]{display:none}</style><i class=c>SECRET</i>`,
	"attribute = of an element":      `<style>i[class=c]{display:none}</style><i class=C>SECRET</i>`,
	"attribute ~=":                   `<style>[class~=c]{display:none}</style><i class="b c">SECRET</i>`,
	"attribute ^=":                   `<style>[class^='c']{display:none}</style><i class="cd">SECRET</i>`,
	"attribute of data":              `<style>[data-x]{display:none}</style><i data-x>SECRET</i>`,
	"not":                            `<style>i:not(.v){display:none}</style><i>SECRET</i>`,
	"not hovered":                    `<style>i:not(:hover){display:none}</style><i>SECRET</i>`,
	"nth-child":                      `<style>div p:nth-child(2){display:none}</style><div><p>a</p><p>SECRET</p></div>`,
	"nth-child even":                 `<style>div>:nth-child(2n){display:none}</style><div><p>a</p><p>SECRET</p></div>`,
	"last-of-type":                   `<style>i:last-of-type{display:none}</style><i>a</i><i>SECRET</i>`,
	"unknown pseudo-class":           `<style>i:has(b){display:none}</style><i><b>SECRET</b></i>`,
	"unknown pseudo-class, colour":   `<style>i:lang(pt){color:#fff}</style><i lang=pt>SECRET</i>`,
	"next sibling":                   `<style>.v + i{display:none}</style><b class=v>a</b><i>SECRET</i>`,
	"next of a hidden one":           `<style>.v + i{display:none}</style><b class=v hidden>a</b><i>SECRET</i>`,
	"later sibling":                  `<style>.v~i{display:none}</style><b class=v>a</b><u>b</u><i>SECRET</i>`,
	"checked":                        `<style>:checked ~ i{display:none}</style><input type=checkbox checked><i>SECRET</i>`,
	"is":                             `<style>:is(.b, .c){display:none}</style><i class=c>SECRET</i>`,
	"where":                          `<style>:where(div .c){display:none}</style><div><i class=c>SECRET</i></div>`,
	"nesting":                        `<style>.a{color:red; .c{display:none} }</style><p class=a><i class=c>SECRET</i></p>`,
	"nesting with &":                 `<style>.a{&.c{display:none}}</style><i class="a c">SECRET</i>`,
	"nesting of media":               `<style>.a{@media screen{display:none}}</style><i class="a">SECRET</i>`,
	"escaped class":                  `<style>.sm\:x{display:none}</style><i class="sm:x">SECRET</i>`,
	"brace in a string":              `<style>.a{content:"{"} .x{display:none}</style><i class=x>SECRET</i>`,
	"closing brace in a string":      `<style>.a{content:"}"} .x{content:"}";display:none}</style><i class=x>SECRET</i>`,
	"comment in a string":            `<style>.a{content:"/*"} .x{display:none} .b{content:"*/"}</style><i class=x>SECRET</i>`,
	"many rules before":              `<style>` + strings.Repeat(".q{color:red}", 2000) + `.x{display:none}</style><i class=x>SECRET</i>`,
	"media min-width":                `<style>@media screen and (min-width:1px){.x{display:none}}</style><i class=x>SECRET</i>`,
	"media max-width of all":         `<style>@media (max-width:9999px){.x{display:none}}</style><i class=x>SECRET</i>`,
	"media not print":                `<style>@media not print{.x{display:none}}</style><i class=x>SECRET</i>`,
	"media range":                    `<style>@media (width>=1px){.x{display:none}}</style><i class=x>SECRET</i>`,
	"media unknown":                  `<style>@media (color){.x{display:none}}</style><i class=x>SECRET</i>`,
	"media list":                     `<style>@media print, screen{.x{display:none}}</style><i class=x>SECRET</i>`,
	"media of a style element":       `<style media="screen and (min-width:1px)">.x{display:none}</style><i class=x>SECRET</i>`,
	"supports":                       `<style>@supports (display:grid){.x{display:none}}</style><i class=x>SECRET</i>`,
	"shown again by what may not":    `<style>.x{color:#fff} .x:lang(q){color:#000}</style><i class=x>SECRET</i>`,
	"hsl":                            `<p style="color:hsl(0,0%,100%)">SECRET</p>`,
	"hsl of a colour":                `<p style="background:#ff0000;color:hsl(360deg 100% 50%)">SECRET</p>`,
	"hsla":                           `<p style="color:hsla(0,0%,0%,0)">SECRET</p>`,
	"currentColor":                   `<p style="color:#123;background:currentColor">SECRET</p>`,
	"max-width":                      `<p style="max-width:0;overflow:hidden">SECRET</p>`,
	"font-size of a product of zero": `<p style="font-size:calc(16px * 0)">SECRET</p>`,
	"font-size of zero":              `<p style="font-size:calc(0px)">SECRET</p>`,
	"font-size of nothing left":      `<p style="font-size:calc(1px - 1px)">SECRET</p>`,
	"opacity in percent":             `<p style="opacity:1%">SECRET</p>`,
	"scale":                          `<p style="scale:0">SECRET</p>`,
	"zoom":                           `<p style="zoom:0">SECRET</p>`,
	"translate":                      `<p style="translate:-999px 0">SECRET</p>`,
	"transform translate":            `<p style="transform:translateX(-100vw)">SECRET</p>`,
	"inset":                          `<p style="position:fixed;inset:0 0 0 -9999px">SECRET</p>`,
	"matrix":                         `<p style="transform:matrix(0,0,0,0,0,0)">SECRET</p>`,
	"matrix far off":                 `<p style="transform:matrix(1,0,0,1,-9999,0)">SECRET</p>`,
	"rotateX":                        `<p style="transform:rotateX(90deg)">SECRET</p>`,
	"rotateY":                        `<p style="transform:rotateY(.25turn)">SECRET</p>`,
	"rotate":                         `<p style="rotate:x 90deg">SECRET</p>`,
	"letter-spacing":                 `<p style="letter-spacing:-1em">SECRET</p>`,
	"line-height":                    `<p style="line-height:0">SECRET</p>`,
	"cell of no size":                `<table><tr><td width=0 height=0>SECRET</td></tr></table>`,
	"popover":                        `<div popover>SECRET</div>`,
	"closed details":                 `<details><summary>a</summary>SECRET<p>SECRET</p></details>`,
	"noscript element":               `<noscript>SECRET</noscript>`,
	"options":                        `<select><option>SECRET</option></select>`,
	"svg":                            `<svg><text>SECRET</text></svg>`,
	"shadow root":                    `<div><template shadowrootmode=open>SECRET</template></div>`,
	"linked sheet":                   `<link rel=stylesheet href="data:text/css,SECRET">`,
	"alt of a pixel":                 `<img width=1 height=1 alt=SECRET>`,
	"alt of a pixel by style":        `<img style="width:1px;height:1px" alt=SECRET>`,
}

// ordinary are things of everyday mail around the word PUBLIC, as [showing].
var ordinary = map[string]string{
	"telephones, attribute":         `<style>@media only screen and (max-width:600px){td[class="x"]{display:none!important}}</style><table><tr><td class=x>PUBLIC</table>`,
	"telephones, device":            `<style>@media screen and (max-device-width:480px){.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"telephones, range":             `<style>@media (width<=600px){.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"telephones, two widths":        `<style>@media only screen and (min-width:320px) and (max-width:480px){.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"telephones and others":         `<style>@media (max-width:600px), print{.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"telephones, by style element":  `<style media="(max-width:600px)">.x{display:none}</style><p class=x>PUBLIC</p>`,
	"dark mode":                     `<style>@media (prefers-color-scheme:dark){.x{color:#fff!important}}</style><p class=x>PUBLIC</p>`,
	"dark mode of Outlook":          `<style>[data-ogsc] .x{color:#fff}</style><p class=x>PUBLIC</p>`,
	"a client's own pseudo-classes": `<style>u + #body .x, _:-webkit-full-screen .x{display:none}</style><body id=body><p class=x>PUBLIC</p>`,
	"zebra":                         `<style>td{color:#333} tr:nth-child(even){background:#eee} tr:first-child{background:#060;color:#fff}</style><table><tr><td>a<tr><td>PUBLIC</table>`,
	"another attribute":             `<style>a[x-apple-data-detectors]{font-size:0} [class="xy"]{display:none}</style><p class=x>PUBLIC</p>`,
	"not":                           `<style>p:not(.x){display:none}</style><p class=x>PUBLIC</p>`,
	"hover and pseudo-elements":     `<style>p:hover, p::before, p:after{display:none}</style><p>PUBLIC</p>`,
	"nth-child of another":          `<style>i:nth-child(2){display:none}</style><div><i>PUBLIC</i></div>`,
	"next of another":               `<style>.v + i{display:none}</style><b class=v>a</b><u>b</u><i>PUBLIC</i>`,
	"nested elsewhere":              `<style>.a{.x{display:none}}</style><p class=x>PUBLIC</p>`,
	"animations":                    `<style>@keyframes f{from{opacity:0}to{opacity:1}}</style><p>PUBLIC</p>`,
	"hsl on white":                  `<p style="color:hsl(210, 50%, 30%)">PUBLIC</p>`,
	"white by hsl on blue":          `<p style="background:hsl(220 90% 40%);color:hsl(0 0% 100%)">PUBLIC</p>`,
	"other colour functions":        `<p style="color:oklch(50% .1 20)">PUBLIC</p>`,
	"a width that is computed":      `<p style="width:calc(100% - 10px);font-size:calc(10px + 1vw);max-width:min(100%,600px);overflow:hidden">PUBLIC</p>`,
	"centred by a transform":        `<p style="position:absolute;left:50%;transform:translate(-50%,-50%) scale(1.02) rotate(90deg)">PUBLIC</p>`,
	"line-height set anew":          `<div style="line-height:0"><p style="line-height:1.5">PUBLIC</p></div>`,
	"superscript":                   `<p>a<sup style="line-height:0">PUBLIC</sup></p>`,
	"letters closer":                `<h1 style="letter-spacing:-0.03em">PUBLIC</h1>`,
	"open details":                  `<details open><summary>a</summary>PUBLIC</details>`,
	"summary":                       `<details><summary>PUBLIC</summary>a</details>`,
	"a cell of full width":          `<table width="100%" height=0><tr><td width=100% height=0>PUBLIC</table>`,
	"size set anew in a narrow box": `<style>@supports (a:b){td{padding:0}}</style><table><tr><td style="font-size:0"><p style="font-size:12px">PUBLIC</table>`,
}

func TestHTMLTricks(t *testing.T) {
	for name, src := range tricks {
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
	for name, src := range ordinary {
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
