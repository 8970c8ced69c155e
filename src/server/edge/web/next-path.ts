const PLACE = "http://here.invalid";
const NEXT_MAX = 2048;

/**
 * The path to open after signing in. Anything but a path of this server becomes the start page, to prevent open
 * redirects.
 */
export function nextPath(given: string | null | undefined): string {
  if (!given || given.length > NEXT_MAX || !given.startsWith("/")) return "/";
  // Browsers treat a backslash as a slash and drop tabs and line ends, so /\evil.example and /<tab>/evil.example are
  // other sites.
  if (/[\\\p{Cc}]/u.test(given) || given.startsWith("//")) return "/";
  if (!URL.canParse(given, PLACE)) return "/";
  const url = new URL(given, PLACE);
  if (url.origin !== PLACE || url.pathname.startsWith("//")) return "/";
  if (/^\/(login|logout)(\/|$)/.test(url.pathname)) return "/";
  return url.pathname + url.search + url.hash;
}
