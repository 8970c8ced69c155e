import type { Server } from "node:http";

const replies: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

/**
 * Replies to requests that reach no handler because they are not valid HTTP or time out. Node's own reply has an
 * empty body, which an agent takes for success; this one has the keys of the API and the `error` that agents check
 * for.
 */
export function answerBadRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy();
    const [status, message] = replies[error.code ?? ""] ?? [400, "Bad Request"];
    const body = JSON.stringify({ message, errors: [{ name: "base", reason: message }], error: message });
    socket.end(
      `HTTP/1.1 ${status} ${message}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}
