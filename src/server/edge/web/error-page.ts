import { plural } from "../../../text/plural.ts";
import type { ApiError } from "../../platform/core/errors.ts";
import { html } from "./html.ts";
import type { PageContent } from "./page.ts";

const titles: Record<number, string> = {
  401: "Not signed in",
  402: "Needs a premium license",
  403: "Not allowed",
  404: "Not found",
  429: "Too many attempts",
  503: "Temporarily unavailable",
};

/** The reply to a link of a device's own page that is unknown or no longer valid. */
export const linkEndedPage = (): PageContent => ({
  title: "This link does not work",
  status: 401,
  shape: "narrow",
  body: html`<div class="card"><h1>This link does not work</h1>
<div class="message bad" role="alert"><p>It is not valid any more, or it was not copied completely.</p></div>
<p>Open the page again from the menu of the agent on your device, or ask the people who manage the device for a new link.</p></div>`,
});

interface ErrorPlace {
  readonly signedIn?: boolean;
  /** The id under which the server's log contains the failure. */
  readonly reference?: string;
  /** The path of the page with the form that failed. Null: there is none. */
  readonly back?: string | null;
}

export function errorPage(error: ApiError, { signedIn = false, reference, back = null }: ErrorPlace = {}): PageContent {
  const title = titles[error.status] ?? (error.status >= 500 ? "Something went wrong" : "The request failed");
  return {
    title,
    status: error.status,
    shape: signedIn ? "wide" : "narrow",
    ...(error.retryAfter === null ? {} : { retryAfter: error.retryAfter }),
    body: html`<div class="card"><h1>${title}</h1>
<div class="message bad" role="alert"><p>${errorSentence(error)}</p></div>
${error.status >= 500 && reference && html`<p class="small quiet">Reference: <code>${reference}</code></p>`}
<p>${back !== null && html`<a class="button" href="${back}">Back</a> `}<a href="/">To the start page</a></p></div>`,
  };
}

const inTime = (seconds: number): string =>
  seconds < 120 ? plural(seconds, "second") : plural(Math.ceil(seconds / 60), "minute");

/** The reasons of an error as one sentence. */
export function errorSentence(error: ApiError): string {
  if (error.status === 429 && error.retryAfter !== null)
    return `Too many attempts: try again in ${inTime(error.retryAfter)}.`;
  const reasons = error.errors.map(({ reason }) => reason).filter((reason) => reason !== "");
  const text = reasons.length === 0 || reasons.join() === error.message ? error.message : reasons.join("; ");
  if (error.status === 403 && text === "Forbidden") return "Your role does not allow this.";
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
