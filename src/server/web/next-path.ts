const PLACE = "http://here.invalid";
const NEXT_MAX = 2048;

/** Where to go after signing in: a path of this server, else the start page. An open redirect would lend our name to other sites. */
export function nextPath(given: string | null | undefined): string {
  if (!given || given.length > NEXT_MAX || !given.startsWith("/")) return "/";
  // Browsers read a backslash as a slash, and drop tabs and line ends: /\evil.example and /<tab>/evil.example are other sites.
  if (/[\\\p{Cc}]/u.test(given) || given.startsWith("//")) return "/";
  if (!URL.canParse(given, PLACE)) return "/";
  const url = new URL(given, PLACE);
  if (url.origin !== PLACE || url.pathname.startsWith("//")) return "/";
  if (/^\/(login|logout)(\/|$)/.test(url.pathname)) return "/";
  return url.pathname + url.search + url.hash;
}
