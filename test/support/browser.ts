// A real browser with the real app: Debian's Chromium through playwright-core, and a socket for the app.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { Browser } from "playwright-core";
import type { TestApp } from "./app.ts";
import { skipWithout } from "./tools.ts";

const names = ["chromium", "chromium-browser", "google-chrome"];

const onPath = (): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));

/**
 * The browser's file: from SVC_TEST_CHROMIUM, otherwise on PATH, otherwise installed if CI runs as root. Null if there
 * is none; CI fails then.
 */
export function findChromium(): string | null {
  const named = process.env.SVC_TEST_CHROMIUM;
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`SVC_TEST_CHROMIUM names ${named}, which does not exist`);
  }
  const found = onPath();
  if (found !== undefined) return found;
  if (process.env.CI === "true" && process.getuid?.() === 0) {
    process.stderr.write("no Chromium here: installing it with apt-get\n");
    spawnSync("apt-get", ["install", "-y", "-qq", "chromium"], {
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 300_000,
    });
  }
  const last = onPath() ?? null;
  skipWithout(last === null ? ["Chromium"] : [], "apt-get install chromium, or name it by SVC_TEST_CHROMIUM");
  return last;
}

export async function launch(executablePath: string): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

export interface ServedApp {
  readonly url: string;
  close(): Promise<void>;
}

/** The app behind a socket of 127.0.0.1. */
export async function serve(app: Pick<TestApp, "raw">): Promise<ServedApp> {
  const server: Server = createServer(async (req, res) => {
    try {
      const headers = new Headers();
      for (let i = 0; i < req.rawHeaders.length; i += 2) headers.append(req.rawHeaders[i]!, req.rawHeaders[i + 1]!);
      const { "content-length": length = "0", "transfer-encoding": chunked } = req.headers;
      const bodyless = length === "0" && chunked === undefined;
      const init = { method: req.method!, headers, ...(bodyless ? {} : { body: Readable.toWeb(req), duplex: "half" }) };
      const reply = await app.raw(req.url!, init as RequestInit);
      res.writeHead(reply.status, [...reply.headers].flat());
      if (reply.body === null) return void res.end();
      // Streams are passed on while they arrive, and end when the browser no longer reads them.
      const body = Readable.fromWeb(reply.body as WebStream);
      res.on("close", () => body.destroy());
      body.on("error", () => res.destroy());
      body.pipe(res);
    } catch (error) {
      res.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
