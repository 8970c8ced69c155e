// `npm run test:soak -- packages [--files 10000] [--seed N] [--engine lowdb|postgres]`: damaged and hostile installer
// files, uploaded to the built server: cut off, with wrong sizes, unpacking to far more than they are, and altered at
// random. No 5xx, no reply that takes long, bounded memory, and a sound package is still accepted and returned intact.
import { createHash } from "node:crypto";
import { FormData, fetch } from "undici";
import { forAll } from "../../bench/support/managed-agents.ts";
import { watchMemory } from "../../bench/support/memory.ts";
import { alteredPackages, hostilePackages, type NamedFile, soundPackages } from "../support/damaged-packages.ts";
import { type Api, signIn } from "./apple-devices.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf } from "./support/check.ts";

/** Fewer than the server accepts at the same time. */
const MAX_CONCURRENT = 8;
/** A reply that takes longer counts as one that never comes. */
const HANG_MS = 30_000;
const GROWTH_MAX = 256e6;
/** Accepted, not a package, and another package of the same title. */
const ALLOWED: ReadonlySet<number> = new Set([200, 409, 422]);
/** How often each hostile file is sent. */
const HOSTILE_ROUNDS = 10;

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const files = numberOf(args, "files", 10_000);
  const seed = numberOf(args, "seed", Date.now() % 2 ** 31);
  const engine = args.engine === "postgres" ? "postgres" : "lowdb";
  const bed = await Bed.make({ engine });
  try {
    const server = await bed.start();
    const api = await signIn(bed);
    const sound = await soundPackages();
    const uploads = new Uploads(bed.url, api);
    // What the server loads for its first packages does not count as growth.
    for (const file of sound) await uploads.send(file);
    const watch = watchMemory(server);
    const hostile = hostilePackages();
    await forAll(Array.from({ length: HOSTILE_ROUNDS }, () => hostile).flat(), MAX_CONCURRENT, async (file) => {
      const status = await uploads.send(file);
      insist(status === 422, `${file.name} was answered with ${status}`);
    });
    const afterHostile = watch.peak();
    await forAll(cuts(sound), MAX_CONCURRENT, async (file) => void (await uploads.send(file)));
    const altered = alteredPackages(sound, seed);
    await forAll(Array(files).fill(null), MAX_CONCURRENT, async () => {
      await uploads.send(altered.next().value as NamedFile);
    });
    const grown = watch.stop();
    await isIntact(bed.url, api, uploads, sound[0]!);
    const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
    insist(grown < GROWTH_MAX, `seed ${seed}: the memory has grown by ${mb(grown)} MB`);
    await bed.stop();
    await bed.dbCheck();
    return (
      `seed ${seed}: ${uploads.sent} files on ${engine} ${JSON.stringify(uploads.byStatus)}, slowest reply ` +
      `${(uploads.slowest / 1000).toFixed(1)} s; memory at most ${mb(grown)} MB more (${mb(afterHostile)} MB after the ` +
      `hostile ones; RSS ${mb(watch.before)} MB before)`
    );
  } finally {
    await bed.dispose();
  }
}

/** Each package, cut off at several places. */
const cuts = (sound: readonly NamedFile[]): NamedFile[] =>
  sound.flatMap(({ name, bytes }) =>
    [0, 1, 8, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99].map((cut) => ({
      name,
      bytes: bytes.subarray(0, Number.isInteger(cut) ? cut : Math.floor(bytes.length * cut)),
    })),
  );

class Uploads {
  readonly #url: string;
  readonly #headers: { readonly authorization: string };
  readonly #api: Api;
  readonly byStatus: Record<number, number> = {};
  sent = 0;
  /** Milliseconds. */
  slowest = 0;

  constructor(url: string, api: Api) {
    this.#url = url;
    this.#headers = { authorization: api.authorization };
    this.#api = api;
  }

  /** Returns the status. A package that was accepted is removed again, so that the next one is read as a new one. */
  async send({ name, bytes }: NamedFile, isKept = false): Promise<number> {
    const form = new FormData();
    // Read from a form without it, hosts could not install an .exe or a .tar.gz.
    form.set("install_script", "echo install");
    form.set("uninstall_script", "echo uninstall");
    form.set("software", new File([new Uint8Array(bytes)], name));
    const from = performance.now();
    const reply = await fetch(`${this.#url}/api/v1/svc/software/package`, {
      method: "POST",
      headers: this.#headers,
      body: form,
      signal: AbortSignal.timeout(HANG_MS),
    }).catch((cause: unknown) => {
      throw new Error(`${name} was not answered:\n${bytes.toString("base64").slice(0, 10_000)}`, { cause });
    });
    const text = await reply.text();
    this.slowest = Math.max(this.slowest, performance.now() - from);
    this.sent++;
    const { status } = reply;
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    insist(ALLOWED.has(status), () => `${name}: ${status} ${text.slice(0, 300)}\n${bytes.toString("base64")}`);
    if (status === 200 && !isKept) {
      const { title_id } = (JSON.parse(text) as { software_package: { title_id: number } }).software_package;
      await this.#api.call("DELETE", `/software/titles/${title_id}/available_for_install?team_id=0`);
    }
    return status;
  }
}

async function isIntact(url: string, api: Api, uploads: Uploads, file: NamedFile): Promise<void> {
  insist((await uploads.send(file, true)) === 200, "a sound package was refused");
  const { software_titles } = (await api.call("GET", "/software/titles?available_for_install=true&team_id=0")) as {
    software_titles: { id: number }[];
  };
  insist(software_titles.length === 1, `${software_titles.length} packages are offered`);
  const path = `/api/v1/svc/software/titles/${software_titles[0]!.id}/package?team_id=0&alt=media`;
  const reply = await fetch(`${url}${path}`, { headers: { authorization: api.authorization } });
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  insist(digest(new Uint8Array(await reply.arrayBuffer())) === digest(file.bytes), "the download differs");
}
