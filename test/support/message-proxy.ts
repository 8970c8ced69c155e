// A proxy in front of a server that shows each request to a test before it is passed on, and each reply before it is.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fetch } from "undici";

export interface MessageProxy {
  readonly url: string;
  /** What happens to a message; `dropped` closes the connection to its sender. */
  request: (body: Buffer) => "passed" | "dropped";
  reply: (request: Buffer, body: Buffer) => "passed" | "dropped";
  close(): void;
}

export async function startMessageProxy(target: () => string): Promise<MessageProxy> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const drop = () => void incoming.socket.destroy();
    if (proxy.request(body) === "dropped") return drop();
    try {
      const { host: _host, connection: _connection, ...headers } = incoming.headers as Record<string, string>;
      const hasBody = incoming.method !== "GET";
      const reply = await fetch(`${target()}${incoming.url}`, {
        method: incoming.method ?? "GET",
        headers: hasBody ? { ...headers, "content-length": String(body.length) } : headers,
        body: hasBody ? body : null,
      });
      const content = Buffer.from(await reply.arrayBuffer());
      if (proxy.reply(body, content) === "dropped") return drop();
      outgoing.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" });
      outgoing.end(content);
    } catch {
      drop();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: MessageProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    request: () => "passed",
    reply: () => "passed",
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return proxy;
}
