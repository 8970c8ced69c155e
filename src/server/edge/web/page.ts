// The input and the result of a page.
import type { Purpose } from "../../../api/endpoint.ts";
import type { Context, Viewer } from "../../platform/core/context.ts";
import type { CookieJar } from "./cookies.ts";
import type { Html } from "./html.ts";

export interface Visit {
  readonly ctx: Context;
  readonly jar: CookieJar;
  readonly url: URL;
  /** The parameters in the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The posted form. Empty for a GET. */
  readonly form: URLSearchParams;
  /** The session token. Null if the viewer is not signed in. */
  readonly session: string | null;
  /** The viewer to whom a session token belongs. */
  whose(token: string): Promise<Viewer | null>;
  /** The token of the session, or of the browser without one, that every form and the console's requests need. */
  formToken(): string;
  /** The hidden field with it. */
  csrf(): Html;
  /** Sets a cookie with the reply. */
  sendCookie(cookie: string): void;
}

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  readonly shape?: "wide" | "narrow";
  readonly moveTo?: string;
  readonly retryAfter?: number;
}

/** A page, a path to redirect to (303), or a complete response. */
export type Answer = PageContent | { readonly to: string } | Response;

export interface Page {
  readonly method: "GET" | "POST";
  /** The route, with `:name` for parameters. */
  readonly path: string;
  /** `user`: signed-in users. `reset`: also users who must set a new password. `open`: anybody. */
  readonly access: "user" | "reset" | "open";
  /** The console section to which the page belongs. */
  readonly part?: string;
  /** For a POST: the route of the page with the form, which is the beginning of `path`. */
  readonly form?: string;
  /** For a POST that comes from mail programs, too, without cookies: the path alone has to prove that it may. */
  readonly isOneClick?: true;
  /** What visitors who have not signed in want with it: `other` unless the page names it. */
  readonly purpose?: Purpose;
  readonly answer: (visit: Visit) => Promise<Answer>;
}
