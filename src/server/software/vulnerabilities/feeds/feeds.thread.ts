// The thread in which feeds are read. The import (import.ts) takes one part of a reference file after the other; until it
// asks for the next one, nothing more is read.
import { handedOver, serveThread } from "../../../platform/core/concurrency/thread-side.ts";
import { type FeedFile, type FeedSummary, readFeed } from "./read-feed.ts";

export interface FeedPart {
  /** The next bytes of the reference file; null: that was all. */
  readonly bytes: Uint8Array | null;
  /** How much of the feed's file was read so far, in bytes. */
  readonly read: number;
  readonly summary: FeedSummary | null;
}

let parts: ReturnType<typeof readFeed> | null = null;
let read = 0;

const methods = {
  /** Begins a feed, and gives up the one before. */
  async open(feed: FeedFile): Promise<void> {
    await parts?.return({ records: 0, digest: "", error: "" });
    read = 0;
    parts = readFeed(feed, (bytes) => {
      read += bytes;
    });
  },
  async next(): Promise<FeedPart> {
    if (parts === null) throw new Error("no feed is open");
    const { done, value } = await parts.next();
    return done ? { bytes: null, read, summary: value } : { bytes: value, read, summary: null };
  },
};

export type FeedThread = typeof methods;

serveThread({
  methods,
  transfers: (result) => {
    const bytes = (result as FeedPart | undefined)?.bytes;
    return bytes ? handedOver(bytes) : [];
  },
});
