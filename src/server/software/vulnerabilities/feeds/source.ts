// Reads files of feeds: over HTTP from a mirror or from their publishers, or in a directory.
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { hours } from "../../../platform/core/clock.ts";
import type { Services } from "../../../platform/core/context.ts";
import { fetchVendor, OutboundError } from "../../../platform/core/outbound/fetch.ts";
import { FeedError } from "./errors.ts";
import type { Feed } from "./list.ts";

/** The setting's value for the feeds at their publishers. */
const PUBLISHERS = "publishers";

const TIMEOUT_MS = hours(1);
const META_MAX = 4096;
export const FILE_MAX = 4 * 1024 * 1024 * 1024;

export interface FeedVersion {
  readonly etag: string;
  readonly last_modified: string;
}

export type ReadResult = { readonly status: "missing" | "unchanged" } | ({ readonly status: "read" } & FeedVersion);

/** A feed's file on this machine. */
export interface LocalFile {
  readonly path: string;
  /** Size in bytes. */
  readonly total: number;
}

export interface FeedSource {
  /** Reads the feed's file unless it is the known one. What `receive` throws is thrown as it is. */
  read(
    feed: Feed,
    previous: FeedVersion,
    signal: AbortSignal,
    receive: (file: LocalFile) => Promise<void>,
  ): Promise<ReadResult>;
  /** The file beside a feed that has its digest; null: there is none. */
  meta(feed: Feed, signal: AbortSignal): Promise<string | null>;
}

/** Null if no place of feeds is set. */
export function feedSource(services: Pick<Services, "settings" | "running" | "dryRun">): FeedSource | null {
  const { vulnerability_data_url: url } = services.settings;
  if (url === undefined) return null;
  if (url === PUBLISHERS) return webSource(services, ({ publisher }) => publisher);
  if (!/^https?:\/\//i.test(url)) return folderSource(url.startsWith("file:") ? fileURLToPath(url) : url);
  const base = url.replace(/\/+$/, "");
  return webSource(services, ({ path }) => `${base}/${path}`);
}

const metaPath = (path: string): string => path.replace(/\.json\.gz$/, ".meta");

function webSource(services: Pick<Services, "running" | "dryRun">, urlOf: (feed: Feed) => string): FeedSource {
  const explained = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw error instanceof OutboundError ? new FeedError(error.message) : error;
    }
  };
  return {
    async read(feed, { etag, last_modified }, signal, receive) {
      const headers = {
        accept: feed.kind === "msrc" ? "application/json" : "*/*",
        ...(etag === "" ? {} : { "if-none-match": etag }),
        ...(last_modified === "" ? {} : { "if-modified-since": last_modified }),
      };
      return inFolder(async (path) => {
        const { status, headers: replied } = await explained(
          fetchVendor(services, urlOf(feed), {
            timeout: TIMEOUT_MS,
            maxBytes: FILE_MAX,
            headers,
            signal,
            receive: (content) => pipeline(content, createWriteStream(path)),
          }),
        );
        if (status === 304) return { status: "unchanged" };
        if (status === 404 || status === 410) return { status: "missing" };
        if (status !== 200) throw new FeedError(`the server answered with status ${status}`);
        await receive({ path, total: (await stat(path)).size });
        return {
          status: "read",
          etag: replied.get("etag") ?? "",
          last_modified: replied.get("last-modified") ?? "",
        };
      });
    },
    async meta(feed, signal) {
      const url = metaPath(urlOf(feed));
      const { status, body } = await explained(
        fetchVendor(services, url, { timeout: 30_000, maxBytes: META_MAX, signal }),
      );
      if (status === 404 || status === 410) return null;
      if (status !== 200) throw new FeedError(`the server answered with status ${status} for its .meta file`);
      return body.toString("latin1");
    },
  };
}

/** Gives the work the path of a file that may be written, and is removed afterwards. */
async function inFolder<T>(work: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "svc-feed-"));
  try {
    return await work(join(folder, "feed"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function folderSource(folder: string): FeedSource {
  const placeOf = (path: string) => join(folder, ...path.split("/").map(decodeURIComponent));
  const sizeOf = async (path: string) => {
    try {
      const info = await stat(path);
      // Reading a pipe would wait for ever.
      if (!info.isFile()) throw new FeedError(`${path} is no file`);
      return info;
    } catch (error) {
      if (error instanceof FeedError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw new FeedError(`${path} cannot be read: ${code}`);
    }
  };
  return {
    async read({ path }, previous, _signal, receive) {
      const file = placeOf(path);
      const info = await sizeOf(file);
      if (info === null) return { status: "missing" };
      if (info.size > FILE_MAX) throw new FeedError(`${file} is larger than ${FILE_MAX} bytes`);
      const etag = `${info.size}-${Math.floor(info.mtimeMs)}`;
      if (etag === previous.etag) return { status: "unchanged" };
      await receive({ path: file, total: info.size });
      return { status: "read", etag, last_modified: "" };
    },
    async meta({ path }) {
      const file = metaPath(placeOf(path));
      const info = await sizeOf(file);
      if (info === null) return null;
      if (info.size > META_MAX) throw new FeedError(`${file} is larger than ${META_MAX} bytes`);
      const parts: Buffer[] = [];
      for await (const part of createReadStream(file)) parts.push(part as Buffer);
      return Buffer.concat(parts).toString("latin1");
    },
  };
}
