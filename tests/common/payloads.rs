//! Texts that want to be more than text wherever somebody forgot to escape them. Each, if it runs, sets `window.ran`.

#![allow(dead_code, reason = "each test binary uses a part")]

/// One of each way that we know from text into markup, attributes, scripts, styles, addresses and terminals.
pub const PAYLOADS: [&str; 73] = [
    // Elements.
    "<script>ran=1</script>",
    "</script><script>ran=1</script>",
    "<SCRIPT>ran=1</SCRIPT>",
    "<script src=data:text/javascript,ran=1></script>",
    "<script>ran=1//",
    "<scr<script>ipt>ran=1</scr</script>ipt>",
    "<img src=x onerror=ran=1>",
    "<img src=x onerror='ran=1'>",
    "<img/src=x/onerror=ran=1>",
    "<IMG SRC=x OnErRoR=ran=1>",
    "<img src=`x`onerror=ran=1>",
    "<img\nsrc=x\nonerror=ran=1\n>",
    "<img src=x onerror=&#114;&#97;&#110;&#61;&#49;>",
    "<<img src=x onerror=ran=1>>",
    "<img src=x onerror=ran=1 ",
    "<svg onload=ran=1>",
    "<svg/onload=ran=1>",
    "<svg><script>ran=1</script></svg>",
    "<svg><animate onbegin=ran=1 attributeName=x dur=1s>",
    "<svg><style><img src=x onerror=ran=1></style></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=ran=1></style>",
    "<math href=\"javascript:ran=1\">x</math>",
    "<body onload=ran=1>",
    "<html onmouseover=ran=1>",
    "<iframe src=\"javascript:ran=1\"></iframe>",
    "<iframe srcdoc=\"<script>parent.ran=1</script>\"></iframe>",
    "<object data=\"javascript:ran=1\"></object>",
    "<embed src=\"data:image/svg+xml,<svg onload=ran=1>\">",
    "<video><source onerror=ran=1></video>",
    "<audio src=x onerror=ran=1></audio>",
    "<details open ontoggle=ran=1>",
    "<input autofocus onfocus=ran=1>",
    "<select autofocus onfocus=ran=1>",
    "<marquee onstart=ran=1>",
    "<a href=\"javascript:ran=1\" autofocus onfocus=ran=1>x</a>",
    "<form action=\"javascript:ran=1\"><input type=submit autofocus></form>",
    "<meta http-equiv=refresh content=\"0;url=javascript:ran=1\">",
    "<base href=\"javascript:ran=1//\">",
    "<link rel=stylesheet href=\"data:text/css,*{display:none}\">",
    "<style>*{display:none}</style>",
    "<template><img src=x onerror=ran=1></template>",
    "<noscript><p title=\"</noscript><img src=x onerror=ran=1>\">",
    "<dialog open>x</dialog>",
    // Ends of what may stand around them.
    "\"><img src=x onerror=ran=1>",
    "'><img src=x onerror=ran=1>",
    "\" onmouseover=\"ran=1\" autofocus onfocus=\"ran=1",
    "' onmouseover='ran=1' autofocus onfocus='ran=1",
    " onmouseover=ran=1 autofocus onfocus=ran=1 x=",
    "` onfocus=ran=1 autofocus x=`",
    "--><img src=x onerror=ran=1><!--",
    "--!><img src=x onerror=ran=1>",
    "<!--><img src=x onerror=ran=1>-->",
    "<![CDATA[><img src=x onerror=ran=1>]]>",
    "]]><img src=x onerror=ran=1>",
    "</title><img src=x onerror=ran=1>",
    "</textarea><img src=x onerror=ran=1>",
    "</style><img src=x onerror=ran=1>",
    "</td></tr></table><img src=x onerror=ran=1>",
    "</option></select><img src=x onerror=ran=1>",
    "</template><img src=x onerror=ran=1>",
    "</svg><img src=x onerror=ran=1>",
    // Scripts, data and styles.
    "\";ran=1;//",
    "';ran=1;//",
    "\\\";ran=1;//",
    "${ran=1}",
    "{{constructor.constructor('ran=1')()}}",
    "\u{2028}ran=1\u{2029}//",
    "<!--<script>",
    "</script><img src=x onerror=alert(1)>\"'`<!--<script>\u{2028}${alert(2)}",
    "red;background:url(javascript:ran=1)",
    "__proto__",
    // What is said to be text already, and what turns text around.
    "&lt;img src=x onerror=ran=1&gt;&#x3c;b&#x3e;&amp;lt;",
    "\u{202e}\u{2066}gpj.exe\u{1b}[2J\u{0}\u{7}\u{feff}",
];

/// What is wrong with a page of a browser into which they came: nothing, or the elements they made, or that one ran.
pub const HARM: &str = "(() => { const found = [...document.querySelectorAll('*')].filter((element) => \
    ['IMG', 'IFRAME', 'OBJECT', 'EMBED', 'BASE', 'MARQUEE', 'VIDEO', 'AUDIO', 'ANIMATE', 'MATH', 'TEMPLATE'].includes(element.nodeName.toUpperCase()) || \
    [...element.attributes].some((one) => /^on/i.test(one.name) || /^\\s*(javascript|vbscript):/i.test(one.value))); \
    return (window.ran === undefined ? '' : 'ran ') + found.map((element) => element.outerHTML).join(' '); })()";

/// What is printed of a text, in a page too: what would control a terminal is replaced.
pub fn printed(text: &str) -> String {
    text.replace(|one: char| one.is_control() && one != '\n', "\u{fffd}")
}
