const BASE_URL = "http://here.invalid";
const NEXT_MAX = 2048;

/**
 * The path to open after signing in. Anything but a path of this server becomes the start page, to prevent open
 * redirects.
 */
export function nextPath(next: string | null | undefined): string {
  if (!next || next.length > NEXT_MAX || !next.startsWith("/")) return "/";
  // Browsers treat a backslash as a slash and drop tabs and line ends, so /\evil.example and /<tab>/evil.example are
  // other sites.
  if (/[\\\p{Cc}]/u.test(next) || next.startsWith("//")) return "/";
  if (!URL.canParse(next, BASE_URL)) return "/";
  const url = new URL(next, BASE_URL);
  if (url.origin !== BASE_URL || url.pathname.startsWith("//")) return "/";
  if (/^\/(login|logout)(\/|$)/.test(url.pathname)) return "/";
  return url.pathname + url.search + url.hash;
}
