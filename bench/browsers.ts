// What open pages of the console cost a server that is busy with agents: the requests of pages in a real Chromium are
// recorded and repeated as often as there are browsers, at the rhythm of the page and in the session of its user.
// `npm run bench -- browsers [BROWSERS] [AGENTS] [lowdb|postgres]`
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { Agent, fetch } from "undici";
import { runSimulation } from "../src/simulator/run.ts";
import { findChromium, launch } from "../test/support/browser.ts";
import { enrollHosts, SECRET } from "./support/fill.ts";
import { makePlace } from "./support/place.ts";
import { type BenchServer, startServe } from "./support/serve.ts";

const LOOK_MS = 35_000;
const MEASURE_S = 60;
const PAGES = ["/hosts", "/", "/policies", "/software", "/hosts/1"];

interface Call {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** When the page had its reply, in milliseconds after the recording began. */
  readonly at: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const [browsers = 200, agents = 5000] = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
  const engine = args.includes("postgres") ? "postgres" : "lowdb";
  const chromium = findChromium();
  if (chromium === null) throw new Error("there is no Chromium here");
  const place = await makePlace(engine);
  const { data_dir: dataDir, database_url: databaseUrl } = place.settings;
  const server = await startServe({
    dataDir: String(dataDir),
    env: databaseUrl === undefined ? {} : { SVC_DATABASE_URL: String(databaseUrl) },
  });
  const stop = new AbortController();
  try {
    await enrollHosts(server, agents, { software: 100, prepared: true });
    const simulation = runSimulation(
      {
        serverUrl: server.url,
        enrollSecret: SECRET,
        hosts: agents,
        softwarePerHost: 100,
        duration: 3600,
      },
      stop.signal,
    );
    await pause(90_000);
    const browser = await launch(chromium);
    const recorded: Call[][] = [];
    for (const path of PAGES) recorded.push(await record(browser, server, path));
    await browser.close();
    for (const [i, calls] of recorded.entries())
      console.log(`${PAGES[i]}: ${calls.length} requests in ${LOOK_MS / 1000} s: ${summary(calls)}`);
    for (let round = 1; round <= 2; round++) {
      const without = await cpuWhile(server, async () => void (await pause(MEASURE_S * 1000)));
      const times: number[] = [];
      const end = new AbortController();
      const replays = Array.from({ length: browsers }, (_, n) =>
        replay(recorded[n % recorded.length]!, (n * LOOK_MS) / browsers, times, end.signal),
      );
      await pause(LOOK_MS);
      times.length = 0;
      const withBrowsers = await cpuWhile(server, async () => void (await pause(MEASURE_S * 1000)));
      end.abort();
      await Promise.all(replays);
      times.sort((a, b) => a - b);
      const percentile = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
      console.log(
        `${engine}, ${agents} agents, round ${round}: server ${percent(without)} of a core; with ${browsers} browsers ` +
          `${percent(withBrowsers)} (+${percent(withBrowsers - without)}); ${times.length} requests, ` +
          `p50 ${percentile(0.5)} ms, p95 ${percentile(0.95)} ms`,
      );
    }
    stop.abort();
    await simulation;
  } finally {
    stop.abort();
    await server.stop();
    await place.remove();
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** CPU of the server, as a share of a core. */
async function cpuWhile(server: BenchServer, wait: () => Promise<void>): Promise<number> {
  const before = server.usage().cpu;
  const began = performance.now();
  await wait();
  return (server.usage().cpu - before) / ((performance.now() - began) / 1000);
}

/** The requests to the API that an open page repeats, without those with which it opens. */
async function record(browser: Browser, server: BenchServer, path: string): Promise<Call[]> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.url}/login?next=${encodeURIComponent(path)}`);
  await page.getByLabel("Email").fill(server.email);
  await page.getByLabel("Password").fill(server.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(server.url + path);
  await pause(3_000);
  const began = performance.now();
  const calls: Call[] = [];
  page.on("response", async (response) => {
    const request = response.request();
    const at = performance.now() - began;
    if (!request.url().includes("/api/v1/") || at > LOOK_MS) return;
    calls.push({ url: request.url(), headers: plain(await request.allHeaders()), at });
  });
  await pause(LOOK_MS + 2_000);
  await context.close();
  // No more sign-ins than one address may have.
  await pause(7_000);
  return calls;
}

const plain = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(:|host$|connection$|accept-encoding$)/.test(name)));

const summary = (calls: readonly Call[]): string => {
  const counts = new Map<string, number>();
  for (const { url } of calls) {
    const { pathname } = new URL(url);
    counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
  }
  return [...counts].map(([path, count]) => `${path} ${count}`).join(", ");
};

/** One browser: sends the calls at their times, again and again, from its own connection. */
async function replay(calls: readonly Call[], offset: number, times: number[], signal: AbortSignal): Promise<void> {
  const dispatcher = new Agent({ connections: 2 });
  const sleep = (ms: number) => pause(ms, undefined, { signal }).catch(() => undefined);
  try {
    await sleep(offset);
    while (!signal.aborted) {
      const began = performance.now();
      for (const { url, headers, at } of calls) {
        await sleep(Math.max(0, at - (performance.now() - began)));
        if (signal.aborted) return;
        const start = performance.now();
        const reply = await fetch(url, { headers: { ...headers, "accept-encoding": "br" }, dispatcher });
        await reply.arrayBuffer();
        if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
        times.push(performance.now() - start);
      }
      await sleep(Math.max(0, LOOK_MS - (performance.now() - began)));
    }
  } finally {
    await dispatcher.close();
  }
}
