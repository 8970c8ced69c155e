// A proxy in front of a server on this machine whose connections break after some bytes.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  /** Called for each connection: how many bytes its client may send. */
  bytesUntilCut: () => number;
  /** Number of connections that were cut. */
  cuts: number;
  close(): void;
}

export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const proxy: CuttingProxy = {
    url: "",
    bytesUntilCut: () => Number.POSITIVE_INFINITY,
    cuts: 0,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let left = proxy.bytesUntilCut();
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    near.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) {
        proxy.cuts++;
        end();
      } else if (!far.write(chunk)) near.pause();
    });
    far.on("drain", () => near.resume());
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
