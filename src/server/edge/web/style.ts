/**
 * The only stylesheet. All colours have a contrast of at least 4.5 on every background (WCAG 2.2, 1.4.3), in both
 * colour schemes.
 */
export const style = `
:root {
  color-scheme: light dark;
  --bg: #f6f7f9; --card: #ffffff; --ink: #1b2230; --soft: #545d6e; --line: #d9dee6; --edge: #7b8496;
  --link: #1a56b8; --accent: #1d5fc9; --on-accent: #ffffff; --hover: #eef2f9;
  --good: #1c7a45; --good-bg: #e4f4ea; --bad: #b3261e; --bad-bg: #fcebe9; --note: #7a5200; --note-bg: #fdf3dc;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #11151c; --card: #1a202a; --ink: #e7ebf2; --soft: #a8b1c1; --line: #323b4a; --edge: #7d8799;
    --link: #8cb8ff; --accent: #3369cc; --on-accent: #ffffff; --hover: #232b38;
    --good: #6fd39a; --good-bg: #14301f; --bad: #ff9c93; --bad-bg: #3a1a18; --note: #f0c56b; --note-bg: #342810;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 1rem 0 .5rem; }
p { margin: 0 0 .9rem; }
code, .mono { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
@media (prefers-color-scheme: dark) { :focus-visible { outline-color: var(--link); } }
.skip { position: absolute; left: -999rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
.skip:focus { left: .5rem; }
.quiet { color: var(--soft); }
.small { font-size: .9rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.top { background: var(--card); border-bottom: 1px solid var(--line); }
.top > div { max-width: 72rem; margin: 0 auto; padding: .5rem 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 650; color: var(--ink); text-decoration: none; padding: .3rem 0; overflow-wrap: anywhere; }
.brand img { max-height: 1.9rem; max-width: 8rem; }
.top nav { flex: 1 1 auto; }
.top ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem; margin: 0; padding: 0; }
.top nav a { display: block; padding: .35rem .7rem; border-radius: .4rem; color: var(--ink); text-decoration: none; }
.top nav a:hover { background: var(--hover); }
.top nav a[aria-current] { background: var(--hover); font-weight: 600; box-shadow: inset 0 -2px var(--accent); }
.who { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: 0; }
.who a { padding: .35rem 0; overflow-wrap: anywhere; }
.who a[aria-current] { font-weight: 600; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
main:focus { outline: none; }
.narrow { max-width: 27rem; padding-top: 8vh; }
.narrow .brand { justify-content: center; margin-bottom: 1rem; font-size: 1.1rem; }
footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem 2rem; color: var(--soft); font-size: .9rem; }
footer ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0; }
.narrow + footer ul { justify-content: center; }

.card > :last-child { margin-bottom: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .7rem; padding: 1.1rem 1.25rem; margin: 0 0 1.25rem; min-width: 0; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1.25rem; align-items: start; }
.grid .card { margin: 0; }
.grid { margin-bottom: 1.25rem; }
.stack { display: grid; gap: 1.25rem; min-width: 0; }
.head { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .25rem 1rem; }
.message { border-radius: .5rem; padding: .7rem 1rem; margin: 0 0 1rem; border: 1px solid currentColor; overflow-wrap: anywhere; }
.message p:last-child { margin: 0; }
.message.bad { color: var(--bad); background: var(--bad-bg); }
.message.good { color: var(--good); background: var(--good-bg); }
.message.note { color: var(--note); background: var(--note-bg); }
.message code { color: inherit; }

label, .label { display: block; font-weight: 600; font-size: .93rem; margin: 0 0 .25rem; }
.field { margin: 0 0 .9rem; }
.hint { color: var(--soft); font-size: .88rem; margin: .25rem 0 0; }
.wrong { color: var(--bad); font-size: .92rem; margin: .25rem 0 0; }
input, select { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: .4rem; padding: .5rem .6rem; width: 100%; min-height: 2.6rem; max-width: 100%; }
input[aria-invalid="true"] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
button, .button { font: inherit; font-weight: 600; display: inline-block; cursor: pointer; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); border-radius: .4rem; padding: .5rem 1rem; min-height: 2.6rem; text-decoration: none; text-align: center; }
button:hover, .button:hover { filter: brightness(.92); }
button.plain, .button.plain { background: transparent; color: var(--ink); border-color: var(--edge); }
button.plain:hover, .button.plain:hover { background: var(--hover); filter: none; }
button.danger { background: transparent; color: var(--bad); border-color: var(--bad); }
button.danger:hover { background: var(--bad-bg); filter: none; }
button.little { padding: .2rem .6rem; min-height: 2rem; font-size: .9rem; }
.narrow button, .narrow .button { width: 100%; }
form + p, dl + p { margin-top: .9rem; }
.narrow .or { text-align: center; color: var(--soft); margin: .9rem 0; }
.idp { display: flex; align-items: center; justify-content: center; gap: .6rem; }
img.icon { width: 1.5rem; height: 1.5rem; vertical-align: middle; margin-right: .35rem; }
.idp img { max-height: 1.4rem; max-width: 6rem; }
form.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: start; }
@media (min-width: 36rem) { form.row > button { margin-top: 1.7rem; } }
form.row .field { flex: 1 1 10rem; margin: 0; min-width: 0; }
form.row .field.wide { flex-basis: 18rem; }
form.row.short .field { flex: 0 1 20rem; }

.scroll { overflow-x: auto; position: relative; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--soft); padding: 0 0 .5rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); overflow-wrap: break-word; }
table.loose tbody th { overflow-wrap: anywhere; }
thead th { border-top: 0; font-size: .88rem; color: var(--soft); white-space: nowrap; }
thead th a { color: inherit; text-decoration: none; }
thead th a:hover, thead th a:focus-visible { text-decoration: underline; }
thead th[aria-sort] a { color: var(--ink); }
tbody th { font-weight: 600; }
td.number, th.number { text-align: right; padding-right: 1.25rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.number:last-child, th.number:last-child { padding-right: .25rem; }
td.act { text-align: right; padding-right: 0; white-space: nowrap; }
table.hosts { min-width: 46rem; }
.badge { display: inline-block; border-radius: 1rem; padding: .05rem .6rem; font-size: .88rem; font-weight: 600; border: 1px solid currentColor; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-bg); }
.badge.bad { color: var(--bad); background: var(--bad-bg); }
.badge.off { color: var(--soft); background: transparent; }
.badge.note { color: var(--note); background: var(--note-bg); }
dl.facts { display: grid; grid-template-columns: minmax(7rem, 11rem) 1fr; gap: .4rem 1rem; margin: 0; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) { dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin: 0 0 .6rem; } }
.pages { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 1rem 0 0; }
.feed { list-style: none; margin: 0; padding: 0; }
.feed li { border-top: 1px solid var(--line); padding: .6rem 0; overflow-wrap: anywhere; }
.feed li:first-child { border-top: 0; padding-top: 0; }
.feed time { color: var(--soft); font-size: .88rem; display: block; }
.token { display: block; background: var(--hover); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem; margin: 0 0 .75rem; user-select: all; }
.status { display: grid; grid-template-columns: auto 1fr; gap: 1rem 1.5rem; align-items: center; }
@media (max-width: 30rem) { .status { grid-template-columns: 1fr; } }
.status > svg { width: 9rem; height: 9rem; max-width: 100%; }
.status > svg text { fill: var(--ink); font-size: 9px; font-weight: 700; text-anchor: middle; }
.status > svg .unit { fill: var(--soft); font-size: 4px; font-weight: 400; }
.ring { fill: none; stroke-width: 5; }
.ring.back { stroke: var(--line); }
.ring.online { stroke: #2a9d5c; }
.ring.offline { stroke: #b58417; }
.ring.missing { stroke: #c8453c; }
.key { display: inline-block; width: .8rem; height: .8rem; vertical-align: -.05rem; margin-right: .5rem; }
.key .online { fill: #2a9d5c; } .key .offline { fill: #b58417; } .key .missing { fill: #c8453c; }
.bar { display: block; width: 100%; height: .6rem; min-width: 4rem; }
.bar .all { fill: var(--line); } .bar .part { fill: var(--accent); }
td.barcell { width: 40%; vertical-align: middle; }
@media (forced-colors: active) { .ring.online, .ring.offline, .ring.missing { forced-color-adjust: none; } }
@media (prefers-reduced-motion: no-preference) { button, .button, .top nav a { transition: background-color .12s; } }
`.trimStart();
