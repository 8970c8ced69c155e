// The encodings of messages over the websocket: plain, or in SockJS frames.

export interface Framing {
  readonly opening: string | null;
  readonly heartbeat: string | null;
  closing(code: number, reason: string): string | null;
  frame(message: string): string;
  /** Extracts the messages from received text. */
  read(text: string): string[];
}

export const plain: Framing = {
  opening: null,
  heartbeat: null,
  closing: () => null,
  frame: (message) => message,
  read: (text) => [text],
};

/** SockJS protocol 0.3.3, section "Protocol and framing". */
export const sockJs: Framing = {
  opening: "o",
  heartbeat: "h",
  closing: (code, reason) => `c${JSON.stringify([code, reason])}`,
  frame: (message) => `a${JSON.stringify([message])}`,
  read(text) {
    if (text === "") return [];
    try {
      const value: unknown = JSON.parse(text);
      return (Array.isArray(value) ? value : [value]).map((frame) => (typeof frame === "string" ? frame : ""));
    } catch {
      // Invalid frames are rejected like unknown messages.
      return [""];
    }
  },
};

interface ClientMessage {
  readonly type: unknown;
  readonly data: Readonly<Record<string, unknown>>;
}

export function readClientMessage(text: string): ClientMessage {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "type" in value) {
      const data = "data" in value && typeof value.data === "object" && value.data !== null ? value.data : {};
      return { type: value.type, data: data as Record<string, unknown> };
    }
  } catch {
    // Handled as an unknown message.
  }
  return { type: null, data: {} };
}
