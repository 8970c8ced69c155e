// Handles the unread body of a request whose reply is sent early: 401, 404, 413 and the like.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * How much of the body is still read, and for how long, so that the client receives the reply instead of a connection
 * reset.
 */
const LINGER_BYTES = 16 * 1024 * 1024;
const LINGER_MS = 5_000;

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Closes the connection if a reply is sent before its request was read completely. The reply has `Connection: close`;
 * further data is read and dropped for a while, and then the socket is closed. Otherwise the unread stream would
 * block the socket until the request times out, or the server would have to read the whole body.
 */
export function closeWhenUnread(req: IncomingMessage, res: ServerResponse): void {
  if (!hasBody(req)) return;
  const { socket } = req;
  const writeHead = res.writeHead;
  res.writeHead = ((...head: Parameters<typeof writeHead>) => {
    if (!req.complete && !res.headersSent) {
      res.shouldKeepAlive = false;
      // Node calls this after the last reply of a connection is written.
      socket.destroySoon = () => linger(socket);
    }
    return Reflect.apply(writeHead, res, head);
  }) as typeof writeHead;
}

function linger(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("end", () => socket.destroy());
  socket.once("error", () => socket.destroy());
  socket.once("close", () => clearTimeout(late));
  socket.end();
  if (socket.readableFlowing) drop(socket);
  else {
    // Node's own listener resumes reading; it is removed with the first data listener.
    socket.once("resume", () => drop(socket));
    socket.resume();
  }
}

function drop(socket: Socket): void {
  let left = LINGER_BYTES;
  // Bypass the HTTP parser, which would pause the socket because no one reads the body.
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
}
