// What a page is: what it gets of a request, and what it answers.
import type { Context, Viewer } from "../core/context.ts";
import type { CookieJar } from "./cookies.ts";
import type { Html } from "./html.ts";

export interface Visit {
  readonly ctx: Context;
  readonly jar: CookieJar;
  readonly url: URL;
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What was posted; empty for a GET. */
  readonly form: URLSearchParams;
  /** The token of the session; null for who is not signed in. */
  readonly session: string | null;
  /** Whose session a token is. */
  whose(token: string): Promise<Viewer | null>;
  /** The hidden field that each form needs. */
  csrf(): Html;
  /** Sends a cookie with the answer. */
  sendCookie(cookie: string): void;
}

export interface Shown {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  readonly shape?: "wide" | "narrow";
  readonly script?: boolean;
  readonly moveTo?: string;
  readonly retryAfter?: number;
}

/** A page, the path to go to instead (303), or a whole response. */
export type Answer = Shown | { readonly to: string } | Response;

export interface Page {
  readonly method: "GET" | "POST";
  /** As the router has it, with `:name` for what varies. */
  readonly path: string;
  /** `user`: signed in; `reset`: also while a new password is asked for; `open`: anybody. */
  readonly access: "user" | "reset" | "open";
  /** The part of the console that it belongs to. */
  readonly part?: string;
  readonly answer: (visit: Visit) => Promise<Answer>;
}
