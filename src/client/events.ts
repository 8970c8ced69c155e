// Parses server-sent events as they arrive (WHATWG HTML, 9.2); only the fields that the server sends.

export interface ServerEvent {
  /** Empty if the event has no id. */
  readonly id: string;
  /** `message` if the server names no other. */
  readonly event: string;
  readonly data: string;
}

/** The server sends no event larger than this. */
const EVENT_MAX = 64 * 1024 * 1024;

export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder();
  let text = "";
  let from = 0;
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > EVENT_MAX) throw new Error("the server sent an event that is too large");
    for (let end = text.indexOf("\n\n", from); end >= 0; end = text.indexOf("\n\n")) {
      const read = readEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (read) yield read;
    }
    // The next search starts here, so that a large event is not searched again with every chunk.
    from = Math.max(0, text.length - 1);
  }
}

function readEvent(block: string): ServerEvent | null {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    // A comment only keeps the connection alive.
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  if (fields.data === undefined) return null;
  return { id: fields.id ?? "", event: fields.event ?? "message", data: fields.data };
}
