import { describe, expect, it } from "vitest";
import { ApiError } from "../../../src/server/platform/core/errors.ts";
import { readBytes } from "../../../src/server/platform/core/http/body.ts";
import { BodyRoom, type Cut, type Sender } from "../../../src/server/platform/core/http/body-room.ts";

const MiB = 1024 * 1024;
const stranger = (name: string): Sender => ({ trust: "stranger", name });
const proved = (name: string): Sender => ({ trust: "proved", name });

function uploads() {
  const room = new BodyRoom();
  const begin = (sender: Sender) => {
    const cuts: Cut[] = [];
    return Object.assign(
      room.claim(sender, (why) => cuts.push(why)),
      { cuts },
    );
  };
  return { room, begin };
}

describe("memory for bodies", () => {
  it("is available for senders with a key, however much unknown senders upload", () => {
    const { begin } = uploads();
    for (let i = 0; i < 100; i++) begin(stranger(`203.0.113.${i}`)).add(7 * MiB);
    const host = begin(proved("host 1"));
    expect(host.add(100 * MiB)).toBe(true);
    expect(host.cuts).toEqual([]);
  });

  it("is available for an unknown sender, however much another one uploads", () => {
    const { room, begin } = uploads();
    for (let i = 0; i < 100; i++) begin(stranger("203.0.113.1")).add(1 * MiB);
    expect(room.taken("stranger")).toBe(12 * MiB);
    expect(begin(stranger("203.0.113.2")).add(1 * MiB)).toBe(true);
  });

  it("is freed by aborting the largest unfinished upload of the same kind", () => {
    const { begin } = uploads();
    const large = begin(proved("host 1"));
    const larger = begin(proved("host 2"));
    expect([large.add(90 * MiB), larger.add(110 * MiB)]).toEqual([true, true]);
    const small = begin(proved("host 3"));
    expect(small.add(10 * MiB)).toBe(true);
    expect([large.cuts, larger.cuts, small.cuts]).toEqual([[], ["no room"], []]);
    expect(larger.add(1)).toBe(false);
  });

  it("is not taken from a complete body", () => {
    const { begin } = uploads();
    const one = begin(proved("host 1"));
    const other = begin(proved("host 2"));
    for (const upload of [one, other]) {
      upload.add(100 * MiB);
      upload.received();
    }
    const third = begin(proved("host 3"));
    expect(third.add(20 * MiB)).toBe(false);
    one.release();
    expect(begin(proved("host 3")).add(20 * MiB)).toBe(true);
    expect([one.cuts, other.cuts]).toEqual([[], []]);
  });

  it("moves to the share of a sender who becomes known in the meantime", () => {
    const { room, begin } = uploads();
    const upload = begin(stranger("203.0.113.1"));
    upload.add(7 * MiB);
    upload.prove(proved("host 1"));
    expect([room.taken("stranger"), room.taken("proved")]).toEqual([0, 7 * MiB]);
    expect(upload.add(50 * MiB)).toBe(true);
    upload.release();
    upload.release();
    expect(room.taken("proved")).toBe(0);
  });

  it("is larger for addresses from which a host's key was received", () => {
    const { room } = uploads();
    expect(room.byAddress("2001:db8::1")).toEqual({ trust: "stranger", name: "2001:db8:0:0" });
    room.meet("2001:db8::2");
    expect(room.byAddress("2001:db8::1").trust).toBe("familiar");
  });

  it("is not given to slow uploads", () => {
    const { room, begin } = uploads();
    const [slow, steady, done] = [begin(stranger("a")), begin(stranger("b")), begin(stranger("c"))];
    done.add(100);
    done.received();
    const start = performance.now();
    for (let second = 1; second <= 30; second++) {
      slow.add(500);
      steady.add(2_000);
      room.sweep(start + second * 1_000);
    }
    expect([slow.cuts, steady.cuts, done.cuts]).toEqual([["too slow"], [], []]);
  });
});

describe("a body of an API request", () => {
  const statusOf = (reading: Promise<unknown>): Promise<number> =>
    reading.then(
      () => 200,
      (error: unknown) => (error instanceof ApiError ? error.status : 0),
    );

  it("is refused with 503 if its sender's share is full, and releases its memory", async () => {
    const { room, begin } = uploads();
    const other = begin(stranger("a"));
    other.add(12 * MiB - 10);
    const bytes = async function* () {
      yield Buffer.alloc(8);
      yield Buffer.alloc(8);
    };
    const from = { room, sender: stranger("a") };
    expect(await statusOf(readBytes(bytes(), null, 100, from))).toBe(503);
    other.release();
    expect(await statusOf(readBytes(bytes(), null, 100, from))).toBe(200);
    expect(await statusOf(readBytes(bytes(), null, 10, from))).toBe(413);
    expect(room.taken("stranger")).toBe(0);
  });

  it("is refused with 408 if its sender has stopped sending", async () => {
    const { room } = uploads();
    const stuck: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    };
    const reading = statusOf(readBytes(stuck, null, 100, { room, sender: stranger("a") }));
    room.sweep(performance.now() + 11_000);
    expect(await reading).toBe(408);
  });
});
