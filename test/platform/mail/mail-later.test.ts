import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { Services } from "../../../src/server/platform/core/context.ts";
import { mailError } from "../../../src/server/platform/core/errors.ts";
import { linkTo } from "../../../src/server/platform/core/http/links.ts";
import { later, mailIdle, mailQueue } from "../../../src/server/platform/mail/later.ts";
import { issueToken } from "../../../src/server/platform/mail/one-time.ts";
import { oneTimeCleanup } from "../../../src/server/platform/mail/one-time-job.ts";
import { startApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { runningOf } from "../../support/running.ts";

async function queue() {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = pino({ level: "trace" }, sink);
  const running = runningOf({});
  await running.start({ log } as Services, mailQueue);
  return { services: { running, dryRun: null }, lines };
}
const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

describe("mails that are sent after the reply", () => {
  it("start after the call, four at a time, in order, with a limited queue", async () => {
    const { services } = await queue();
    const { open, opened } = gate();
    const begun: number[] = [];
    const add = (i: number) =>
      later(services, async () => {
        begun.push(i);
        await opened;
      });
    for (let i = 0; i < 204; i++) add(i);
    expect(begun).toEqual([]);
    expect(() => add(204)).toThrow(expect.objectContaining({ status: 503 }));
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1, 2, 3]);
    open();
    await mailIdle(services);
    expect(begun).toEqual(Array.from({ length: 204 }, (_, i) => i));
    add(205);
    await mailIdle(services);
    expect(begun.length).toBe(205);
  });

  it("that fail are logged, and the others continue", async () => {
    const { services, lines } = await queue();
    let sent = 0;
    later(services, () => Promise.reject(mailError("relay:25 refused the recipient")));
    later(services, () => Promise.reject(new Error("a bug")));
    later(services, async () => void sent++);
    await mailIdle(services);
    expect(sent).toBe(1);
    const told = lines.map((line) => JSON.parse(line) as { level: number; reason?: string; err?: { message: string } });
    expect(told.map(({ level, reason, err }) => [level, reason ?? err?.message])).toEqual([
      [40, "relay:25 refused the recipient"],
      [50, "a bug"],
    ]);
  });

  it("are sent when the server stops, or aborted if they take too long; none follows", async () => {
    const { services } = await queue();
    let isSent = false;
    let isStopped = false;
    later(services, async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      isSent = true;
    });
    later(
      services,
      (signal) =>
        new Promise((_, fail) => {
          signal.addEventListener("abort", () => {
            isStopped = true;
            fail(mailError("stopped"));
          });
        }),
    );
    await services.running.stop();
    expect([isSent, isStopped]).toEqual([true, true]);
    expect(() => later(services, async () => {})).toThrow(expect.objectContaining({ status: 503 }));
  });
});

describe.each(rulesEngines)("mailed links on %s", (engine) => {
  it("that have expired are deleted by the clean-up, and no others", async () => {
    const t = await startApp({ engine });
    await issueToken(t.services, "mfa", 1, 60_000);
    await issueToken(t.services, "password_reset", 1, 3_600_000);
    t.clock.advance(60_001);
    await oneTimeCleanup.run(t.services, new AbortController().signal);
    expect((await t.store.oneTimeTokens.list()).map(({ kind }) => kind)).toEqual(["password_reset"]);
  });

  it("point to the server's address, whatever host name a request was sent to", async () => {
    const t = await startApp({ engine });
    expect(await linkTo(t.services, "/login/reset/x")).toBe("https://svc.example.com/login/reset/x");
    await t.patch("/config", { server_settings: { server_url: "https://other.example.com/" } });
    expect(await linkTo(t.services, "/a")).toBe("https://other.example.com/a");
  });
});
