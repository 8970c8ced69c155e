import { FeedError } from "./errors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const ELEMENT_MAX = 32 * 1024 * 1024;
const DEPTH_MAX = 64;

/**
 * The objects in an array that is a member of the top-level object, while the bytes arrive: only one object is in
 * memory at a time. Everything outside of that array is skipped.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  member: string,
): AsyncGenerator<unknown, void, undefined> {
  const memberName = Buffer.from(member);
  let elementParts: Buffer[] = [];
  let elementBytes = 0;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  /** The text at depth 1 that was read last: the name of the member that follows. */
  let name: number[] = [];
  let isWanted = false;
  let wasFound = false;

  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (isText) {
        if (depth > 1) {
          // Most bytes are in texts: look for their ends instead of at each byte.
          if (!isEscaped && byte !== QUOTE && byte !== BACKSLASH) continue;
        } else if (byte !== QUOTE && name.length < 256) name.push(byte);
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
        continue;
      }
      if (byte === QUOTE) {
        isText = true;
        if (depth === 1) name = [];
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth++;
        if (depth > DEPTH_MAX) throw new FeedError("the JSON is nested too deeply");
        if (depth === 1 && byte === OPEN_BRACKET) throw new FeedError("the JSON is no object");
        if (depth === 2) isWanted = byte === OPEN_BRACKET && memberName.equals(Buffer.from(name));
        if (depth === 2 && isWanted) wasFound = true;
        if (depth === 3 && isWanted) from = at;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth--;
        if (depth < 0) throw new FeedError("the JSON has a bracket that closes nothing");
        if (depth === 2 && isWanted) {
          elementParts.push(chunk.subarray(from, at + 1));
          yield parsed(elementParts);
          elementParts = [];
          elementBytes = 0;
        }
      }
    }
    if (depth < 3 || !isWanted) continue;
    elementParts.push(chunk.subarray(from));
    elementBytes += chunk.length - from;
    if (elementBytes > ELEMENT_MAX) throw new FeedError("an entry is too large");
  }
  if (depth !== 0 || isText) throw new FeedError("the JSON ends too early");
  if (!wasFound) throw new FeedError(`the JSON has no list "${member}"`);
}

function parsed(parts: readonly Buffer[]): unknown {
  try {
    return JSON.parse((parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString("utf8"));
  } catch {
    throw new FeedError("an entry is not valid JSON");
  }
}
