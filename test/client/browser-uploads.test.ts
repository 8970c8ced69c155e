// Large files of the client for browsers: uploaded in pieces over connections that break.
import { createHash, randomBytes } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BrowserClient } from "../../src/client/browser-client.ts";
import { FileGone, uploadFile } from "../../src/client/browser-uploads.ts";
import { startApp, type TestApp } from "../support/app.ts";

const MiB = 1024 * 1024;
const content = randomBytes(5 * MiB);

describe("an upload from a browser", () => {
  let t: TestApp;
  let client: BrowserClient;
  /** What happens instead of a request: a reply, or none. */
  let refuse: (method: string, bytes: number) => Response | Error | null;
  let sent: { method: string; bytes: number; offset: string | null }[];
  /** The number of bytes after each step. */
  let seen: number[];
  let modified = Date.parse("2026-01-01T00:00:00.000Z");

  beforeAll(async () => {
    t = await startApp({ shared: true });
    const send: typeof fetch = async (url, init = {}) => {
      const headers = new Headers(init.headers);
      const method = init.method ?? "GET";
      const bytes = init.body instanceof Blob ? init.body.size : 0;
      sent.push({ method, bytes, offset: headers.get("upload-offset") });
      const instead = refuse(method, bytes);
      if (instead instanceof Error) throw instead;
      if (instead !== null) return instead;
      headers.set("authorization", `Bearer ${t.token}`);
      return t.raw(String(url), { ...init, headers });
    };
    client = new BrowserClient({ formToken: () => "", fetch: send });
    return () => t.close();
  });
  beforeEach(() => {
    sent = [];
    seen = [];
    refuse = () => null;
    modified += 1_000;
  });

  const file = (bytes: Uint8Array<ArrayBuffer> = content, name = "tool.pkg") =>
    new File([bytes], name, { lastModified: modified });
  const options = () => ({
    sleep: async () => {},
    onProgress: ({ received }: { received: number }) => seen.push(received),
  });
  it("arrives whole, in several pieces, with its progress", async () => {
    const { id } = await uploadFile(client, file(), options());
    expect(await t.store.uploads.get(id)).toMatchObject({
      name: "tool.pkg",
      received: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
    });
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(content.length);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it("goes on after lost connections and busy servers, from where it was", async () => {
    let count = 0;
    refuse = (method) => {
      if (method !== "PATCH") return null;
      count++;
      if (count === 2) return new TypeError("Failed to fetch");
      return count === 3 ? new Response("{}", { status: 503 }) : null;
    };
    const { id } = await uploadFile(client, file(), options());
    expect(await t.store.uploads.get(id)).toMatchObject({ received: content.length });
    const pieces = sent.filter(({ method }) => method === "PATCH");
    expect(pieces[2]!.offset).toBe(pieces[1]!.offset);
  });

  it("is sent in smaller pieces through a proxy that refuses large ones", async () => {
    refuse = (method, bytes) => (method === "PATCH" && bytes > 700_000 ? new Response("", { status: 413 }) : null);
    const { id } = await uploadFile(client, file(), options());
    expect(await t.store.uploads.get(id)).toMatchObject({ received: content.length });
  });

  it("gives up in the end, and is continued when the file is chosen again", async () => {
    refuse = (method) => (method === "PATCH" && sent.length > 3 ? new TypeError("Failed to fetch") : null);
    await expect(uploadFile(client, file(), options())).rejects.toThrow("does not respond");
    const received = seen.at(-1)!;
    expect(received).toBeGreaterThan(0);
    refuse = () => null;
    sent = [];
    await uploadFile(client, file(), options());
    expect(sent.find(({ method }) => method === "PATCH")!.offset).toBe(String(received));
  });

  it("does not repeat what the server refuses", async () => {
    refuse = (method) => (method === "PATCH" ? new Response('{"message":"No","errors":[]}', { status: 422 }) : null);
    await expect(uploadFile(client, file(), options())).rejects.toThrow("No");
    expect(sent.filter(({ method }) => method === "PATCH")).toHaveLength(1);
  });

  it("ends when it is stopped", async () => {
    const stop = new AbortController();
    refuse = (method) => {
      if (method === "PATCH") stop.abort(new Error("stopped"));
      return null;
    };
    await expect(uploadFile(client, file(), { ...options(), signal: stop.signal })).rejects.toThrow("stopped");
    expect(sent.filter(({ method }) => method === "PATCH")).toHaveLength(1);
  });

  it("says that the file is gone", async () => {
    const gone = file();
    gone.slice = () => {
      const piece = new Blob(["x"]);
      piece.arrayBuffer = () => Promise.reject(new DOMException("gone", "NotReadableError"));
      return piece;
    };
    const upload = uploadFile(client, gone, options());
    await expect(upload).rejects.toThrow(FileGone);
    await expect(upload).rejects.toThrow("Choose it again");
  });
});
