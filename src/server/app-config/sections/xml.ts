import { SaxesParser } from "saxes";

/** As sign-in reads documents later (sso/xml.ts); here only whether it could. */
const MAX_DEPTH = 64;
const MAX_PARTS = 50_000;

/** Why the text is no XML document of the kind that is taken here, without reading what it says; null when it is one. */
export function xmlProblem(text: string): string | null {
  let depth = 0;
  let parts = 0;
  let problem: string | null = null;
  const parser = new SaxesParser({ xmlns: true });
  const stop = (reason: string) => {
    problem ??= reason;
    // Nothing after the first fault matters, and it may be long.
    throw new Stopped();
  };
  parser.on("doctype", () => stop("must not hold a DOCTYPE"));
  const counted = () => {
    if (++parts > MAX_PARTS) stop(`must not have more than ${MAX_PARTS} elements and attributes`);
  };
  parser.on("attribute", counted);
  parser.on("opentag", ({ isSelfClosing }) => {
    counted();
    if (isSelfClosing) return;
    depth++;
    if (depth > MAX_DEPTH) stop(`is nested more than ${MAX_DEPTH} deep`);
  });
  parser.on("closetag", ({ isSelfClosing }) => {
    if (!isSelfClosing) depth--;
  });
  parser.on("error", () => stop("is not well-formed XML"));
  try {
    parser.write(text).close();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return problem;
}

class Stopped extends Error {}
