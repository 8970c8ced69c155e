// The page that posts the answer to the access product. The only script of this server that is part of a page: its digest
// is in the header, so that no other runs.
import { createHash } from "node:crypto";
import { escapeXml } from "../../../xml/xml.ts";

const SCRIPT = "document.forms[0].submit()";
const DIGEST = createHash("sha256").update(SCRIPT).digest("base64");

interface PostedResponse {
  readonly acs: string;
  readonly response: string;
  readonly relayState: string | null;
}

export function postingPage({ acs, response, relayState }: PostedResponse): {
  html: string;
  headers: Record<string, string>;
} {
  const field = (name: string, value: string) => `<input type="hidden" name="${name}" value="${escapeXml(value)}">`;
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Signing in</title></head><body>' +
    `<form method="post" action="${escapeXml(acs)}">${field("SAMLResponse", response)}` +
    `${relayState === null ? "" : field("RelayState", relayState)}` +
    `<noscript><p>Your device passes the checks of your organization.</p><button>Continue</button></noscript></form>` +
    `<script>${SCRIPT}</script></body></html>\n`;
  const { protocol, origin } = new URL(acs);
  const headers = {
    "content-security-policy": [
      "default-src 'none'",
      `script-src 'sha256-${DIGEST}'`,
      // The access product redirects to the service, and browsers compare that address too.
      `form-action https:${protocol === "https:" ? "" : ` ${origin}`}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  return { html, headers };
}
